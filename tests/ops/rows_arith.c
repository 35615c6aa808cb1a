/* rows_arith.c - gradcheck rows of arith.c. */
#include "gradcheck_rows.h"

#define TWO(f) ROW(f##_row, hd_##f(x[0], x[1]))

#define SCALAR(f, name, s) ROW(name, hd_##f(x[0], s))

TWO(add)
TWO(sub)
TWO(mul)
TWO(div)
TWO(pow)
TWO(maximum)
TWO(minimum)
SCALAR(add_scalar, add_number, 1.5)
SCALAR(sub_scalar, sub_number, 2)
SCALAR(mul_scalar, mul_number, -2.5)
SCALAR(div_scalar, div_number, 4.5)
SCALAR(rsub_scalar, rsub_number, 1)
SCALAR(rdiv_scalar, rdiv_number, 3)
SCALAR(pow_scalar, pow_minus_two, -2)
SCALAR(pow_scalar, pow_minus_one, -1)
SCALAR(pow_scalar, pow_minus_half, -0.5)
SCALAR(pow_scalar, pow_zero, 0)
SCALAR(pow_scalar, pow_half, 0.5)
SCALAR(pow_scalar, pow_one, 1)
SCALAR(pow_scalar, pow_two, 2)
SCALAR(pow_scalar, pow_three, 3)
SCALAR(pow_scalar, pow_other, 2.3)

ROW(neg, hd_neg(x[0]))
ROW(square, hd_square(x[0]))

/* y = x x: both gradients reach one tensor */
ROW(mul_by_itself, hd_mul(x[0], x[0]))
ROW(mul_by_int, hd_mul(hd_arange(1, 5, 1), x[0]))

static hd_tensor *where(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *a = hd_detach(x[0]); /* any fixed pattern */
    return hd_where(hd_gt_scalar(a, 1.25), x[0], x[1]);
}

/* (m,) with (n, 1), a condition of the second's shape: both are broadcast */
ROW(where_spread, hd_where(hd_gt_scalar(hd_detach(x[1]), 1.25), x[0], x[1]))

static const gradcheck_row rows[] = {
    {"hd_add", "", add_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}}, -2, 2, 0},
    {"hd_sub", "", sub_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}}, -2, 2, 0},
    {"hd_mul", "", mul_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}}, -2, 2, 0},
    {"hd_mul", "by itself", mul_by_itself, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_mul", "by integers", mul_by_int, 1, {"m4"}, {{0}}, -2, 2, 0},
    {"hd_div", "", div_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}}, 0.5, 2, 0},
    {"hd_pow", "", pow_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}}, 0.5, 2, 0},
    {"hd_maximum",
     "",
     maximum_row,
     2,
     {"mn", "mn"},
     {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}},
     -1,
     1,
     ROW_DISTINCT},
    {"hd_minimum",
     "",
     minimum_row,
     2,
     {"mn", "mn"},
     {{"mn", "n"}, {"m1", "bmn"}, {"", "mn"}},
     -1,
     1,
     ROW_DISTINCT},
    {"hd_add_scalar", "", add_number, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_sub_scalar", "", sub_number, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_mul_scalar", "", mul_number, 1, {"mn"}, {{"bmn"}, {""}}, -2, 2, 0},
    {"hd_div_scalar", "", div_number, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_rsub_scalar", "", rsub_number, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_rdiv_scalar", "", rdiv_number, 1, {"mn"}, {{0}}, 0.5, 2, 0},
    {"hd_pow_scalar", "-2", pow_minus_two, 1, {"mn"}, {{0}}, 0.5, 2, 0},
    {"hd_pow_scalar", "-1", pow_minus_one, 1, {"mn"}, {{0}}, -2, -0.5, 0},
    {"hd_pow_scalar", "-0.5", pow_minus_half, 1, {"mn"}, {{0}}, 0.5, 2, 0},
    {"hd_pow_scalar", "0", pow_zero, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_pow_scalar", "0.5", pow_half, 1, {"mn"}, {{0}}, 0.5, 2, 0},
    {"hd_pow_scalar", "1", pow_one, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_pow_scalar", "2", pow_two, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_pow_scalar", "3", pow_three, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_pow_scalar", "2.3", pow_other, 1, {"mn"}, {{0}}, 0.5, 2, 0},
    {"hd_neg", "", neg, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_square", "", square, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_where", "", where, 2, {"mn", "mn"}, {{0}}, 0.5, 2, 0},
    {"hd_where", "broadcast", where_spread, 2, {"m", "n1"}, {{0}}, 0.5, 2, 0},
};
GRADCHECK_ROWS(rows_arith, rows);
