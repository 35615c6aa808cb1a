/* reductions.c - sum, mean, var, std, prod, any and all: over all dims, one dim or several.
 *
 * A node keeps keepdim and a mask of the reduced dims. Backward expands dy to x's shape by strides
 * of 0, without a copy. max and min are in reduce_extreme.c. */
#include <inttypes.h>

#include "autograd/ops/reductions.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/kernels/reduce.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

hd_tensor *hd__op_spread(hd_tensor *y, int ndim, const int64_t *sizes, hd__op_span s)
{
    int64_t strides[HD_MAX_DIMS];
    int at = 0;
    for (int i = 0; i < ndim; i++) {
        bool reduced = s.mask >> i & 1;
        strides[i] = reduced ? 0 : y->strides[at];
        at += !reduced || s.keepdim;
    }
    return hd__tensor_alias(y, ndim, sizes, strides, y->offset);
}

/* ---------------------------------------------------------------- helpers */

/* Returns dy expanded to the shape of n's input; NULL if dy is NULL. */
static hd_tensor *spread_to_input(hd__node *n, hd_tensor *dy)
{
    const hd__node_out_meta *x = hd__node_input_meta(n, 0);
    const hd__op_span *s = hd__node_params(n);
    return dy ? hd__op_spread(dy, x->ndim, x->sizes, *s) : NULL;
}

/* Returns the number of elements that each result is computed from. */
static int64_t count(int ndim, const int64_t *sizes, uint32_t mask)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) {
        n *= mask >> i & 1 ? sizes[i] : 1;
    }
    return n;
}

/* Returns all dims of x as a bit mask; 0 with an error if hd__tensor_arg refuses x. */
static uint32_t all_mask(const hd_tensor *x)
{
    return hd__tensor_arg("x", x) ? hd__tensor_all_dims(x) : 0;
}

/* ---------------------------------------------------------------- sum, mean */

enum { SUM, MEAN }; /* the kinds of the ops */

/* y = sum(x), or sum(x) / N for N elements:  dx += dy, or dy / N, expanded to x's shape */
static void sum_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd__node_out_meta *x = hd__node_input_meta(n, 0);
    const hd__op_span *s = hd__node_params(n);
    bool mean = n->op->kind == MEAN;
    dx[0] =
        spread_to_input(n, mean ? hd_div_scalar(dy[0], count(x->ndim, x->sizes, s->mask)) : dy[0]);
}

static const hd__op sum_op = HD__OP_KIND("SumBackward0", sum_backward, SUM);
static const hd__op sum_dims_op = HD__OP_KIND("SumBackward1", sum_backward, SUM);
static const hd__op mean_op = HD__OP_KIND("MeanBackward0", sum_backward, MEAN);
static const hd__op mean_dims_op = HD__OP_KIND("MeanBackward1", sum_backward, MEAN);

void hd__op_divide_by(hd_tensor *y, double n)
{
    const hd_dtype d = y->dtype;
    int64_t divisor;
    hd__tensor_scalar_bytes(d, hd_scalar_double(n), &divisor);
    hdk_binary_loop(HDK_DIV, d)((char *[]){hd__tensor_ptr(y), hd__tensor_ptr(y), (char *)&divisor},
                                (int64_t[]){hd__tensor_bytes_of(d), hd__tensor_bytes_of(d), 0},
                                y->numel, NULL);
}

/* Returns the sum or mean of x over the dims of mask, unrecorded; NULL on failure. */
static hd_tensor *sum_or_mean(int kind, hd_tensor *x, uint32_t mask, bool keepdim)
{
    hd_tensor *y = hd__reduce_sum(x, mask, keepdim);
    if (y && kind == MEAN) {
        hd__op_divide_by(y, (double)count(x->ndim, x->sizes, mask));
    }
    return y;
}

/* Returns the sum or mean, recorded; NULL on failure. If mask is 0, a check of the arguments has
 * failed already. */
static hd_tensor *recorded_sum(const hd__op *op, hd_tensor *x, uint32_t mask, bool keepdim)
{
    if (!mask || (op->kind == MEAN && !hd__tensor_float_arg(x))) {
        return NULL;
    }
    const hd__op_span s = {.mask = mask, .keepdim = keepdim};
    return HD__RECORD(op, sum_or_mean(op->kind, x, mask, keepdim), HD__IN(1, &x), HD__PARAMS(s));
}

hd_tensor *hd_sum(hd_tensor *x)
{
    HD__CALL("hd_sum");
    return recorded_sum(&sum_op, x, all_mask(x), false);
}

hd_tensor *hd_sum_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_sum_dim");
    return recorded_sum(&sum_dims_op, x, hd__tensor_dim_mask(x, dim), keepdim);
}

hd_tensor *hd_sum_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims)
{
    HD__CALL("hd_sum_dims");
    return recorded_sum(&sum_dims_op, x, hd__dims_mask(x, n, dims), keepdim);
}

hd_tensor *hd_mean(hd_tensor *x)
{
    HD__CALL("hd_mean");
    return recorded_sum(&mean_op, x, all_mask(x), false);
}

hd_tensor *hd_mean_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_mean_dim");
    return recorded_sum(&mean_dims_op, x, hd__tensor_dim_mask(x, dim), keepdim);
}

hd_tensor *hd_mean_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims)
{
    HD__CALL("hd_mean_dims");
    return recorded_sum(&mean_dims_op, x, hd__dims_mask(x, n, dims), keepdim);
}

/* ---------------------------------------------------------------- var, std */

enum { VAR, STD }; /* the kinds of the ops */

/* Returns N - correction, or 0 if that is negative. N is the number of elements from which each
 * result is computed. */
static double freedom(int ndim, const int64_t *sizes, hd__op_span s)
{
    int64_t n = count(ndim, sizes, s.mask) - s.correction;
    return (double)(n > 0 ? n : 0);
}

/* For y = sqrt(v): returns the gradient of v, which is dy / (2 * y), or 0 where y is 0. NULL
 * on failure. */
static hd_tensor *variance_slope(hd_tensor *y, hd_tensor *dy)
{
    hd_tensor *g = hd_div(dy, hd_mul_scalar(y, 2));
    return hd_masked_fill(g, hd_eq_scalar(y, 0), 0);
}

/* y = sum((x - mean)^2) / (N - c), with the correction c:  dx += 2 / (N - c) * dy * (x - mean) */
static void var_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd__op_span *s = hd__node_params(n);
    hd_tensor *x = hd__node_saved_get(n, 0);
    hd__op_span all = {.mask = s->mask, .keepdim = true};
    hd_tensor *mean = sum_or_mean(MEAN, x, s->mask, true); /* x's dims, size 1 where reduced */
    double factor = 2.0 / freedom(x->ndim, x->sizes, *s);
    hd_tensor *dv = n->op->kind == STD ? variance_slope(hd__node_saved_get(n, 1), dy[0]) : dy[0];
    hd_tensor *g = spread_to_input(n, hd_mul_scalar(dv, factor));
    mean = g && mean ? hd__op_spread(mean, x->ndim, x->sizes, all) : NULL;
    hd_tensor *y = mean ? hd__tensor_laid_out_as(hd__tensor_empty_as(x->dtype, x), x) : NULL;
    dx[0] = hd__map(hdk_reduce()->center[x->dtype], NULL, 4, (hd_tensor *[]){y, x, g, mean});
}

static const hd__op var_op = HD__OP_KIND("VarBackward0", var_backward, VAR);
static const hd__op std_op = HD__OP_KIND("StdBackward0", var_backward, STD);

static void warn_no_freedom(const hd_tensor *x, int64_t n, int correction)
{
    hd_warn("x %s: %" PRId64 " %s for each result is too few for correction %d, and the result "
            "is nan: expected %d or more%s",
            HD__SHAPE(x), n, n == 1 ? "element" : "elements", correction, correction + 1,
            n == 1 ? ", or correction 0" : "");
}

/* Returns the variance of x over the dims of s, or its square root, recorded; NULL with an error on
 * failure. */
static hd_tensor *recorded_var(const hd__op *op, hd_tensor *x, hd__op_span s)
{
    if (!s.mask || !hd__tensor_float_arg(x)) {
        return NULL;
    }
    if (s.correction != 0 && s.correction != 1) {
        return hd_fail(HD_VALUE, "correction %d: expected 0 or 1", s.correction);
    }
    hd_tensor *y = hd__reduced(x, s.mask, s.keepdim, x->dtype);
    int64_t n = count(x->ndim, x->sizes, s.mask);
    if (y && y->numel > 0 && n <= s.correction) {
        warn_no_freedom(x, n, s.correction);
    }
    bool ok = y && hd__reduce(hdk_reduce()->kernel[HDK_VAR], HD__WHOLE, y, x, s.mask,
                              freedom(x->ndim, x->sizes, s), NULL);
    y = ok ? y : NULL;
    if (y && op->kind == STD) {
        y = hd__map(hdk_unary_loop(HDK_SQRT, y->dtype), NULL, 2, (hd_tensor *[]){y, y});
    }
    return HD__RECORD(op, y, HD__IN(1, &x), HD__SAVES(1, &x), HD__PARAMS(s),
                      .save_y = op->kind == STD);
}

hd_tensor *hd_var(hd_tensor *x, int correction)
{
    HD__CALL("hd_var");
    return recorded_var(&var_op, x, (hd__op_span){all_mask(x), false, correction});
}

hd_tensor *hd_var_dim(hd_tensor *x, int dim, int correction, bool keepdim)
{
    HD__CALL("hd_var_dim");
    return recorded_var(&var_op, x,
                        (hd__op_span){hd__tensor_dim_mask(x, dim), keepdim, correction});
}

hd_tensor *hd_var_dims_n(hd_tensor *x, int correction, bool keepdim, int n, const int64_t *dims)
{
    HD__CALL("hd_var_dims");
    return recorded_var(&var_op, x, (hd__op_span){hd__dims_mask(x, n, dims), keepdim, correction});
}

hd_tensor *hd_std(hd_tensor *x, int correction)
{
    HD__CALL("hd_std");
    return recorded_var(&std_op, x, (hd__op_span){all_mask(x), false, correction});
}

hd_tensor *hd_std_dim(hd_tensor *x, int dim, int correction, bool keepdim)
{
    HD__CALL("hd_std_dim");
    return recorded_var(&std_op, x,
                        (hd__op_span){hd__tensor_dim_mask(x, dim), keepdim, correction});
}

hd_tensor *hd_std_dims_n(hd_tensor *x, int correction, bool keepdim, int n, const int64_t *dims)
{
    HD__CALL("hd_std_dims");
    return recorded_var(&std_op, x, (hd__op_span){hd__dims_mask(x, n, dims), keepdim, correction});
}

/* ---------------------------------------------------------------- prod */

/* Sets half[0] and half[1] to two halves of x along dim d, which have equal sizes. If the size of x
 * is odd, appends ones first. On failure, both are NULL. */
static void halve(hd_tensor *x, int d, hd_tensor *half[2])
{
    const int64_t n = x->sizes[d] / 2 + x->sizes[d] % 2;
    if (x->sizes[d] % 2) {
        hd_tensor *one = hd_ones_like(hd_narrow(x, d, 0, 1), (hd_dtype)x->dtype);
        x = hd_cat(d, x, one);
    }
    half[0] = hd_narrow(x, d, 0, n);
    half[1] = hd_narrow(x, d, n, n);
}

/* Returns the product of x along dim d, which then has size 1; NULL on failure. */
static hd_tensor *product(hd_tensor *x, int d)
{
    hd_tensor *half[2];
    while (x && x->sizes[d] > 1) {
        halve(x, d, half);
        x = hd_mul(half[0], half[1]);
    }
    return x;
}

/* Returns the gradient dx of y = product(x, d); NULL with an error on failure. Splits x into the
 * same halves as product does. */
static hd_tensor *product_slope(hd_tensor *x, int d, hd_tensor *dy)
{
    hd_tensor *half[2];
    const int64_t n = x ? x->sizes[d] : 0;
    if (n < 2) {
        return x && n == 1 ? dy : x;
    }
    halve(x, d, half);
    hd_tensor *g = product_slope(hd_mul(half[0], half[1]), d, dy);
    return hd_narrow(hd_cat(d, hd_mul(g, half[1]), hd_mul(g, half[0])), d, 0, n);
}

enum { ALL_DIMS = -1 };

/* Returns the product of x over dim d, or over all dims if d is ALL_DIMS, unrecorded; NULL on
 * failure. */
static hd_tensor *products(hd_tensor *x, int d, bool keepdim)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(NULL);
    x = d == ALL_DIMS ? hd_flatten(x, 0, -1) : x;
    d = d == ALL_DIMS ? 0 : d;
    x = x && x->dtype == HD_BOOL ? hd_to(x, HD_INT64) : x;
    if (x && x->sizes[d] == 0) {
        hd_tensor *y = hd__reduced(x, 1u << d, keepdim, x->dtype);
        return y ? hd_scope_return(hd__tensor_fill(y, hd_scalar_int(1))) : NULL;
    }
    hd_tensor *y = product(x, d);
    y = y && !keepdim ? hd_squeeze(y, d) : y;
    return y ? hd_scope_return(hd__tensor_clone(y)) : NULL;
}

typedef struct prod_params {
    int dim; /* the reduced dim, or ALL_DIMS */
    bool keepdim;
} prod_params;

/* y = product of all x_i:  dx_i += dy * product of all x_j with j != i */
static void prod_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const prod_params *p = hd__node_params(n);
    hd_tensor *x = hd__node_saved_get(n, 0);
    if (p->dim == ALL_DIMS) {
        hd_tensor *g = product_slope(hd_flatten(x, 0, -1), 0, hd_view(dy[0], 1));
        dx[0] = hd_reshape_n(g, x->ndim, x->sizes);
    } else {
        dx[0] = product_slope(x, p->dim, p->keepdim ? dy[0] : hd_unsqueeze(dy[0], p->dim));
    }
}

static const hd__op prod_op = HD__OP("ProdBackward0", prod_backward);
static const hd__op prod_dim_op = HD__OP("ProdBackward1", prod_backward);

hd_tensor *hd_prod(hd_tensor *x)
{
    HD__CALL("hd_prod");
    const prod_params p = {ALL_DIMS, false};
    hd_tensor *y = hd__tensor_arg("x", x) ? products(x, p.dim, p.keepdim) : NULL;
    return HD__RECORD(&prod_op, y, HD__IN(1, &x), HD__SAVES(1, &x), HD__PARAMS(p));
}

hd_tensor *hd_prod_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_prod_dim");
    const int d = hd__tensor_dim_of(x, dim);
    if (d < 0) {
        return NULL;
    }
    const prod_params p = {x->ndim ? d : ALL_DIMS, x->ndim && keepdim};
    hd_tensor *y = products(x, p.dim, p.keepdim);
    return HD__RECORD(&prod_dim_op, y, HD__IN(1, &x), HD__SAVES(1, &x), HD__PARAMS(p));
}

/* ---------------------------------------------------------------- any, all */

/* Computes any or all, by op, of x over the dims whose bits are set in mask. mask 0: the dims were
 * wrong, and the error is set. */
static hd_tensor *truth(int op, hd_tensor *x, uint32_t mask, bool keepdim)
{
    hd_tensor *y = mask ? hd__reduce_to(op, HD__PIECES, x, mask, keepdim, HD_BOOL) : NULL;
    return hd__record_told(NULL, y, 1, &x);
}

hd_tensor *hd_any(hd_tensor *x)
{
    HD__CALL("hd_any");
    return truth(HDK_ANY, x, all_mask(x), false);
}

hd_tensor *hd_all(hd_tensor *x)
{
    HD__CALL("hd_all");
    return truth(HDK_ALL, x, all_mask(x), false);
}

hd_tensor *hd_any_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_any_dim");
    return truth(HDK_ANY, x, hd__tensor_dim_mask(x, dim), keepdim);
}

hd_tensor *hd_all_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_all_dim");
    return truth(HDK_ALL, x, hd__tensor_dim_mask(x, dim), keepdim);
}
