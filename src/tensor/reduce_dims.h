/* reduce_dims.h - unrecorded reductions over any set of dims, made of walks along one dim
 * (lanes.h). */
#ifndef HEED_TENSOR_REDUCE_DIMS_H
#define HEED_TENSOR_REDUCE_DIMS_H

#include "heed/tensor.h"
#include "tensor/kernels/lanes.h"

/* A fresh tensor for x reduced over the dims of mask, with undefined values. */
hd_tensor *hd__reduced(const hd_tensor *x, uint32_t mask, bool keepdim, hd_dtype d);

/* How a reduction may be cut. */
typedef enum hd__pieces {
    HD__PIECES,  /* pieces of a lane in any order, then their results by y's kernel */
    HD__WHOLE,   /* each lane whole, in any order */
    HD__IN_ORDER /* each lane whole, in x's logical order */
} hd__pieces;

/* y = x reduced over the dims of mask by kernels[dtype]. y is contiguous and has the kept dims.
 * extra: NULL, or a second result of y's shape, the kernel's operand 2. Fails only if memory runs
 * out. */
bool hd__reduce(const hdk_lane_kernel *kernels, hd__pieces pieces, hd_tensor *y, const hd_tensor *x,
                uint32_t mask, double p, hd_tensor *extra);

/* A fresh tensor of dtype d: x reduced over the dims of mask by a kernel of hdk_reduce. */
hd_tensor *hd__reduce_to(int kernel, hd__pieces pieces, const hd_tensor *x, uint32_t mask,
                         bool keepdim, hd_dtype d);

/* The sum of x over the dims of mask; the sum of bools is int64. */
hd_tensor *hd__sum(hd_tensor *x, uint32_t mask, bool keepdim);

/* x summed to the shape that was broadcast to x's; x itself if it has that shape. Returns NULL and
 * sets no error if that shape does not broadcast to x's. */
hd_tensor *hd__sum_to(hd_tensor *x, int ndim, const int64_t *sizes);

#endif
