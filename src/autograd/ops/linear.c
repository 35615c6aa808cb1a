/* linear.c - hd_linear, which computes x @ W^T + b in one pass, and hd_bilinear.
 *
 * All leading dims of x count as rows, so one backward serves all numbers of dims. As in PyTorch,
 * the node's name depends on x: a matrix, a single row, or rows that are folded into one matrix.
 * For a weight of 1 dim, and in hd_bilinear, other ops compute the product and the sum. */
#include <inttypes.h>

#include "autograd/record.h"
#include "tensor/lifecycle.h"
#include "tensor/product.h"
#include "tensor/tensor_args.h"

/* Returns the product of a and b in dtype d, as a tensor with the shape of n's input i; NULL with
 * an error if memory runs out. */
static hd_tensor *product_like(const hd__node *n, int i, hd_dtype d, hd__product_matrix a,
                               hd__product_matrix b)
{
    const hd__node_out_meta *meta = hd__node_input_meta(n, i);
    hd_tensor *c = hd__tensor_empty(d, meta->ndim, meta->sizes);
    if (c) {
        hd__product(a, b, hd__product_matrix_left(c), NULL);
    }
    return c;
}

/* y = x @ W^T + b:  dx += dy @ W,  dW += dy^T @ x,  db += sum of dy over rows */
static void linear_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    hd__product_matrix rows = hd__product_matrix_left(dy[0]);
    hd_tensor *x = hd__node_saved_get(n, 0),
              *weight = hd__node_saved_get(n, 1); /* (..., in), (out, in) */
    if (hd__node_needs(n, 0)) {
        dx[0] = product_like(n, 0, dy[0]->dtype, rows, hd__product_matrix_left(weight));
    }
    if (hd__node_needs(n, 1)) {
        dx[1] = product_like(n, 1, dy[0]->dtype, hd__product_matrix_t(rows),
                             hd__product_matrix_left(x));
    }
    if (hd__node_needs(n, 2)) {
        /* The engine sums dx[2] over the rows. For a single row there is no sum; adding 0 turns -0
         * into 0, as a sum would. */
        dx[2] = dy[0]->ndim > 1 ? dy[0] : hd_add_scalar(dy[0], 0);
    }
}

static const hd__op linear_op = HD__OP("AddmmBackward0", linear_backward);
static const hd__op linear_mm_op = HD__OP("MmBackward0", linear_backward);
static const hd__op linear_squeeze_op = HD__OP("SqueezeBackward4", linear_backward);
static const hd__op linear_unsafe_view_op = HD__OP("UnsafeViewBackward0", linear_backward);
static const hd__op linear_view_op = HD__OP("ViewBackward0", linear_backward);
static const hd__op add_op = HD__OP("AddBackward0", linear_backward);

/* Returns the op whose name PyTorch shows as grad_fn. If x and the bias are contiguous, PyTorch
 * adds the bias inside the product. */
static const hd__op *linear_op_for(const hd_tensor *x, const hd_tensor *bias)
{
    if (hd__tensor_is_none(bias)) {
        return x->ndim == 1   ? &linear_squeeze_op
               : x->ndim == 2 ? &linear_mm_op
                              : &linear_unsafe_view_op;
    }
    return x->ndim == 2                                      ? &linear_op
           : hd__tensor_contig(x) && hd__tensor_contig(bias) ? &linear_view_op
                                                             : &add_op;
}

static bool bias_fits(const hd_tensor *weight, const hd_tensor *bias)
{
    return hd__tensor_is_none(bias) || hd__tensor_has_sizes(bias, 1, weight->sizes) ||
           hd_fail(HD_SHAPE, "weight %s and bias %s: expected bias (%" PRId64 ",)",
                   HD__SHAPE(weight), HD__SHAPE(bias), weight->sizes[0]);
}

static bool linear_shapes_ok(const hd_tensor *x, const hd_tensor *weight, const hd_tensor *bias)
{
    if (x->ndim == 0 || weight->ndim != 2) {
        return hd_fail(HD_SHAPE, "x %s and weight %s: expected (..., in), and (out, in) or (in,)",
                       HD__SHAPE(x), HD__SHAPE(weight));
    }
    const int64_t in = x->sizes[x->ndim - 1], *sizes = weight->sizes;
    return (in == sizes[1] ||
            hd_fail(HD_SHAPE, "x %s and weight %s: inner sizes %" PRId64 " and %" PRId64 " differ",
                    HD__SHAPE(x), HD__SHAPE(weight), in, sizes[1])) &&
           bias_fits(weight, bias);
}

/* Returns x @ weight + bias, of shape (...), for x (..., in) and weight (in,); NULL with an error
 * on failure. */
static hd_tensor *one_output(hd_tensor *x, hd_tensor *weight, hd_tensor *bias)
{
    HD__SCOPE_OR(NULL);
    if (!hd__tensor_is_none(bias) && bias->ndim > 0) {
        return hd_fail(HD_SHAPE, "weight %s and bias %s: expected bias ()", HD__SHAPE(weight),
                       HD__SHAPE(bias));
    }
    hd_tensor *y = hd_matmul(x, weight);
    return hd_scope_return(y && !hd__tensor_is_none(bias) ? hd_add(y, bias) : y);
}

hd_tensor *hd_linear(hd_tensor *x, hd_tensor *weight, hd_tensor *bias)
{
    HD__CALL("hd_linear");
    if (!hd__tensor_arg("x", x) || !hd__tensor_any_arg("weight", weight, false) ||
        !hd__tensor_arg_or_none("bias", bias) ||
        !(weight->dtype == HD_BFLOAT16 && weight->ndim > 1
              ? hd__tensor_dtype_is("x", x, HD_FLOAT32)
              : hd__product_dtypes("x", x, "weight", weight)) ||
        (!hd__tensor_is_none(bias) && !hd__tensor_one_dtype("x", x, "bias", bias))) {
        return NULL;
    }
    if (weight->ndim == 1) {
        return one_output(x, weight, bias);
    }
    if (!linear_shapes_ok(x, weight, bias)) {
        return NULL;
    }
    hd_tensor *y = hd__tensor_empty_with(x->dtype, x, x->ndim, x->ndim - 1, weight->sizes[0]);
    if (!y) {
        return NULL;
    }
    hd__product(hd__product_matrix_left(x), hd__product_matrix_t(hd__product_matrix_left(weight)),
                hd__product_matrix_left(y), hd__tensor_is_none(bias) ? NULL : bias);
    hd_tensor *in[] = {x, weight, bias};
    hd_tensor *saved[] = {hd__record_save_if(hd__record_wants_grad(weight), x),
                          hd__record_save_if(hd__record_wants_grad(x), weight)};
    return HD__RECORD(linear_op_for(x, bias), y, HD__IN(3, in), HD__SAVES(2, saved));
}

/* ---------------------------------------------------------------- bilinear */

static bool bilinear_shapes_ok(const hd_tensor *x1, const hd_tensor *x2, const hd_tensor *weight,
                               const hd_tensor *bias)
{
    const int last = x1->ndim - 1;
    const int64_t *sizes = weight->sizes;
    bool fits = last >= 0 && x2->ndim == x1->ndim && weight->ndim == 3 &&
                x1->sizes[last] == sizes[1] && x2->sizes[last] == sizes[2] &&
                memcmp(x1->sizes, x2->sizes, (size_t)last * sizeof *sizes) == 0;
    return (fits || hd_fail(HD_SHAPE,
                            "x1 %s, x2 %s, weight %s: expected (..., in1), (..., in2) and (out, "
                            "in1, in2)",
                            HD__SHAPE(x1), HD__SHAPE(x2), HD__SHAPE(weight))) &&
           bias_fits(weight, bias);
}

/* Returns y[..., o] = sum over j of t[..., o, j] * x2[..., j], where
 * t[..., o, j] = sum over i of x1[..., i] * weight[o, i, j]; NULL on failure. */
static hd_tensor *bilinear(hd_tensor *x1, hd_tensor *x2, hd_tensor *weight)
{
    const int64_t out = weight->sizes[0], in1 = weight->sizes[1], in2 = weight->sizes[2];
    int64_t sizes[HD_MAX_DIMS + 1]; /* of t */
    memcpy(sizes, x1->sizes, sizeof x1->sizes);
    sizes[x1->ndim - 1] = out;
    sizes[x1->ndim] = in2;
    hd_tensor *columns = hd_reshape(hd_transpose(weight, 0, 1), in1, out * in2);
    hd_tensor *t = hd_view_n(hd_matmul(x1, columns), x1->ndim + 1, sizes);
    return hd_view_n(hd_matmul(t, hd_unsqueeze(x2, -1)), x1->ndim, sizes);
}

hd_tensor *hd_bilinear(hd_tensor *x1, hd_tensor *x2, hd_tensor *weight, hd_tensor *bias)
{
    HD__CALL("hd_bilinear");
    if (!hd__tensor_arg("x1", x1) || !hd__tensor_arg("x2", x2) ||
        !hd__tensor_arg("weight", weight) || !hd__tensor_arg_or_none("bias", bias) ||
        !hd__product_dtypes("x1", x1, "weight", weight) ||
        !hd__tensor_one_dtype("x1", x1, "x2", x2) ||
        (!hd__tensor_is_none(bias) && !hd__tensor_one_dtype("x1", x1, "bias", bias)) ||
        !bilinear_shapes_ok(x1, x2, weight, bias)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd_tensor *y = bilinear(x1, x2, weight);
    return hd_scope_return(hd__tensor_is_none(bias) ? y : hd_add(y, bias));
}
