/* reduce_dims.h - unrecorded reductions over the dims of a bit mask (reduce_dims.c). */
#ifndef HEED_TENSOR_REDUCE_DIMS_H
#define HEED_TENSOR_REDUCE_DIMS_H

#include "heed/tensor.h"
#include "tensor/kernels/lanes.h"

/* A tensor of dtype d for x reduced over the dims of mask, with undefined values. */
hd_tensor *hd__reduced(const hd_tensor *x, uint32_t mask, bool keepdim, hd_dtype d);

/* How a reduction may cut a lane, the elements of one result. */
typedef enum hd__reduce_pieces {
    HD__PIECES,  /* pieces of a lane in any order, then their results by y's kernel */
    HD__WHOLE,   /* each lane whole, its elements in any order */
    HD__IN_ORDER /* each lane whole, its elements in x's logical order */
} hd__reduce_pieces;

/* y = x reduced over the dims of mask by kernels[dtype] with the number p. y is contiguous and has
 * the kept dims. extra: a second result, the kernel's operand 2, or NULL. Fails only if memory runs
 * out. */
bool hd__reduce(const hdk_lane_kernel *kernels, hd__reduce_pieces pieces, hd_tensor *y,
                const hd_tensor *x, uint32_t mask, double p, hd_tensor *extra);

/* x reduced over the dims of mask by a kernel of hdk_reduce, as a fresh tensor of dtype d. */
hd_tensor *hd__reduce_to(int kernel, hd__reduce_pieces pieces, const hd_tensor *x, uint32_t mask,
                         bool keepdim, hd_dtype d);

/* The sum of x over the dims of mask; the sum of bools is int64. */
hd_tensor *hd__reduce_sum(hd_tensor *x, uint32_t mask, bool keepdim);

/* Undoes broadcasting: sums x to `sizes`. Returns x itself if it has these sizes; NULL without an
 * error if they do not broadcast to x's. */
hd_tensor *hd__reduce_sum_to(hd_tensor *x, int ndim, const int64_t *sizes);

#endif
