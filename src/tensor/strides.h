/* strides.h - strides: how a tensor's elements lie in its storage (strides.c). */
#ifndef HEED_TENSOR_STRIDES_H
#define HEED_TENSOR_STRIDES_H

#include "tensor/tensor_struct.h"

/* True if x's elements, in some order of its dims, lie in memory without gaps. x is not empty. */
bool hd__tensor_dense(const hd_tensor *x);
/* Gives y, which is a new tensor, strides that put its dims into the order of x's dims in memory.
 * Changes nothing if x and y differ in ndim. Returns y, which may be NULL. */
hd_tensor *hd__tensor_laid_out_as(hd_tensor *y, const hd_tensor *x);

/* Writes the strides of a row-major tensor of these sizes to strides[]. */
void hd__tensor_default_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* Recomputes x's numel and HD__F_CONTIGUOUS after its sizes or strides were written. */
void hd__tensor_geometry_changed(hd_tensor *x);
/* For assertions: true if every index of x reaches an element of its storage. */
bool hd__tensor_inside_storage(const hd_tensor *x);

/* Writes the strides of a view of x with these sizes to strides[]. Returns false, without an error,
 * if x's strides do not allow such a view. */
bool hd__tensor_view_strides(const hd_tensor *x, int ndim, const int64_t *sizes, int64_t *strides);
/* Writes sizes[n], the requested sizes of a view of x, to out. One of them may be -1; it becomes
 * the size with which the view has as many elements as x. Returns false with an error where
 * PyTorch's view fails. */
bool hd__tensor_infer_sizes(const hd_tensor *x, int n, const int64_t *sizes, int64_t *out);

#endif
