/* rows_part.c - gradcheck rows of part.c. */
#include "gradcheck_rows.h"

/* Of a list: all parts but the second, each weighed differently; some get no gradient at all. */
static hd_tensor *weighed(hd_list *l)
{
    hd_tensor *y = NULL;
    for (int64_t i = 0; l && i < hd_list_len(l); i++) {
        hd_tensor *part = hd_sum(hd_mul_scalar(hd_list_get(l, i), (double)i + 1.5));
        if (i != 1) {
            y = y ? hd_add(y, part) : part;
        }
    }
    return y;
}

ROW(select, hd_select(x[0], 1, 2))
ROW(select_last, hd_select(hd_transpose(x[0], 0, 1), -1, -1))
ROW(slice, hd_slice(x[0], 1, 1, 3))
ROW(slice_to_end, hd_slice(x[0], -1, -2, HD_END))
ROW(slice_empty, hd_slice(x[0], 0, 2, 1))
ROW(slice_step, hd_slice_step(x[0], 0, 0, HD_END, 2))
ROW(slices_overlap, hd_mul(hd_slice(x[0], 0, 0, 3), hd_slice_step(x[0], 0, 1, 7, 1)))
ROW(narrow, hd_narrow(x[0], 1, -2, 2))
ROW(getitem, hd_getitem(x[0], HD_ALL, 1))
ROW(getitem_all, hd_getitem(x[0], HD_ALL, HD_ALL))
ROW(getitem_one, hd_getitem(x[0], -1, 0))
ROW(unbind, weighed(hd_unbind(x[0], 1)))
ROW(split, weighed(hd_split(x[0], 2, 0)))
ROW(split_last, weighed(hd_split(x[0], 3, -1)))
ROW(split_sizes, weighed(hd_split_sizes_n(x[0], 3, (int64_t[]){1, 0, 3}, 1)))
ROW(chunk, weighed(hd_chunk(x[0], 3, 0)))
ROW(chunk_more, weighed(hd_chunk(x[0], 9, 0)))

static const gradcheck_row rows[] = {
    {"hd_select", "", select, 1, {"m4n"}, {{0}}, -2, 2, 0},
    {"hd_select", "of a turned one", select_last, 1, {"m4n"}, {{"4n"}}, -2, 2, ROW_NO_ZERO},
    {"hd_slice", "", slice, 1, {"m4n"}, {{0}}, -2, 2, 0},
    {"hd_slice", "from the end", slice_to_end, 1, {"mn"}, {{"n"}}, -2, 2, 0},
    {"hd_slice", "empty", slice_empty, 1, {"mn"}, {{"n"}}, -2, 2, 0},
    {"hd_slice_step", "", slice_step, 1, {"mn"}, {{"n"}}, -2, 2, 0},
    {"hd_slice_step", "overlapping", slices_overlap, 1, {"4n"}, {{"4"}}, -2, 2, 0},
    {"hd_narrow", "", narrow, 1, {"m4n"}, {{"m4"}}, -2, 2, 0},
    {"hd_getitem", "", getitem, 1, {"m4n"}, {{"m4"}}, -2, 2, 0},
    {"hd_getitem", "whole", getitem_all, 1, {"mn"}, {{0}}, -2, 2, 0},
    {"hd_getitem", "two indices", getitem_one, 1, {"43n"}, {{"43"}}, -2, 2, 0},
    {"hd_unbind", "", unbind, 1, {"m4n"}, {{"m4"}}, -2, 2, 0},
    {"hd_split", "", split, 1, {"5n"}, {{"5"}, {"4n"}}, -2, 2, 0},
    {"hd_split", "the last dim", split_last, 1, {"m7"}, {{0}}, -2, 2, 0},
    {"hd_split_sizes", "", split_sizes, 1, {"m4n"}, {{0}}, -2, 2, 0},
    {"hd_chunk", "", chunk, 1, {"mn"}, {{"7n"}, {"6"}}, -2, 2, 0},
    {"hd_chunk", "more than there are", chunk_more, 1, {"4n"}, {{0}}, -2, 2, 0},
};
GRADCHECK_ROWS(rows_part, rows);
