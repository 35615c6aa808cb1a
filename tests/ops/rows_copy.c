/* rows_copy.c - gradcheck rows of copies.c. */
#include "gradcheck_rows.h"

ROW(clone, hd_mul(hd_clone(x[0]), x[0]))
ROW(contiguous, hd_mul(hd_contiguous(x[0]), x[0]))
ROW(contiguous_turned, hd_contiguous(hd_transpose(x[0], 0, 1)))
ROW(to_same, hd_to(x[0], hd_dtype_of(x[0])))
ROW(cat_first, hd_cat_n(2, x, 0))
ROW(cat_last, hd_cat_n(2, x, -1))
ROW(cat_self, hd_cat_n(3, ((hd_tensor *[]){x[0], x[1], x[0]}), 0))

/* an empty vector counts for nothing */
ROW(cat_empty, hd_cat_n(2, ((hd_tensor *[]){hd_slice(hd_flatten(x[1], 0, -1), 0, 0, 0), x[0]}), 1))
ROW(stack_first, hd_stack_n(2, x, 0))
ROW(stack_last, hd_stack_n(3, ((hd_tensor *[]){x[0], x[1], x[0]}), -1))
ROW(tril, hd_tril(x[0], 0))
ROW(tril_above, hd_tril(x[0], 1))
ROW(triu, hd_triu(x[0], 0))
ROW(triu_below, hd_triu(hd_transpose(x[0], -1, -2), -1))
ROW(setitem_row, hd_setitem(x[0], x[1], 1))
ROW(setitem_column, hd_setitem(x[0], x[1], HD_ALL, 1))
ROW(setitem_self, hd_setitem(x[0], hd_mul(x[1], hd_clone(hd_select(x[0], 0, 0))), 1))
ROW(setitem_scalar, hd_setitem_scalar(x[0], 3.5, 1, 0))

static const gradcheck_row rows[] = {
    {"hd_clone", "", clone, 1, {"bmn"}, {{"m"}, {""}}, -2, 2, 0},
    {"hd_contiguous", "", contiguous, 1, {"bmn"}, {{"m"}, {""}}, -2, 2, 0},
    {"hd_contiguous", "turned", contiguous_turned, 1, {"bmn"}, {{"mn"}}, -2, 2, 0},
    {"hd_to", "the same", to_same, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_cat", "", cat_first, 2, {"mn", "kn"}, {{"m", "k"}, {"bmn", "bmn"}}, -2, 2, 0},
    {"hd_cat", "the last dim", cat_last, 2, {"bmn", "bmk"}, {{"m", "k"}}, -2, 2, 0},
    {"hd_cat", "one of them twice", cat_self, 2, {"mn", "kn"}, {{0}}, -2, 2, 0},
    {"hd_cat", "an empty vector", cat_empty, 2, {"mn", "k"}, {{0}}, -2, 2, 0},
    {"hd_stack", "", stack_first, 2, {"mn", "mn"}, {{"m", "m"}, {"", ""}}, -2, 2, 0},
    {"hd_stack", "the last dim", stack_last, 2, {"mn", "mn"}, {{"m", "m"}, {"", ""}}, -2, 2, 0},
    {"hd_tril", "", tril, 1, {"mn"}, {{"bmn"}, {"bhmn"}}, -2, 2, 0},
    {"hd_tril", "above", tril_above, 1, {"bmn"}, {{"nm"}}, -2, 2, 0},
    {"hd_triu", "", triu, 1, {"mn"}, {{"bmn"}, {"nm"}}, -2, 2, 0},
    {"hd_triu", "below, turned", triu_below, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_setitem",
     "",
     setitem_row,
     2,
     {"4n", "n"},
     {{"4mn", "n"}, {"4n", "1"}, {"4", ""}},
     -2,
     2,
     ROW_INPLACE},
    {"hd_setitem",
     "a column",
     setitem_column,
     2,
     {"m4", "m"},
     {{"m4n", "n"}, {"m4", "11m"}},
     -2,
     2,
     ROW_INPLACE},
    {"hd_setitem", "of itself", setitem_self, 2, {"4n", "n"}, {{0}}, -2, 2, ROW_INPLACE},
    {"hd_setitem_scalar", "", setitem_scalar, 1, {"43"}, {{"43n"}}, -2, 2, ROW_INPLACE},
};
GRADCHECK_ROWS(rows_copy, rows);
