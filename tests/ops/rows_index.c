/* rows_index.c - gradcheck rows of index.c and topk.c. Indices are made to fit x, size 0 too. */
#include "gradcheck_rows.h"

/* 0, n - 1, 0 of a dim of size n; nothing of an empty one */
static hd_tensor *ends(const hd_tensor *x, int dim)
{
    int64_t last = hd_size(x, dim) - 1, at[] = {0, last, 0};
    return hd_from_data(HD_INT64, at, last < 0 ? 0 : 3);
}

ROW(index_select_0, hd_index_select(x[0], 0, ends(x[0], 0)))
ROW(index_select_last, hd_index_select(x[0], -1, ends(x[0], -1)))

/* each line's elements backwards, and the first one once more */
static hd_tensor *gather_along(hd_tensor *x, int dim)
{
    int64_t sizes[HD_MAX_DIMS], len = hd_size(x, dim), shape[] = {len ? len + 1 : 0, 1};
    hd_tensor *at = hd_arange(0, len ? len + 1 : 0, 1);
    at = hd_to(hd_clamp(hd_sub_scalar(hd_neg(at), 1 - len), 0, len), HD_INT64);
    for (int d = 0; d < hd_ndim(x); d++) {
        sizes[d] = hd_size(x, d);
    }
    sizes[dim] = shape[0];
    return hd_gather(x, dim, hd_expand_n(dim ? at : hd_view_n(at, 2, shape), hd_ndim(x), sizes));
}

ROW(gather_0, gather_along(x[0], 0))
ROW(gather_1, gather_along(x[0], 1))
ROW(gather_one, hd_gather(x[0], 0, hd_scalar_tensor(HD_INT64, 0)))
ROW(embedding, hd_embedding(hd_unsqueeze(ends(x[0], 0), 0), x[0], -1))

/* two of the rows are the padding's: its gradient is 0, so it must not count in y either */
static hd_tensor *embedding_padded(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    hd_tensor *y = hd_embedding(ends(x[0], 0), x[0], 0);
    return hd_slice(y, 0, 1, 2);
}

static hd_tensor *topk_along(hd_tensor *x, int dim, bool largest)
{
    int64_t n = hd_size(x, dim);
    return hd_topk(x, n < 2 ? n : 2, dim, largest, NULL);
}

ROW(topk_0, topk_along(x[0], 0, true))
ROW(topk_last, topk_along(x[0], -1, false))
ROW(topk_one, hd_topk(x[0], 1, 0, true, NULL))

static const gradcheck_row rows[] = {
    {"hd_index_select", "dim 0", index_select_0, 1, {"mn"}, {{"n"}, {"bmn"}}, -1, 1, 0},
    {"hd_index_select", "last dim", index_select_last, 1, {"mn"}, {{"n"}, {"bmn"}}, -1, 1, 0},
    {"hd_gather", "dim 0", gather_0, 1, {"mn"}, {{0}}, -1, 1, 0},
    {"hd_gather", "dim 1", gather_1, 1, {"mn"}, {{0}}, -1, 1, 0},
    {"hd_gather", "0-d", gather_one, 1, {""}, {{"4"}}, -1, 1, 0},
    {"hd_embedding", "", embedding, 1, {"nd"}, {{0}}, -1, 1, 0},
    {"hd_embedding",
     "padding_idx",
     embedding_padded,
     1,
     {"nd"},
     {{0}},
     -1,
     1,
     ROW_NO_ONE | ROW_NO_ZERO},
    {"hd_topk", "dim 0", topk_0, 1, {"mn"}, {{"n"}, {"bmn"}}, -1, 1, ROW_DISTINCT},
    {"hd_topk", "smallest", topk_last, 1, {"mn"}, {{"n"}, {"bmn"}}, -1, 1, ROW_DISTINCT},
    {"hd_topk", "0-d", topk_one, 1, {""}, {{0}}, -1, 1, ROW_DISTINCT},
};
GRADCHECK_ROWS(rows_index, rows);
