/* rows_view.c - gradcheck rows of view.c. */
#include "gradcheck_rows.h"

ROW(reshape, hd_reshape(x[0], hd_size(x[0], 1), hd_size(x[0], 2), hd_size(x[0], 0)))
ROW(reshape_turned, hd_reshape(hd_transpose(x[0], 0, 1), hd_numel(x[0])))

/* of a turned input, twice turned back: a view of what is not contiguous */
ROW(reshape_alias,
    hd_reshape(hd_transpose(x[0], 0, 2), hd_size(x[0], 2), 1, hd_size(x[0], 1), hd_size(x[0], 0)))
ROW(view, hd_view(hd_contiguous(x[0]), hd_numel(x[0])))
ROW(view_of_part, hd_view(hd_mul(hd_slice(hd_contiguous(x[0]), 0, 1, 3), x[1]), 2, -1, 1))
ROW(flatten, hd_flatten(x[0], 1, 2))
ROW(flatten_all, hd_flatten(x[0], 0, -1))
ROW(flatten_nothing, hd_flatten(x[0], 1, 1))
ROW(expand, hd_ndim(x[0]) == 2 ? hd_expand(x[0], -1, 4) : hd_expand(x[0], 3, -1))

/* with one new dim in front, or two */
ROW(expand_lead, hd_ndim(x[0]) == 2 ? hd_expand(x[0], 3, -1, -1) : hd_expand(x[0], 2, 4, 3))
ROW(squeeze, hd_squeeze(x[0], 1))
ROW(squeeze_no, hd_squeeze(x[0], -1))
ROW(squeeze_all, hd_squeeze_all(x[0]))
ROW(unsqueeze, hd_unsqueeze(x[0], 1))
ROW(unsqueeze_last, hd_unsqueeze(x[0], -1))
ROW(transpose, hd_mul(hd_transpose(x[0], 0, 2), hd_transpose(x[0], -1, 0)))
ROW(turned, hd_t(x[0]))
ROW(permute, hd_permute(x[0], 2, 0, 1))
ROW(permute_negative, hd_permute(x[0], -2, 0, 3, -3))

static const gradcheck_row rows[] = {
    {"hd_view", "", view, 1, {"bmn"}, {{"m"}, {""}}, -2, 2, 0},
    {"hd_view", "of a slice", view_of_part, 2, {"3mn", "mn"}, {{0}}, -2, 2, ROW_NO_ZERO},
    {"hd_reshape", "", reshape, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_reshape", "copies", reshape_turned, 1, {"bmn"}, {{"mn"}}, -2, 2, 0},
    {"hd_reshape", "views", reshape_alias, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_flatten", "", flatten, 1, {"bmnk"}, {{"bmn"}}, -2, 2, 0},
    {"hd_flatten", "all", flatten_all, 1, {"bmn"}, {{"m"}, {""}}, -2, 2, 0},
    {"hd_flatten", "nothing to do", flatten_nothing, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_expand", "", expand, 1, {"m1"}, {{"m4"}, {"14"}, {"4"}}, -2, 2, 0},
    {"hd_expand", "leading dims", expand_lead, 1, {"mn"}, {{"1n"}, {"3"}, {""}}, -2, 2, 0},
    {"hd_squeeze", "", squeeze, 1, {"m1n"}, {{0}}, -2, 2, 0},
    {"hd_squeeze", "not of size 1", squeeze_no, 1, {"1mn"}, {{""}}, -2, 2, 0},
    {"hd_squeeze_all", "", squeeze_all, 1, {"1m1n1"}, {{"mn"}, {"111"}, {""}}, -2, 2, 0},
    {"hd_unsqueeze", "", unsqueeze, 1, {"mn"}, {{"m"}}, -2, 2, 0},
    {"hd_unsqueeze", "behind the last", unsqueeze_last, 1, {"mn"}, {{"m"}, {""}}, -2, 2, 0},
    {"hd_transpose", "", transpose, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_t", "", turned, 1, {"mn"}, {{"m"}, {""}}, -2, 2, 0},
    {"hd_permute", "", permute, 1, {"bmn"}, {{0}}, -2, 2, 0},
    {"hd_permute", "negative dims", permute_negative, 1, {"bmnk"}, {{0}}, -2, 2, 0},
};
GRADCHECK_ROWS(rows_view, rows);
