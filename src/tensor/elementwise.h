/* elementwise.h - loops over the elements of tensors, and what the elementwise ops share. */
#ifndef HEED_TENSOR_ELEMENTWISE_H
#define HEED_TENSOR_ELEMENTWISE_H

#include "tensor/dims.h"
#include "tensor/kernels/elementwise.h"

/* Runs f over the runs of the innermost dim, split over the pool when there are many elements. data
 * points to the first element of each operand. after, if it is not NULL, is called after the
 * elements of a task. */
void hd__loop(hdk_loop f, const void *params, const hd__dims *w, char *const *data,
              void (*after)(void));
/* The same over the elements of operands[0], the output, which the others broadcast to. Returns the
 * output; if that is NULL, nothing is computed. */
hd_tensor *hd__map(hdk_loop f, const void *params, int n, hd_tensor *const *operands);
/* The same where the output shares no memory with the others: it is written past the cache if the
 * cache could not keep it. */
hd_tensor *hd__map_to_new(hdk_loop f, const void *params, int n, hd_tensor *const *operands);

/* The dim of a walk, besides the innermost one, in which an input has its elements as neighbours,
 * so that it is transposed tile by tile; 0: there is none, or it is not worth it. */
int hd__loop_tiled_dim(const hd__dims *w, hd_tensor *const *operands);
/* hd__loop in such tiles, with d that dim. f NULL: the input becomes the output, which is of its
 * dtype and dense along the innermost dim. */
void hd__loop_over_tiles(hdk_loop f, const void *params, hd__dims *w, int d, char *const *data,
                         hd_tensor *const *operands);

/* A 0-d tensor on the stack that holds a number. It lives as long as the struct and is in no
 * scope. */
typedef struct hd__loop_number {
    hd_tensor t;
    hd__tensor_storage storage;
    int64_t bytes;
} hd__loop_number;

hd_tensor *hd__loop_number_of(hd__loop_number *n, hd_dtype d, hd_scalar s);

/* The result of an elementwise op on xs, of the shape that they broadcast to and of dtype d, with
 * undefined values. Its dims lie in memory in the order of the inputs' strides, as with PyTorch's
 * TensorIterator: the sum of two transposed tensors is transposed. */
hd_tensor *hd__loop_out(hd_dtype d, int n, hd_tensor *const *xs);

/* Runs a loop that computes f(x), or a op b. Inputs are converted to dtype `in` first; the
 * result of map_unary is of that dtype, too, and that of map_binary of dtype `out`. */
hd_tensor *hd__map_unary(hdk_loop loop, const void *params, hd_dtype in, hd_tensor *x);
hd_tensor *hd__map_binary(hdk_loop loop, hd_dtype in, hd_dtype out, hd_tensor *a, hd_tensor *b);

/* a + b, and y = y + b. All are of one shape and one dtype; y may be b. */
hd_tensor *hd__loop_add(hd_tensor *a, hd_tensor *b);
void hd__loop_add_into(hd_tensor *y, hd_tensor *b);

/* dx from dy and a saved tensor, by one of hdk_binary's loops. If only the engine has seen dy, the
 * result is written over it. */
hd_tensor *hd__map_backward(int op, const void *params, hd_tensor *dy, hd_tensor *saved);

/* The loop of an arithmetic op of hdk_binary on a and b, and the dtype d that it computes in.
 * Returns NULL and sets HD_DTYPE if the op does not take these dtypes (bools are not
 * subtracted). */
hdk_loop hd__loop_arith(int op, const hd_tensor *a, const hd_tensor *b, hd_dtype *d);
hdk_loop hd__loop_arith_scalar(int op, const hd_tensor *x, hd_scalar s, hd_dtype *d);

#endif
