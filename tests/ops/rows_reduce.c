/* rows_reduce.c - gradcheck rows of the reduce family. */
#include "gradcheck_rows.h"

ROW(sum, hd_sum(x[0]))
ROW(sum_first, hd_sum_dim(x[0], 0, false))
ROW(sum_last, hd_sum_dim(x[0], -1, true))
ROW(sum_outer, hd_sum_dims(x[0], false, 0, -1))
ROW(sum_every, hd_sum_dims_n(x[0], true, 0, NULL))
ROW(mean, hd_mean(x[0]))
ROW(mean_first, hd_mean_dim(x[0], 0, true))
ROW(mean_last, hd_mean_dim(x[0], -1, false))
ROW(mean_outer, hd_mean_dims(x[0], true, 0, -1))
ROW(mean_inner, hd_mean_dims(x[0], false, 1, 2))
ROW(var, hd_var(x[0], 1))
ROW(var_biased, hd_var(x[0], 0))
ROW(var_first, hd_var_dim(x[0], 0, 0, false))
ROW(var_last, hd_var_dim(x[0], -1, 1, true))
ROW(var_outer, hd_var_dims(x[0], 0, false, 0, -1))
ROW(var_inner, hd_var_dims(x[0], 1, true, 1, 2))
ROW(max, hd_max(x[0]))
ROW(min, hd_min(x[0]))
ROW(max_first, hd_max_dim(x[0], 0, true, NULL))
ROW(max_middle, hd_max_dim(x[0], 1, false, NULL))
ROW(max_last, hd_max_dim(x[0], -1, false, NULL))
ROW(min_first, hd_min_dim(x[0], 0, false, NULL))
ROW(min_middle, hd_min_dim(x[0], 1, true, NULL))
ROW(min_last, hd_min_dim(x[0], -1, true, NULL))

enum { EXTREME = ROW_NO_ZERO | ROW_DISTINCT };

static const gradcheck_row table[] = {
    {"hd_sum", "", sum, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_sum", "0-d", sum, 1, {""}, .lo = -2, .hi = 2},
    {"hd_sum_dim", "first", sum_first, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_sum_dim", "last, keepdim", sum_last, 1, {"bn"}, .lo = -2, .hi = 2},
    {"hd_sum_dim", "0-d", sum_last, 1, {""}, .lo = -2, .hi = 2},
    {"hd_sum_dims", "outer", sum_outer, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_sum_dims", "all, keepdim", sum_every, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_mean", "", mean, 1, {"bn"}, .lo = -2, .hi = 2},
    {"hd_mean_dim", "first, keepdim", mean_first, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_mean_dim", "last", mean_last, 1, {"bn"}, .lo = -2, .hi = 2},
    {"hd_mean_dims", "outer, keepdim", mean_outer, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_mean_dims", "inner", mean_inner, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_var", "", var, 1, {"bn"}, .lo = -2, .hi = 2, .flags = ROW_NO_ONE},
    {"hd_var", "biased", var_biased, 1, {"bn"}, .lo = -2, .hi = 2},
    {"hd_var_dim", "first, biased", var_first, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_var_dim", "last", var_last, 1, {"bn"}, .lo = -2, .hi = 2, .flags = ROW_NO_ONE},
    {"hd_var_dims", "outer, biased", var_outer, 1, {"bnd"}, .lo = -2, .hi = 2},
    {"hd_var_dims", "inner", var_inner, 1, {"bnd"}, .lo = -2, .hi = 2, .flags = ROW_NO_ONE},
    {"hd_max", "", max, 1, {"bn"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_min", "", min, 1, {"bn"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_max_dim", "first, keepdim", max_first, 1, {"bn"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_max_dim", "middle", max_middle, 1, {"bnd"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_max_dim", "last", max_last, 1, {"bn"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_max_dim", "0-d", max_last, 1, {""}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_min_dim", "first", min_first, 1, {"bn"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_min_dim", "middle, keepdim", min_middle, 1, {"bnd"}, .lo = -2, .hi = 2, .flags = EXTREME},
    {"hd_min_dim", "last, keepdim", min_last, 1, {"bn"}, .lo = -2, .hi = 2, .flags = EXTREME},
};
GRADCHECK_ROWS(rows_reduce, table);
