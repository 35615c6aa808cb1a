/* rows_softmax.c - gradcheck rows of the softmax family. */
#include "gradcheck_rows.h"

ROW(softmax_last, hd_softmax(x[0], -1))
ROW(softmax_first, hd_softmax(x[0], 0))
ROW(softmax_middle, hd_softmax(x[0], 1))
ROW(log_softmax_last, hd_log_softmax(x[0], -1))
ROW(log_softmax_first, hd_log_softmax(x[0], 0))
ROW(log_softmax_middle, hd_log_softmax(x[0], -2))
ROW(logsumexp_last, hd_logsumexp_dim(x[0], -1, false))
ROW(logsumexp_first, hd_logsumexp_dim(x[0], 0, true))
ROW(logsumexp_outer, hd_logsumexp_dims(x[0], false, 0, -1))
ROW(logsumexp_inner, hd_logsumexp_dims(x[0], true, 1, 2))
ROW(cumsum_last, hd_cumsum(x[0], -1))
ROW(cumsum_first, hd_cumsum(x[0], 0))
ROW(cumsum_middle, hd_cumsum(x[0], 1))

static const gradcheck_row table[] = {
    {"hd_softmax", "last", softmax_last, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_softmax", "first", softmax_first, 1, {"bn"}, .lo = -3, .hi = 3},
    {"hd_softmax", "middle", softmax_middle, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_softmax", "0-d", softmax_last, 1, {""}, .lo = -3, .hi = 3},
    {"hd_log_softmax", "last", log_softmax_last, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_log_softmax", "first", log_softmax_first, 1, {"bn"}, .lo = -3, .hi = 3},
    {"hd_log_softmax", "middle", log_softmax_middle, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_logsumexp_dim", "last", logsumexp_last, 1, {"bn"}, .lo = -3, .hi = 3},
    {"hd_logsumexp_dim", "first, keepdim", logsumexp_first, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_logsumexp_dims", "outer", logsumexp_outer, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_logsumexp_dims", "inner, keepdim", logsumexp_inner, 1, {"bnd"}, .lo = -3, .hi = 3},
    {"hd_cumsum", "last", cumsum_last, 1, {"bn"}, .lo = -2, .hi = 2},
    {"hd_cumsum", "first", cumsum_first, 1, {"bn"}, .lo = -2, .hi = 2},
    {"hd_cumsum", "middle", cumsum_middle, 1, {"bnd"}, .lo = -2, .hi = 2},
};
GRADCHECK_ROWS(rows_softmax, table);
