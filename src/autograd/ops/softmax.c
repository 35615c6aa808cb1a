/* softmax.c - softmax, log_softmax, logsumexp and cumsum, which work on whole lanes along a dim.
 *
 * A lane is a row of elements along the dim. softmax and log_softmax save their results, not their
 * inputs. Forward and backward are one kernel each, which computes whole lanes. Lanes along the
 * last dim have their own kernels, which need contiguous lanes. */
#include "autograd/ops/reductions.h"
#include "autograd/ops/softmax.h"
#include "autograd/record.h"
#include "tensor/copy.h"
#include "tensor/kernels/softmax.h"
#include "tensor/lanes.h"
#include "tensor/tensor_args.h"

enum { SOFTMAX_WORTH = 16384 }; /* up to this many elements, one thread computes all */

/* ---------------------------------------------------------------- helpers */

/* If x is small, and x and y are contiguous, computes all of out by one call of f, a kernel for the
 * last dim, and returns true. Otherwise does nothing and returns false. */
static bool rows_at_once(hdk_lane_kernel f, hd_tensor *out, const hd_tensor *x, const hd_tensor *y)
{
    int64_t n = x->sizes[x->ndim - 1];
    if (n == 0 || x->numel > SOFTMAX_WORTH || !hd__tensor_contig(x) ||
        (y && !hd__tensor_contig(y))) {
        return false;
    }
    hdk_lanes l = {.n = n, .k = x->numel / n, .sn = {1, 1, 1}, .sk = {n, n, n}};
    f(&l, (void *[]){hd__tensor_ptr(out), hd__tensor_ptr(x), y ? hd__tensor_ptr(y) : NULL}, 0);
    return true;
}

/* Returns the result of a kernel along dim; NULL on failure. In forward, y is NULL. In backward, x
 * is the gradient, which the result may overwrite, and y is the saved result. */
static hd_tensor *along(int kernel, int dim, hd_tensor *x, hd_tensor *y)
{
    bool last = dim >= x->ndim - 1;
    hd_tensor *out = y && !last && hd__tensor_held_once(x) ? x : hd__tensor_empty_as(x->dtype, x);
    hdk_lane_kernel f = hdk_softmax_along(kernel, last ? HDK_LAST : HDK_OTHER, x->dtype);
    if (out && last && x->ndim > 0 && rows_at_once(f, out, x, y)) {
        return out;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor *in =
        out ? hd__lanes_side_by_side(x, last ? dim : hd__lanes_innermost(out), true) : NULL;
    hd_tensor *also = y && last ? hd__lanes_side_by_side(y, dim, true) : y;
    if (!out || !in || (y && !also)) {
        return NULL;
    }
    hd__lanes w;
    hd__lanes_init(&w, dim, y ? 3 : 2, (hd_tensor *[]){out, in, also});
    hd__lanes_run(&w, f, last && out->numel * w.item[0] >= HDK_STREAM_BYTES);
    return out;
}

/* Returns the softmax or log_softmax of x, recorded; NULL with an error on failure. Saves only the
 * result. */
static hd_tensor *lane_op(const hd__op *op, int kernel, hd_tensor *x, int dim)
{
    if (!hd__tensor_float_x(x)) {
        return NULL;
    }
    int at = hd__tensor_dim(x, dim);
    hd_tensor *y = at < 0 ? NULL : along(kernel, at, x, NULL);
    return HD__RECORD(op, y, HD__IN(1, &x), .save_y = true, HD__PARAMS(at));
}

/* The backward of softmax and log_softmax. The op's kind is its kernel. */
static void lane_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    dx[0] = along(n->op->kind, *dim, dy[0], hd__node_saved_get(n, 0));
}

/* ---------------------------------------------------------------- softmax, log_softmax */

/* dx += y * (dy - sum(dy * y)) */
static const hd__op softmax_op =
    HD__OP_KIND("SoftmaxBackward0", lane_backward, HDK_SOFTMAX_BACKWARD);

hd_tensor *hd_softmax(hd_tensor *x, int dim)
{
    HD__CALL("hd_softmax");
    return lane_op(&softmax_op, HDK_SOFTMAX, x, dim);
}

/* True if each lane of x along dim is a lane of y along dim `at`. y is contiguous, and x is y or a
 * view of y. */
static bool lanes_of(const hd_tensor *x, int dim, const hd_tensor *y, int at)
{
    const int64_t step = y->strides[at], n = y->sizes[at], from = x->offset - y->offset;
    int64_t within =
        from % step; /* after the loop: where the last lane of x in a block of `step` starts */
    bool same = x->sizes[dim] == n && x->strides[dim] == step && from / step % n == 0;
    for (int d = 0; d < x->ndim; d++) {
        if (d != dim && x->strides[d] < step) {
            within += x->strides[d] * (x->sizes[d] - 1);
        } else if (d != dim && x->sizes[d] > 1) {
            same &= x->strides[d] % (step * n) == 0;
        }
    }
    return same && within < step;
}

bool hd__op_is_softmax(const hd_tensor *x, int dim)
{
    const hd_tensor *y = x->base ? x->base : x;
    const hd__node *n = y->attachment;
    return n && n->op == &softmax_op && !n->freed && y->ndim > 0 && x->numel > 0 &&
           n->saved[0].version == hd__tensor_storage_version(y) && hd__tensor_contig(y) &&
           lanes_of(x, dim, y, *(const int *)hd__node_params(n));
}

/* dx += dy - exp(y) * sum(dy) */
static const hd__op log_softmax_op =
    HD__OP_KIND("LogSoftmaxBackward0", lane_backward, HDK_LOG_SOFTMAX_BACKWARD);

hd_tensor *hd_log_softmax(hd_tensor *x, int dim)
{
    HD__CALL("hd_log_softmax");
    return lane_op(&log_softmax_op, HDK_LOG_SOFTMAX, x, dim);
}

/* ---------------------------------------------------------------- logsumexp */

/* dx += dy * exp(x - y) */
static void logsumexp_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd__op_span *s = hd__node_params(n);
    hd_tensor *x = hd__node_saved_get(n, 0), *y = hd__node_saved_get(n, 1);
    hd_tensor *weight = hd_exp(hd_sub(x, hd__op_spread(y, x->ndim, x->sizes, *s)));
    dx[0] = hd_mul(hd__op_spread(dy[0], x->ndim, x->sizes, *s), weight);
}

static const hd__op logsumexp_op = HD__OP("LogsumexpBackward0", logsumexp_backward);

static hd_tensor *logsumexp(hd_tensor *x, uint32_t mask, bool keepdim)
{
    if (!mask) {
        return NULL;
    }
    const hd__op_span s = {.mask = mask, .keepdim = keepdim};
    hd_dtype d = hd__tensor_is_float(x->dtype) ? x->dtype : HD_FLOAT32;
    hd_tensor *y = hd__reduced(x, mask, keepdim, d);
    {
        HD__SCOPE_OR(NULL);
        hd_tensor *numbers = hd__tensor_cast(x, d);
        numbers =
            numbers ? hd__lanes_side_by_side(numbers, hd__lanes_innermost(numbers), true) : NULL;
        if (!y || !numbers ||
            !hd__reduce(hdk_softmax_for(d)->logsumexp, HD__WHOLE, y, numbers, mask, 0, NULL)) {
            return NULL;
        }
    }
    return HD__RECORD(&logsumexp_op, y, HD__IN(1, &x), HD__SAVES(1, &x), .save_y = true,
                      HD__PARAMS(s));
}

hd_tensor *hd_logsumexp_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_logsumexp_dim");
    return logsumexp(x, hd__tensor_dim_mask(x, dim), keepdim);
}

hd_tensor *hd_logsumexp_dims_n(hd_tensor *x, bool keepdim, int n, const int64_t *dims)
{
    HD__CALL("hd_logsumexp_dims");
    return logsumexp(x, hd__dims_mask(x, n, dims), keepdim);
}

/* ---------------------------------------------------------------- cumsum */

/* Returns the running sums of x along dim, from its end to its start if `backwards` is true; NULL
 * with an error on failure. */
static hd_tensor *running_sums(hd_tensor *x, int dim, bool backwards)
{
    hd_dtype d = x->dtype == HD_BOOL ? HD_INT64 : x->dtype;
    hd_tensor *y = hd__tensor_empty_as(d, x);
    HD__SCOPE_OR(NULL);
    x = hd__tensor_cast(x, d);
    if (!y || !x) {
        return NULL;
    }
    if (x->ndim == 0) { /* copied, because adding -0 to 0 gives 0 */
        hd__tensor_copy(y, x);
        return y;
    }
    if (!(x = hd__lanes_side_by_side(x, hd__lanes_innermost(y), false))) {
        return NULL;
    }
    hd__lanes w;
    hd__lanes_init(&w, dim, 2, (hd_tensor *[]){y, x});
    for (int i = 0; i < 2 && backwards && w.lanes.n > 0; i++) {
        w.data[i] = (char *)w.data[i] + (w.lanes.n - 1) * w.lanes.sn[i] * w.item[i];
        w.lanes.sn[i] = -w.lanes.sn[i];
    }
    hd__lanes_run(&w, hdk_softmax_for(d)->cumsum[d], 0);
    return y;
}

/* x_i is a term of every y_j with j >= i:  dx_i += dy_i + ... + dy_last */
static void cumsum_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const int *dim = hd__node_params(n);
    const hd_tensor *g = dy[0];
    bool one = g->ndim == 0 || g->sizes[*dim] == 1;
    dx[0] = one ? dy[0] : running_sums(dy[0], *dim, true);
}

static const hd__op cumsum_op = HD__OP("CumsumBackward0", cumsum_backward);

hd_tensor *hd_cumsum(hd_tensor *x, int dim)
{
    HD__CALL("hd_cumsum");
    int at = hd__tensor_dim_of(x, dim);
    hd_tensor *y = at < 0 ? NULL : running_sums(x, at, false);
    return HD__RECORD(&cumsum_op, y, HD__IN(1, &x), HD__PARAMS(at));
}
