/* elementwise.h - runs the kernels' loops over the elements of tensors (elementwise.c). */
#ifndef HEED_TENSOR_ELEMENTWISE_H
#define HEED_TENSOR_ELEMENTWISE_H

#include "tensor/dims.h"
#include "tensor/kernels/elementwise.h"

/* Calls f for each run along the walk's innermost dim. Splits many elements into tasks of the pool.
 * data[i]: operand i's first element. Each task ends with `after`, unless it is NULL. */
void hd__loop(hdk_loop f, const void *params, const hd__dims *w, char *const *data,
              void (*after)(void));
/* Calls f for all elements of operands[0], the output, to which the others broadcast. Returns the
 * output. If it is NULL, computes nothing. */
hd_tensor *hd__map(hdk_loop f, const void *params, int n, hd_tensor *const *operands);
/* hd__map for an output that shares no memory with the other operands. Writes an output that is too
 * large for the cache past the cache. */
hd_tensor *hd__map_to_new(hdk_loop f, const void *params, int n, hd_tensor *const *operands);

/* A dim of the walk, not the innermost, in which an input is dense, so that tiles pay; 0: none. */
int hd__loop_tiled_dim(const hd__dims *w, hd_tensor *const *operands);
/* hd__loop in tiles; d is the dim of hd__loop_tiled_dim. f NULL copies the input to the output,
 * which has its dtype and is dense along the innermost dim. */
void hd__loop_over_tiles(hdk_loop f, const void *params, hd__dims *w, int d, char *const *data,
                         hd_tensor *const *operands);

/* A 0-d tensor with a number. It is in no scope, and lives as long as the struct. */
typedef struct hd__loop_number {
    hd_tensor t;
    hd__tensor_storage storage;
    int64_t bytes;
} hd__loop_number;

hd_tensor *hd__loop_number_of(hd__loop_number *n, hd_dtype d, hd_scalar s);

/* A tensor for the result of an elementwise op on xs, of dtype d and the shape that they broadcast
 * to, with undefined values. The order of its dims in memory follows the inputs' strides, as with
 * PyTorch's TensorIterator: the sum of two transposed tensors is transposed. */
hd_tensor *hd__loop_out(hd_dtype d, int n, hd_tensor *const *xs);

/* f(x), and a op b. The inputs are converted to dtype `in` first. The result is of dtype `in`; that
 * of map_binary of dtype `out`. */
hd_tensor *hd__map_unary(hdk_loop loop, const void *params, hd_dtype in, hd_tensor *x);
hd_tensor *hd__map_binary(hdk_loop loop, hd_dtype in, hd_dtype out, hd_tensor *a, hd_tensor *b);

/* a + b, and y = y + b. The operands have the same shape and dtype; y may be b. */
hd_tensor *hd__loop_add(hd_tensor *a, hd_tensor *b);
void hd__loop_add_into(hd_tensor *y, hd_tensor *b);

/* dx from dy and a saved tensor, by loop `op` of hdk_binary. Overwrites dy with the result if
 * nobody but the engine holds dy (hd__tensor_held_once). */
hd_tensor *hd__map_backward(int op, const void *params, hd_tensor *dy, hd_tensor *saved);

/* The loop of an arithmetic op of hdk_binary on a and b. *d becomes the dtype that it computes in.
 * NULL with HD_DTYPE if the op does not take these dtypes (hd_sub takes no bools). */
hdk_loop hd__loop_arith(int op, const hd_tensor *a, const hd_tensor *b, hd_dtype *d);
/* The same for x and the number s. */
hdk_loop hd__loop_arith_scalar(int op, const hd_tensor *x, hd_scalar s, hd_dtype *d);

#endif
