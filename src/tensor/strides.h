/* strides.h - how a tensor's elements lie in its storage (strides.c). */
#ifndef HEED_TENSOR_STRIDES_H
#define HEED_TENSOR_STRIDES_H

#include "tensor/tensor_struct.h"

/* Do x's elements, in some order of its dims, lie side by side? x has elements. */
bool hd__dense(const hd_tensor *x);
/* Lays y, which is fresh or NULL, out with its dims in the order of x's in memory, if x has as
 * many. Returns y. */
hd_tensor *hd__laid_out_as(hd_tensor *y, const hd_tensor *x);

/* The strides of a row-major tensor of these sizes. */
void hd__default_strides(int ndim, const int64_t *sizes, int64_t *strides);
/* Recomputes numel and HD__F_CONTIGUOUS after sizes or strides were written. */
void hd__geometry_changed(hd_tensor *x);
/* For assertions: does every index of x reach an element of its storage? */
bool hd__inside_storage(const hd_tensor *x);

/* The strides for viewing x as sizes without a copy; false if its layout does not allow that. */
bool hd__view_strides(const hd_tensor *x, int ndim, const int64_t *sizes, int64_t *strides);
/* out = sizes, of which one may be -1: it becomes what x's number of elements leaves for it. The
 * errors are those of PyTorch's view. */
bool hd__infer_sizes(const hd_tensor *x, int n, const int64_t *sizes, int64_t *out);

#endif
