/* rows_loss.c - gradcheck rows of the losses and of layer_norm. */
#include "gradcheck_rows.h"

ROW(mse, hd_mse_loss(x[0], x[1]))
ROW(mse_sum, hd_mse_loss_with(x[0], x[1], HD_SUM))
ROW(mse_none, hd_mse_loss_with(x[0], x[1], HD_REDUCE_NONE))

/* Targets for logits x, some of them ignored: every class comes, in turn. */
static hd_tensor *targets(const hd_tensor *x)
{
    int64_t sizes[HD_MAX_DIMS], c = hd_size(x, hd_ndim(x) > 1);
    int n = 0;
    for (int d = 0; d < hd_ndim(x); d++) {
        if (d != (hd_ndim(x) > 1)) {
            sizes[n++] = hd_size(x, d);
        }
    }
    hd_tensor *t = hd_empty_n(HD_INT64, n, sizes);
    int64_t *v = t ? hd_data_mut(t) : NULL;
    for (int64_t i = 0; i < hd_numel(t); i++) {
        v[i] = i % 4 == 3 ? -100 : i % c;
    }
    return t;
}

static hd_tensor *entropy(hd_tensor *x, hd_reduction r)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.reduction = r;
    return hd_cross_entropy_with(x, targets(x), &o);
}

ROW(cross_entropy, hd_cross_entropy(x[0], targets(x[0])))
ROW(cross_entropy_mean, entropy(x[0], HD_MEAN))
ROW(cross_entropy_sum, entropy(x[0], HD_SUM))
ROW(cross_entropy_none, entropy(x[0], HD_REDUCE_NONE))

/* eps is large so that rows of few elements are as smooth as long ones */
static hd_tensor *norm(hd_tensor *x, int dims, hd_tensor *weight, hd_tensor *bias)
{
    return hd_layer_norm_n(x, dims, hd_sizes(x) + hd_ndim(x) - dims, weight, bias, 0.25);
}

ROW(layer_norm, norm(x[0], 1, x[1], x[2]))
ROW(layer_norm_two, norm(x[0], 2, x[1], x[2]))
ROW(layer_norm_plain, norm(x[0], 1, HD_NONE, HD_NONE))
ROW(layer_norm_weight, norm(x[0], 1, x[1], HD_NONE))
ROW(layer_norm_bias, norm(x[0], 1, HD_NONE, x[1]))

static const gradcheck_row table[] = {
    {"hd_mse_loss", "", mse, 2, {"bn", "bn"}, {{"bn", "n"}, {"n", "bn"}}, -2, 2, 0},
    {"hd_mse_loss_with", "sum", mse_sum, 2, {"bn", "bn"}, {{"bn", ""}}, -2, 2, 0},
    {"hd_mse_loss_with", "none", mse_none, 2, {"bn", "bn"}, {{"b1", "1n"}}, -2, 2, 0},
    {"hd_cross_entropy", "", cross_entropy, 1, {"b5"}, .lo = -3, .hi = 3},
    {"hd_cross_entropy", "one row", cross_entropy, 1, {"5"}, .lo = -3, .hi = 3},
    {"hd_cross_entropy_with",
     "mean, 1 more dim",
     cross_entropy_mean,
     1,
     {"b5n"},
     .lo = -3,
     .hi = 3},
    {"hd_cross_entropy_with",
     "sum, 2 more dims",
     cross_entropy_sum,
     1,
     {"b5nd"},
     .lo = -3,
     .hi = 3},
    {"hd_cross_entropy_with", "none", cross_entropy_none, 1, {"n9"}, .lo = -3, .hi = 3},
    {"hd_cross_entropy_with",
     "none, 1 more dim",
     cross_entropy_none,
     1,
     {"b5n"},
     .lo = -3,
     .hi = 3},
    {"hd_layer_norm_n", "", layer_norm, 3, {"bnd", "d", "d"}, .lo = -2, .hi = 2},
    {"hd_layer_norm_n", "two dims", layer_norm_two, 3, {"bnd", "nd", "nd"}, .lo = -2, .hi = 2},
    {"hd_layer_norm_n", "plain", layer_norm_plain, 1, {"nd"}, .lo = -2, .hi = 2},
    {"hd_layer_norm_n", "weight", layer_norm_weight, 2, {"nd", "d"}, .lo = -2, .hi = 2},
    {"hd_layer_norm_n", "bias", layer_norm_bias, 2, {"nd", "d"}, .lo = -2, .hi = 2},
};
GRADCHECK_ROWS(rows_loss, table);
