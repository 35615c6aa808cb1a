/* rows_matmul.c - gradcheck rows of matmul.c and linear.c. */
#include "gradcheck_rows.h"

ROW(dot, hd_dot(x[0], x[1]))
ROW(matmul, hd_matmul(x[0], x[1]))

static hd_tensor *linear(hd_tensor *const *x, int n, void *user)
{
    (void)user;
    return hd_linear(x[0], x[1], n == 3 ? x[2] : HD_NONE);
}

static const gradcheck_row rows[] = {
    {"hd_dot", "", dot, 2, {"k", "k"}, {{0}}, -1, 1, 0},
    {"hd_matmul", "1-d 1-d", matmul, 2, {"n", "n"}, {{0}}, -1, 1, 0},
    {"hd_matmul", "2-d 1-d", matmul, 2, {"mk", "k"}, {{0}}, -1, 1, 0},
    {"hd_matmul", "1-d 2-d", matmul, 2, {"k", "kn"}, {{0}}, -1, 1, 0},
    {"hd_matmul",
     "2-d 2-d",
     matmul,
     2,
     {"mk", "kn"},
     {{"1k", "kn"}, {"mk", "k1"}, {"m1", "1n"}},
     -1,
     1,
     0},
    {"hd_matmul", "batch 1-d", matmul, 2, {"bmk", "k"}, {{"bcmk", "k"}}, -1, 1, 0},
    {"hd_matmul", "1-d batch", matmul, 2, {"k", "bkn"}, {{"k", "bckn"}}, -1, 1, 0},
    {"hd_matmul",
     "batch",
     matmul,
     2,
     {"bmk", "bkn"},
     {{"1mk", "bkn"}, {"bmk", "1kn"}, {"bcmk", "ckn"}},
     -1,
     1,
     0},
    {"hd_matmul", "batch 2-d", matmul, 2, {"bmk", "kn"}, {{"bcmk", "kn"}}, -1, 1, 0},
    {"hd_matmul",
     "2-d batch",
     matmul,
     2,
     {"mk", "bkn"},
     {{"mk", "bckn"}, {"1mk", "bckn"}},
     -1,
     1,
     0},
    {"hd_matmul",
     "two batches",
     matmul,
     2,
     {"b1mk", "1ckn"},
     {{"b1mk", "bckn"}, {"bcmk", "b1kn"}},
     -1,
     1,
     0},
    {"hd_linear", "1-d", linear, 3, {"k", "nk", "n"}, {{0}}, -1, 1, 0},
    {"hd_linear", "2-d", linear, 3, {"mk", "nk", "n"}, {{"1k", "nk", "n"}}, -1, 1, 0},
    {"hd_linear", "3-d", linear, 3, {"bmk", "nk", "n"}, {{"b1k", "nk", "n"}}, -1, 1, 0},
    {"hd_linear", "4-d", linear, 3, {"bcmk", "nk", "n"}, {{0}}, -1, 1, 0},
    {"hd_linear", "no bias", linear, 2, {"bmk", "nk"}, {{"mk", "nk"}, {"k", "nk"}}, -1, 1, 0},
};
GRADCHECK_ROWS(rows_matmul, rows);
