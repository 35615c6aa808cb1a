/* matmul.c - matmul, dot and outer, with PyTorch's rules for vectors, matrices and batches.
 *
 * One backward function serves vectors, matrices and batches. PyTorch calls a different op for each
 * of these cases, so the names of the nodes differ, too. src/tensor/product.c computes the
 * products, and broadcasts batches. */
#include <inttypes.h>

#include "autograd/record.h"
#include "tensor/lifecycle.h"
#include "tensor/product.h"
#include "tensor/tensor_args.h"

/* y = a @ b:  da += dy @ b^T,  db += a^T @ dy, each summed over the batch dims that its operand
 * lacks */
static void matmul_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    for (int i = 0; i < 2; i++) {
        if (!hd__node_needs(n, i)) {
            continue;
        }
        const hd__node_out_meta *meta = hd__node_input_meta(n, i);
        hd_tensor *other = hd__node_saved_get(n, 1 - i);
        if (other->ndim == 1 && (i == 0 || meta->ndim == 1)) {
            /* Each element is a single product, so this calls hd_mul, which has a loop for a vector
             * times a number. hd__product would add each product to 0, which turns -0 into 0. */
            hd_tensor *g = hd_unsqueeze(dy[0], -1);
            dx[i] = dy[0]->ndim == 0 ? hd_mul(other, g) : hd_mul(g, other);
            continue;
        }
        dx[i] = hd__tensor_empty(dy[0]->dtype, meta->ndim, meta->sizes);
        if (!dx[i]) {
            return;
        }
        if (i == 0) {
            hd__product(hd__product_matrix_result(dy[0], meta->ndim == 1, other->ndim == 1),
                        hd__product_matrix_t(hd__product_matrix_right(other)),
                        hd__product_matrix_left(dx[i]), NULL);
        } else {
            hd__product(hd__product_matrix_t(hd__product_matrix_left(other)),
                        hd__product_matrix_result(dy[0], other->ndim == 1, meta->ndim == 1),
                        hd__product_matrix_right(dx[i]), NULL);
        }
    }
}

static const hd__op dot_op = HD__OP("DotBackward0", matmul_backward);
static const hd__op mv_op = HD__OP("MvBackward0", matmul_backward);
static const hd__op mm_op = HD__OP("MmBackward0", matmul_backward);
static const hd__op matmul_squeeze_op = HD__OP("SqueezeBackward4", matmul_backward);
static const hd__op matmul_unsafe_view_op = HD__OP("UnsafeViewBackward0", matmul_backward);
static const hd__op matmul_clone_op = HD__OP("CloneBackward0", matmul_backward);
static const hd__op matmul_transpose_op = HD__OP("TransposeBackward0", matmul_backward);

/* Returns the op whose name PyTorch shows as grad_fn. PyTorch folds a batch into the rows of one
 * matrix, and its last step is a view. If b is the batch, and the matrix a needs a gradient,
 * PyTorch folds the transposed batch. Its last step is then a copy, or a transposed view if no copy
 * is needed. */
static const hd__op *matmul_op_for(const hd_tensor *a, const hd_tensor *b, const hd_tensor *y)
{
    if (a->ndim <= 2 && b->ndim <= 2) {
        return a->ndim == 2   ? b->ndim == 2 ? &mm_op : &mv_op
               : b->ndim == 2 ? &matmul_squeeze_op
                              : &dot_op;
    }
    bool one_left =
        a->ndim == 2 || (a->ndim == 3 && b->ndim == 3 && a->sizes[0] == 1 && b->sizes[0] != 1);
    if (one_left && b->ndim > 2 && hd__record_wants_grad(a)) {
        bool line = y->numel == 0 || y->sizes[y->ndim - 1] == 1 || y->sizes[y->ndim - 2] == 1;
        return line ? &matmul_transpose_op : &matmul_clone_op;
    }
    return &matmul_unsafe_view_op;
}

/* Broadcasts the batch sizes of a with those of b, and writes the result to sizes. Returns the
 * number of sizes, or -1 with HD_SHAPE if they do not broadcast. */
static int batches(const hd_tensor *a, const hd_tensor *b, int64_t *sizes)
{
    int na = a->ndim > 2 ? a->ndim - 2 : 0, nb = b->ndim > 2 ? b->ndim - 2 : 0, n = na;
    memcpy(sizes, a->sizes, sizeof *sizes * (size_t)na);
    int bad = hd__tensor_broadcast_with(&n, sizes, nb, b->sizes);
    if (bad > 0) {
        hd_fail(HD_SHAPE,
                "%s and %s: batch sizes %" PRId64 " and %" PRId64 " at dim -%d do not broadcast",
                HD__SHAPE(a), HD__SHAPE(b), a->sizes[na - bad], b->sizes[nb - bad], bad + 2);
        return -1;
    }
    return n;
}

/* Returns the product of a and b, recorded. NULL with an error unless the shapes fit, and a and b
 * have 1 to `most` dims. `expected` says this number of dims in words. */
static hd_tensor *multiply(hd_tensor *a, hd_tensor *b, int most, const char *expected)
{
    if (!hd__tensor_two_args(a, b) || !hd__product_dtypes("a", a, "b", b)) {
        return NULL;
    }
    if (a->ndim < 1 || b->ndim < 1 || a->ndim > most || b->ndim > most) {
        return hd_fail(HD_SHAPE, "%s and %s: expected %s each", HD__SHAPE(a), HD__SHAPE(b),
                       expected);
    }
    hd__product_matrix left = hd__product_matrix_left(a), right = hd__product_matrix_right(b);
    int64_t sizes[HD_MAX_DIMS];
    if (left.cols != right.rows) {
        return hd_fail(HD_SHAPE, "%s and %s: inner sizes %" PRId64 " and %" PRId64 " differ",
                       HD__SHAPE(a), HD__SHAPE(b), left.cols, right.rows);
    }
    int n = batches(a, b, sizes);
    if (n < 0) {
        return NULL;
    }
    if (a->ndim > 1) {
        sizes[n++] = left.rows;
    }
    if (b->ndim > 1) {
        sizes[n++] = right.cols;
    }
    hd_tensor *y = hd__tensor_empty(a->dtype, n, sizes);
    if (!y) {
        return NULL;
    }
    hd__product(left, right, hd__product_matrix_result(y, a->ndim == 1, b->ndim == 1), NULL);
    hd_tensor *in[] = {a, b};
    hd_tensor *saved[] = {hd__record_save_if(hd__record_wants_grad(b), a),
                          hd__record_save_if(hd__record_wants_grad(a), b)};
    return HD__RECORD(matmul_op_for(a, b, y), y, HD__IN(2, in), HD__SAVES(2, saved));
}

hd_tensor *hd_matmul(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_matmul");
    return multiply(a, b, HD_MAX_DIMS, "1 or more dims");
}

hd_tensor *hd_dot(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_dot");
    return multiply(a, b, 1, "1 dim");
}

hd_tensor *hd_outer(hd_tensor *a, hd_tensor *b)
{
    HD__CALL("hd_outer");
    if (!hd__tensor_two_args(a, b)) {
        return NULL;
    }
    if (a->ndim != 1 || b->ndim != 1) {
        return hd_fail(HD_SHAPE, "%s and %s: expected 1 dim each", HD__SHAPE(a), HD__SHAPE(b));
    }
    HD__SCOPE_OR(NULL);
    return hd_scope_return(hd_mul(hd_unsqueeze(a, 1), b));
}
