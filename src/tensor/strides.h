/* strides.h - strides: how a tensor's elements lie in its storage (strides.c). */
#ifndef HEED_TENSOR_STRIDES_H
#define HEED_TENSOR_STRIDES_H

#include "tensor/tensor_struct.h"

/* True if x's elements, in some order of its dims, lie in memory without gaps. x is not empty. */
bool hd__tensor_dense(const hd_tensor *x);
/* Gives y, a fresh tensor or NULL, the order of x's dims in memory, if both have as many dims.
 * Returns y. */
hd_tensor *hd__tensor_laid_out_as(hd_tensor *y, const hd_tensor *x);

/* Writes the strides of a row-major tensor of these sizes. */
void hd__tensor_default_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* Recomputes numel and HD__F_CONTIGUOUS after sizes or strides were written. */
void hd__tensor_geometry_changed(hd_tensor *x);
/* For assertions: true if every index of x reaches an element of its storage. */
bool hd__tensor_inside_storage(const hd_tensor *x);

/* The strides of a view of x with these sizes. False if x's strides do not allow such a view. */
bool hd__tensor_view_strides(const hd_tensor *x, int ndim, const int64_t *sizes, int64_t *strides);
/* out = sizes for a view of x. One of them may be -1, and becomes the size that fits. Fails where
 * PyTorch's view does. */
bool hd__tensor_infer_sizes(const hd_tensor *x, int n, const int64_t *sizes, int64_t *out);

#endif
