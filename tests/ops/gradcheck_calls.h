/* gradcheck_calls.h - helpers for the calls of gradcheck rows (tools/functions/rows.py): weighted
 * parts, indices, masks and targets that fit x, options. */
#ifndef HEED_GRADCHECK_CALLS_H
#define HEED_GRADCHECK_CALLS_H

#include "heed/autograd.h"

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

/* a mask of x's shape, from the values of other numbers than x's */
static hd_tensor *mask_of(hd_tensor *x)
{
    return hd_gt_scalar(hd_detach(x), 1.25);
}

/* 0, n - 1, 0 of a dim of size n; nothing of an empty one */
static hd_tensor *ends(const hd_tensor *x, int dim)
{
    int64_t last = hd_size(x, dim) - 1, at[] = {0, last, 0};
    return hd_from_data(HD_INT64, at, last < 0 ? 0 : 3);
}

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

static hd_tensor *topk_along(hd_tensor *x, int dim, bool largest)
{
    int64_t n = hd_size(x, dim);
    return hd_topk(x, n < 2 ? n : 2, dim, largest, NULL);
}

/* x with all its lines along dim added to the first line and, once more, to the last one */
static hd_tensor *added_to(hd_tensor *x, int dim)
{
    hd_tensor *at = ends(x, dim);
    return hd_index_add(x, dim, at, hd_index_select(x, dim, at));
}

/* x with its lines along dim turned over and in the places of y's */
static hd_tensor *scattered(hd_tensor *x, int dim, hd_tensor *y)
{
    int64_t n = hd_size(x, dim), shape[] = {n, 1};
    hd_tensor *at = hd_arange(n - 1, -1, -1);
    at = hd_expand_n(dim ? at : hd_view_n(at, 2, shape), 2, hd_sizes(x));
    return hd_scatter(x, dim, n ? hd_narrow(at, dim, 0, n - n / 2) : at, y);
}

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

static hd_tensor *likelihood(hd_tensor *x, hd_reduction r)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.reduction = r;
    return hd_nll_loss_with(x, targets(x), &o);
}

/* eps is large so that rows of few elements are as smooth as long ones */
static hd_tensor *norm(hd_tensor *x, int dims, hd_tensor *weight, hd_tensor *bias)
{
    return hd_layer_norm_n(x, dims, hd_sizes(x) + hd_ndim(x) - dims, weight, bias, 0.25);
}

/* true but for every third key of every second query */
static hd_tensor *some(const hd_tensor *q, const hd_tensor *k)
{
    int64_t l = hd_size(q, -2), s = hd_size(k, -2);
    hd_tensor *mask = hd_ones(HD_BOOL, l, s);
    for (int64_t i = 0; i < l; i += 2) {
        for (int64_t j = 1; j < s; j += 3) {
            hd_set(mask, false, i, j);
        }
    }
    return mask;
}

/* options: a scale, dropout, and a mask that is added */
static hd_tensor *attention_with(hd_tensor *q, hd_tensor *k, hd_tensor *v, hd_tensor *mask)
{
    hd_attention_options o = hd_attention_defaults();
    o.attn_mask = mask;
    o.scale = 0.3;
    o.dropout_p = 0.25;
    return hd_scaled_dot_product_attention_with(q, k, v, &o, NULL);
}

static hd_tensor *grouped_queries(hd_tensor *q, hd_tensor *k, hd_tensor *v)
{
    hd_attention_options o = hd_attention_defaults();
    o.enable_gqa = true;
    return hd_scaled_dot_product_attention_with(q, k, v, &o, NULL);
}

#endif
