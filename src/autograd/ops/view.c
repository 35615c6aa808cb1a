/* view.c - views of all elements of a tensor: reshaped, expanded or permuted. Views of a part are
 * in slices.c.
 *
 * The backward of a reshape needs no params, because the input's node has the input's shape. */
#include <inttypes.h>

#include "autograd/history.h"
#include "autograd/ops/arith.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- backward */

/* dx += dy in x's shape */
static void reshape_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd__node_out_meta *x = hd__node_input_meta(n, 0);
    dx[0] = hd_reshape_n(dy[0], x->ndim, x->sizes);
}

/* dx += dy with the two dims swapped back */
static void transpose_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dims = hd__node_params(n);
    dx[0] = hd_transpose(dy[0], dims[0], dims[1]);
}

/* dx += dy with its dims back in x's order */
static void permute_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int64_t *dims = hd__node_params(n);
    int64_t inverse[HD_MAX_DIMS];
    for (int d = 0; d < dy[0]->ndim; d++) {
        inverse[dims[d]] = d;
    }
    dx[0] = hd_permute_n(dy[0], dy[0]->ndim, inverse);
}

static const hd__op view_op = HD__OP("ViewBackward0", reshape_backward);
static const hd__op unsafe_view_op = HD__OP("UnsafeViewBackward0", reshape_backward);
static const hd__op reshape_alias_op = HD__OP("ReshapeAliasBackward0", reshape_backward);
static const hd__op squeeze_op = HD__OP("SqueezeBackward0", reshape_backward);
static const hd__op squeeze_dim_op = HD__OP("SqueezeBackward1", reshape_backward);
static const hd__op unsqueeze_op = HD__OP("UnsqueezeBackward0", reshape_backward);
static const hd__op expand_op = HD__OP("ExpandBackward0", hd__op_same_backward);
static const hd__op transpose_op = HD__OP("TransposeBackward0", transpose_backward);
static const hd__op permute_op = HD__OP("PermuteBackward0", permute_backward);

/* ---------------------------------------------------------------- shape */

static hd_tensor *view_of(const hd__op *op, hd_tensor *x, int ndim, const int64_t *sizes,
                          const int64_t *strides)
{
    return hd__record_view(op, hd__tensor_alias(x, ndim, sizes, strides, x->offset), x, NULL, 0);
}

/* Returns x in the sizes `given`, of which one may be -1: a view if x's strides allow it; otherwise
 * a view of a copy or, without `copies`, an error. */
static hd_tensor *reshaped(hd_tensor *x, int ndim, const int64_t *given, bool copies)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    if (!hd__tensor_any_arg("x", x, false) || !hd__tensor_infer_sizes(x, ndim, given, sizes)) {
        return NULL;
    }
    if (hd__tensor_view_strides(x, ndim, sizes, strides)) {
        const hd__op *op = copies && !hd__tensor_contig(x) ? &reshape_alias_op : &view_op;
        return view_of(op, x, ndim, sizes, strides);
    }
    if (!copies) {
        return hd_fail(HD_SHAPE,
                       "%s with strides %s has no view of shape %s. Use hd_reshape, or "
                       "hd_contiguous first",
                       HD__SHAPE(x), HD__SIZES(x->ndim, x->strides), HD__SIZES(ndim, sizes));
    }
    hd_tensor *copy = hd__tensor_clone(x);
    if (!copy) {
        return NULL;
    }
    hd__tensor_default_strides(ndim, sizes, strides);
    hd_tensor *y = hd__tensor_alias(copy, ndim, sizes, strides, 0);
    hd_release(copy);
    return HD__RECORD(&unsafe_view_op, y, HD__IN(1, &x));
}

hd_tensor *hd_view_n(hd_tensor *x, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_view");
    return reshaped(x, ndim, sizes, false);
}

hd_tensor *hd_reshape_n(hd_tensor *x, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_reshape");
    return reshaped(x, ndim, sizes, true);
}

hd_tensor *hd_flatten(hd_tensor *x, int start_dim, int end_dim)
{
    HD__CALL("hd_flatten");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    int start = hd__tensor_dim(x, start_dim), end = hd__tensor_dim(x, end_dim);
    if (start < 0 || end < 0) {
        return NULL;
    }
    if (start > end) {
        return hd_fail(HD_INDEX, "dims %d to %d of %s: expected start <= end", start, end,
                       HD__SHAPE(x));
    }
    if (x->ndim > 0 && start == end) {
        return x;
    }
    int64_t sizes[HD_MAX_DIMS] = {1}, run = 1;
    int ndim = x->ndim == 0;
    for (int d = 0; d < x->ndim; d++) {
        run = d > start && d <= end ? run * x->sizes[d] : x->sizes[d];
        if (d < start || d >= end) {
            sizes[ndim++] = run;
        }
    }
    return hd_reshape_n(x, ndim, sizes);
}

hd_tensor *hd_expand_n(hd_tensor *x, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_expand");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    if (ndim < x->ndim || ndim > HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE, "%s to %d dimensions: expected %d to %d", HD__SHAPE(x), ndim,
                       x->ndim, HD_MAX_DIMS);
    }
    if (ndim && !sizes) {
        return hd__arg_null_arg("sizes");
    }
    int64_t fit[HD_MAX_DIMS], numel = 1;
    for (int d = 0; d < ndim; d++) {
        int at = d - (ndim - x->ndim);
        fit[d] = sizes[d] == -1 && at >= 0 ? x->sizes[at] : sizes[d];
        if (fit[d] < 0 || (at >= 0 && x->sizes[at] != 1 && x->sizes[at] != fit[d])) {
            return hd_fail(HD_SHAPE, "%s to %s: expected size %" PRId64 " at dim %d", HD__SHAPE(x),
                           HD__SIZES(ndim, sizes), at < 0 ? 1 : x->sizes[at], d);
        }
        if (__builtin_mul_overflow(numel, fit[d] ? fit[d] : 1, &numel)) {
            return hd_fail(HD_MEMORY, "%s to %s: the size overflows", HD__SHAPE(x),
                           HD__SIZES(ndim, sizes));
        }
    }
    return hd__record_view(&expand_op, hd__tensor_expand(x, ndim, fit), x, NULL, 0);
}

static hd_tensor *squeezed(hd_tensor *x, const hd__op *op, uint32_t mask)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    int ndim = 0;
    for (int d = 0; d < x->ndim; d++) {
        if (x->sizes[d] != 1 || !(mask & 1u << d)) {
            sizes[ndim] = x->sizes[d];
            strides[ndim++] = x->strides[d];
        }
    }
    return view_of(op, x, ndim, sizes, strides);
}

hd_tensor *hd_squeeze(hd_tensor *x, int dim)
{
    HD__CALL("hd_squeeze");
    int d = hd__tensor_any_arg("x", x, false) ? hd__tensor_dim(x, dim) : -1;
    return d < 0 ? NULL : squeezed(x, &squeeze_dim_op, 1u << d);
}

hd_tensor *hd_squeeze_all(hd_tensor *x)
{
    HD__CALL("hd_squeeze_all");
    return hd__tensor_any_arg("x", x, false) ? squeezed(x, &squeeze_op, ~0u) : NULL;
}

hd_tensor *hd_unsqueeze(hd_tensor *x, int dim)
{
    HD__CALL("hd_unsqueeze");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    int n = x->ndim + 1, at = dim < 0 ? dim + n : dim;
    if (at < 0 || at >= n) {
        return hd_fail(HD_INDEX, "dim %d of %s: expected %d to %d", dim, HD__SHAPE(x), -n, n - 1);
    }
    if (n > HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE, "%s with a new dim has %d dims: expected %d at most", HD__SHAPE(x),
                       n, HD_MAX_DIMS);
    }
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    for (int d = 0; d < n; d++) {
        int from = d < at ? d : d - 1;
        sizes[d] = d == at ? 1 : x->sizes[from];
        strides[d] = d != at ? x->strides[from] : at < x->ndim ? x->sizes[at] * x->strides[at] : 1;
    }
    return view_of(&unsqueeze_op, x, n, sizes, strides);
}

/* ---------------------------------------------------------------- order of dims */

static hd_tensor *permuted(hd_tensor *x, const int64_t *dims)
{
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS];
    for (int d = 0; d < x->ndim; d++) {
        sizes[d] = x->sizes[dims[d]];
        strides[d] = x->strides[dims[d]];
    }
    return hd__tensor_alias(x, x->ndim, sizes, strides, x->offset);
}

hd_tensor *hd_transpose(hd_tensor *x, int dim0, int dim1)
{
    HD__CALL("hd_transpose");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    int dims[] = {hd__tensor_dim(x, dim0), hd__tensor_dim(x, dim1)};
    if (dims[0] < 0 || dims[1] < 0) {
        return NULL;
    }
    int64_t order[HD_MAX_DIMS] = {0, 1, 2, 3, 4, 5, 6, 7};
    order[dims[0]] = dims[1];
    order[dims[1]] = dims[0];
    return hd__record_view(&transpose_op, permuted(x, order), x, dims, sizeof dims);
}

hd_tensor *hd_t(hd_tensor *x)
{
    HD__CALL("hd_t");
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    if (x->ndim > 2) {
        return hd_fail(
            HD_SHAPE,
            "%s: expected 2 dimensions at most. Use hd_transpose(x, -2, -1) to swap the last two",
            HD__SHAPE(x));
    }
    return hd_permute_n(x, x->ndim, (int64_t[]){x->ndim == 2, 0});
}

hd_tensor *hd_permute_n(hd_tensor *x, int n, const int64_t *dims)
{
    HD__CALL("hd_permute");
    int64_t order[HD_MAX_DIMS];
    if (!hd__tensor_any_arg("x", x, false)) {
        return NULL;
    }
    if (n != x->ndim) {
        return hd_fail(HD_SHAPE, "%d dims for %s: expected %d", n, HD__SHAPE(x), x->ndim);
    }
    if (!hd__dims_listed(x, n, dims)) {
        return NULL;
    }
    for (int d = 0; d < n; d++) {
        order[d] = dims[d] < 0 ? dims[d] + n : dims[d];
    }
    return hd__record_view(&permute_op, permuted(x, order), x, order, sizeof order);
}
