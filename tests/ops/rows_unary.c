/* rows_unary.c - gradcheck rows of unary.c. The fixed seed puts no value at a kink. */
#include "gradcheck_rows.h"

#define ONE(f) ROW(f##_row, hd_##f(x[0]))

ONE(exp)
ONE(log)
ONE(sqrt)
ONE(rsqrt)
ONE(tanh)
ONE(erf)
ONE(sigmoid)
ONE(sin)
ONE(cos)
ONE(log1p)
ONE(relu)
ONE(gelu)
ONE(gelu_tanh)
ONE(silu)
ONE(abs)

ROW(softplus_row, hd_softplus(x[0], 2, 1))
ROW(clamp_row, hd_clamp(x[0], -0.5, 1))
ROW(clamp_min_row, hd_clamp_min(x[0], -0.25))
ROW(clamp_max_row, hd_clamp_max(x[0], 0.5))

/* bounds that meet, or cross: the gradient is 0 */
ROW(clamp_crossed, hd_clamp(x[0], 1, 0))

static const gradcheck_row rows[] = {
    {"hd_exp", "", exp_row, 1, {"mn"}, {{"bmn"}, {""}}, -2, 2, 0},
    {"hd_log", "", log_row, 1, {"mn"}, {{0}}, 0.5, 3, 0},
    {"hd_sqrt", "", sqrt_row, 1, {"mn"}, {{0}}, 0.5, 3, 0},
    {"hd_rsqrt", "", rsqrt_row, 1, {"mn"}, {{0}}, 0.5, 3, 0},
    {"hd_tanh", "", tanh_row, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_erf", "", erf_row, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_sigmoid", "", sigmoid_row, 1, {"mn"}, {{"bhmn"}}, -4, 4, 0},
    {"hd_sin", "", sin_row, 1, {"mn"}, {{0}}, -4, 4, 0},
    {"hd_cos", "", cos_row, 1, {"mn"}, {{0}}, -4, 4, 0},
    {"hd_log1p", "", log1p_row, 1, {"mn"}, {{0}}, -0.75, 4, 0},
    {"hd_relu", "", relu_row, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_abs", "", abs_row, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_gelu", "", gelu_row, 1, {"mn"}, {{0}}, -3, 3, 0},
    {"hd_gelu_tanh", "", gelu_tanh_row, 1, {"mn"}, {{0}}, -3, 3, 0},
    {"hd_silu", "", silu_row, 1, {"mn"}, {{0}}, -4, 4, 0},
    {"hd_softplus", "beta 2, threshold 1", softplus_row, 1, {"mn"}, {{0}}, -3, 3, 0},
    {"hd_clamp", "", clamp_row, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_clamp", "lo > hi", clamp_crossed, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_clamp_min", "", clamp_min_row, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_clamp_max", "", clamp_max_row, 1, {"mn"}, {{0}}, -2, 2, 0},
};
GRADCHECK_ROWS(rows_unary, rows);
