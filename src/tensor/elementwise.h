/* elementwise.h - runs the kernels' loops over the elements of tensors (elementwise.c). */
#ifndef HEED_TENSOR_ELEMENTWISE_H
#define HEED_TENSOR_ELEMENTWISE_H

#include "tensor/dims.h"
#include "tensor/kernels/elementwise.h"

/* Calls f for each run of elements along the walk's innermost dim. Many elements are split into
 * tasks, which the threads share. data[i] points to operand i's first element. Unless `after` is
 * NULL, each task calls it at its end. */
void hd__loop(hdk_loop f, const void *params, const hd__dims *w, char *const *data,
              void (*after)(void));
/* Computes operands[0], the output, by the loop f from the other operands, which broadcast to the
 * output. Returns operands[0]. If operands[0] is NULL, computes nothing and returns NULL. */
hd_tensor *hd__map(hdk_loop f, const void *params, int n, hd_tensor *const *operands);
/* Does what hd__map does, for an output that shares no memory with the other operands. An output
 * that is too large for the cache is written past the cache. */
hd_tensor *hd__map_to_new(hdk_loop f, const void *params, int n, hd_tensor *const *operands);

/* Returns the dim of w that hd__loop_over_tiles should cut into tiles together with the innermost
 * one. It is a dim along which an input is dense. Returns 0 if tiles would not be faster. */
int hd__loop_tiled_dim(const hd__dims *w, hd_tensor *const *operands);
/* Does what hd__loop does, tile by tile; d is the result of hd__loop_tiled_dim. Removes two dims
 * from w. If f is NULL, copies the input to the output, which has the input's dtype and is dense
 * along the innermost dim. */
void hd__loop_over_tiles(hdk_loop f, const void *params, hd__dims *w, int d, char *const *data,
                         hd_tensor *const *operands);

/* A 0-d tensor that holds a number. It is in no scope, and lives as long as this struct. */
typedef struct hd__loop_number {
    hd_tensor t;
    hd__tensor_storage storage;
    int64_t bytes;
} hd__loop_number;

/* Makes *n a tensor of dtype d that holds s, and returns it. */
hd_tensor *hd__loop_number_of(hd__loop_number *n, hd_dtype d, hd_scalar s);

/* Returns a new tensor, with undefined values, for the result of an elementwise op on the n tensors
 * xs. It has dtype d and the shape to which xs broadcast. The order of its dims in memory follows
 * the inputs' strides, as in PyTorch's TensorIterator: the sum of two transposed tensors is
 * transposed. Returns NULL with an error if xs do not broadcast, or if memory runs out. */
hd_tensor *hd__loop_out(hd_dtype d, int n, hd_tensor *const *xs);

/* hd__map_unary applies the loop to x, and hd__map_binary to a and b. Both convert the inputs to
 * dtype `in` first, and return a new tensor, or NULL with an error. The result of hd__map_unary has
 * dtype `in`, and that of hd__map_binary has dtype `out`. */
hd_tensor *hd__map_unary(hdk_loop loop, const void *params, hd_dtype in, hd_tensor *x);
hd_tensor *hd__map_binary(hdk_loop loop, hd_dtype in, hd_dtype out, hd_tensor *a, hd_tensor *b);

/* hd__loop_add returns the new tensor a + b, or NULL with an error if memory runs out.
 * hd__loop_add_into computes y = y + b. The operands have the same shape and dtype; y may be b. */
hd_tensor *hd__loop_add(hd_tensor *a, hd_tensor *b);
void hd__loop_add_into(hd_tensor *y, hd_tensor *b);

/* Returns dx, computed from dy and a saved tensor by loop `op` of hdk_binary. If nobody but the
 * engine holds dy (hd__tensor_held_once), and saved has dy's dtype and shape, overwrites dy with dx
 * and returns dy. Returns NULL with an error if memory runs out. */
hd_tensor *hd__map_backward(int op, const void *params, hd_tensor *dy, hd_tensor *saved);

/* Returns the loop of hdk_binary's arithmetic op `op` for a and b, and sets *d to the dtype in
 * which it computes. Returns NULL with HD_DTYPE if the op does not take these dtypes; hd_sub, for
 * example, takes no bools. */
hdk_loop hd__loop_arith(int op, const hd_tensor *a, const hd_tensor *b, hd_dtype *d);
/* Returns the loop of hdk_binary's arithmetic op `op` for x and the number s. Sets *d to the dtype
 * in which it computes. Returns NULL with HD_DTYPE if the op does not take x's dtype. */
hdk_loop hd__loop_arith_scalar(int op, const hd_tensor *x, hd_scalar s, hd_dtype *d);

#endif
