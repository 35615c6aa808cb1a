/* rows_random.c - gradcheck rows of random.c. The generator is reseeded before each call, so that
 * draws stay put; float32 and float64 draw alike only where the Bernoulli stream decides. */
#include "gradcheck_rows.h"

ROW(bernoulli, hd_bernoulli(x[0]))
ROW(dropout, hd_dropout(x[0], 0.25, true))
ROW(dropout_all, hd_dropout(x[0], 1, true))
ROW(dropout_evaluation, hd_mul_scalar(hd_dropout(x[0], 0.25, false), 2))
ROW(uniform_, hd_uniform_(x[0], -1, 1))
ROW(normal_, hd_normal_(x[0], 0, 1))
ROW(bernoulli_, hd_bernoulli_(x[0], 0.5))
ROW(exponential_, hd_exponential_(x[0], 2))

static const gradcheck_row rows[] = {
    {"hd_bernoulli", "", bernoulli, 1, {"mn"}, {{""}}, 0.2, 0.8, ROW_NO_F32},
    {"hd_dropout", "", dropout, 1, {"mn"}, {{"bmn"}, {""}}, -1, 1, 0},
    {"hd_dropout", "p = 1", dropout_all, 1, {"mn"}, {{0}}, -1, 1, 0},
    {"hd_dropout", "evaluation", dropout_evaluation, 1, {"mn"}, {{0}}, -1, 1, 0},
    {"hd_uniform_", "", uniform_, 1, {"mn"}, {{0}}, -1, 1, ROW_INPLACE | ROW_NO_F32},
    {"hd_normal_", "", normal_, 1, {"mn"}, {{0}}, -1, 1, ROW_INPLACE | ROW_NO_F32},
    {"hd_bernoulli_", "", bernoulli_, 1, {"mn"}, {{0}}, -1, 1, ROW_INPLACE},
    {"hd_exponential_", "", exponential_, 1, {"mn"}, {{0}}, -1, 1, ROW_INPLACE | ROW_NO_F32},
};
GRADCHECK_ROWS(rows_random, rows);
