/* reduce_extreme.c - max, min, argmax and argmin.
 *
 * If max reduces all elements, equal maxima share the gradient. Along a dim, the first maximum gets
 * the whole gradient. If there are NaNs, the first NaN is the maximum. min does the same with
 * minima. */
#include "autograd/ops/pick.h"
#include "autograd/record.h"
#include "tensor/kernels/reduce.h"
#include "tensor/reduce_dims.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- over everything */

/* m = max(x) or min(x), and c elements equal m:  dx += dy / c where x == m, or where both are
 * NaN */
static void extreme_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd_tensor *x = hd__node_saved_get(n, 0), *m = hd__node_saved_get(n, 1);
    bool is_nan = isnan(hd_item(m));
    hd_tensor *reached = is_nan ? hd_ne(x, x) : hd_eq(x, m); /* bool, x's shape */
    hd_tensor *share = hd_div(dy[0], hd_sum(reached));
    /* not a product with reached, because an infinite share times 0 is NaN */
    dx[0] = hd_where(reached, share, hd_zeros_n((hd_dtype)dy[0]->dtype, 0, NULL));
}

static const hd__op max_op = HD__OP("MaxBackward1", extreme_backward);
static const hd__op min_op = HD__OP("MinBackward1", extreme_backward);

/* Returns all dims of x as a bit mask; 0 with an error if hd__tensor_arg refuses x or x has no
 * elements. */
static uint32_t mask_of_all(const hd_tensor *x)
{
    if (!hd__tensor_arg("x", x)) {
        return 0;
    }
    bool any = x->numel > 0 || hd_fail(HD_SHAPE, "%s: expected at least one element", HD__SHAPE(x));
    return any ? hd__tensor_all_dims(x) : 0;
}

static hd_tensor *extreme(const hd__op *op, int kernel, hd_tensor *x)
{
    uint32_t mask = mask_of_all(x);
    hd_tensor *y = mask ? hd__reduce_to(kernel, HD__PIECES, x, mask, false, x->dtype) : NULL;
    return HD__RECORD(op, y, HD__IN(1, &x), HD__SAVES(1, &x), .save_y = true);
}

hd_tensor *hd_max(hd_tensor *x)
{
    HD__CALL("hd_max");
    return extreme(&max_op, HDK_MAX, x);
}

hd_tensor *hd_min(hd_tensor *x)
{
    HD__CALL("hd_min");
    return extreme(&min_op, HDK_MIN, x);
}

/* ---------------------------------------------------------------- along a dim */

/* Returns dim as a bit mask; 0 with an error if x has no such dim or the dim has size 0. */
static uint32_t lane_mask(const hd_tensor *x, int dim)
{
    int at = hd__tensor_dim_of(x, dim);
    if (at < 0) {
        return 0;
    }
    if (x->ndim && x->sizes[at] == 0) {
        hd_fail(HD_SHAPE, "dim %d of %s: expected a size above 0", at, HD__SHAPE(x));
        return 0;
    }
    return 1u << at;
}

static const hd__op max_dim_op = HD__OP_KIND("MaxBackward0", hd__op_scatter_backward, HD__PUT);
static const hd__op min_dim_op = HD__OP_KIND("MinBackward0", hd__op_scatter_backward, HD__PUT);

static hd_tensor *extreme_dim(const hd__op *op, int kernel, hd_tensor *x, int dim, bool keepdim,
                              hd_tensor **indices)
{
    uint32_t mask = lane_mask(x, dim);
    int at = mask ? hd__tensor_dim(x, dim) : 0;
    hd_tensor *y = mask ? hd__reduced(x, mask, keepdim, x->dtype) : NULL;
    hd_tensor *index = y ? hd__reduced(x, mask, keepdim, HD_INT64) : NULL;
    bool ok = index && hd__reduce(hdk_reduce()->kernel[kernel], HD__WHOLE, index, x, mask, 0, y);
    y = HD__RECORD(op, ok ? y : NULL, HD__IN(1, &x), HD__SAVES(1, &index), HD__PARAMS(at));
    if (indices) {
        *indices = y ? index : NULL;
    }
    return y;
}

hd_tensor *hd_max_dim(hd_tensor *x, int dim, bool keepdim, hd_tensor **indices)
{
    HD__CALL("hd_max_dim");
    return extreme_dim(&max_dim_op, HDK_ARGMAX, x, dim, keepdim, indices);
}

hd_tensor *hd_min_dim(hd_tensor *x, int dim, bool keepdim, hd_tensor **indices)
{
    HD__CALL("hd_min_dim");
    return extreme_dim(&min_dim_op, HDK_ARGMIN, x, dim, keepdim, indices);
}

/* ---------------------------------------------------------------- places */

static hd_tensor *place(int kernel, hd_tensor *x, uint32_t mask, bool keepdim)
{
    bool ok = mask && hd__tensor_number_dtype(x->dtype);
    hd_tensor *y = ok ? hd__reduce_to(kernel, HD__IN_ORDER, x, mask, keepdim, HD_INT64) : NULL;
    return hd__record_told(NULL, y, 1, &x);
}

hd_tensor *hd_argmax(hd_tensor *x)
{
    HD__CALL("hd_argmax");
    return place(HDK_ARGMAX, x, mask_of_all(x), false);
}

hd_tensor *hd_argmin(hd_tensor *x)
{
    HD__CALL("hd_argmin");
    return place(HDK_ARGMIN, x, mask_of_all(x), false);
}

hd_tensor *hd_argmax_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_argmax_dim");
    return place(HDK_ARGMAX, x, lane_mask(x, dim), keepdim);
}

hd_tensor *hd_argmin_dim(hd_tensor *x, int dim, bool keepdim)
{
    HD__CALL("hd_argmin_dim");
    return place(HDK_ARGMIN, x, lane_mask(x, dim), keepdim);
}
