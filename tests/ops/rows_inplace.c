/* rows_inplace.c - gradcheck rows of inplace.c. */
#include "gradcheck_rows.h"

#define TWO(f) ROW(f##row, hd_##f(x[0], x[1]))

#define NUMBER(f, s) ROW(f##row, hd_##f(x[0], s))

TWO(add_)
TWO(sub_)
TWO(mul_)
TWO(div_)
TWO(copy_)
NUMBER(add_scalar_, 1.5)
NUMBER(sub_scalar_, 2)
NUMBER(mul_scalar_, -2.5)
NUMBER(div_scalar_, 4.5)
NUMBER(fill_, 3)

ROW(zero_row, hd_zero_(x[0]))

/* through a view: the base gets a new history */
static hd_tensor *mul_view(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *row = hd_select(x[0], 0, 1);
    return hd_mul_(row, x[1]) ? x[0] : NULL;
}

static hd_tensor *copy_to_view(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *rows = hd_transpose(hd_slice(x[0], 0, 1, 3), 0, 1);
    return hd_copy_(rows, x[1]) ? hd_mul(x[0], x[0]) : NULL;
}

/* a mask of x's shape, from the values of other numbers than x's */
static hd_tensor *mask_of(hd_tensor *x)
{
    return hd_gt_scalar(hd_detach(x), 1.25);
}

ROW(masked_fill_row, hd_masked_fill(x[0], mask_of(x[0]), -2))

/* x broadcasts to the mask */
static hd_tensor *masked_fill_spread(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *mask = hd_tril(hd_ones(HD_BOOL, 3, 4), 0);
    return hd_masked_fill(x[0], mask, -2);
}

ROW(masked_fill__row, hd_masked_fill_(x[0], mask_of(x[0]), 7))

/* (3, 4) on (b, h, 3, 4), as attention has it */
static hd_tensor *masked_fill__heads(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *mask = hd_triu(hd_ones(HD_BOOL, 3, 4), 1);
    return hd_masked_fill_(x[0], mask, 7);
}

static const gradcheck_row rows[] = {
    {"hd_add_", "", add_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"bmn", "m1"}}, -2, 2, ROW_INPLACE},
    {"hd_sub_", "", sub_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"mn", ""}}, -2, 2, ROW_INPLACE},
    {"hd_mul_", "", mul_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"bmn", "m1"}}, -2, 2, ROW_INPLACE},
    {"hd_mul_", "through a view", mul_view, 2, {"3n", "n"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_div_", "", div_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"bmn", "m1"}}, 0.5, 2, ROW_INPLACE},
    {"hd_add_scalar_", "", add_scalar_row, 1, {"mn"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_sub_scalar_", "", sub_scalar_row, 1, {"mn"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_mul_scalar_", "", mul_scalar_row, 1, {"mn"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_div_scalar_", "", div_scalar_row, 1, {"mn"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_fill_", "", fill_row, 1, {"mn"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_zero_", "", zero_row, 1, {"mn"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_copy_", "", copy_row, 2, {"mn", "mn"}, {{"mn", "n"}, {"bmn", "m1"}}, -2, 2, ROW_INPLACE},
    {"hd_copy_", "through a view", copy_to_view, 2, {"4n", "n2"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_masked_fill", "", masked_fill_row, 1, {"mn"}, {{0}}, 0.5, 2, 0},
    {"hd_masked_fill", "x broadcasts", masked_fill_spread, 1, {"b34"}, {{"4"}, {""}}, 0.5, 2, 0},
    {"hd_masked_fill_", "", masked_fill__row, 1, {"mn"}, {{0}}, 0.5, 2, ROW_INPLACE},
    {"hd_masked_fill_", "heads", masked_fill__heads, 1, {"bh34"}, {{0}}, 0.5, 2, ROW_INPLACE},
};
GRADCHECK_ROWS(rows_inplace, rows);
