/* reduce.h - reductions over any set of dims, made of walks along one dim (lanes.h); unrecorded. */
#ifndef HEED_TENSOR_REDUCE_H
#define HEED_TENSOR_REDUCE_H

#include "tensor/kernels/lanes.h"
#include "tensor/tensor_internal.h"

uint32_t hd__all_dims(const hd_tensor *x); /* a 0-d tensor has dim 0 */

/* An empty result for x reduced over the dims of mask. */
hd_tensor *hd__reduced(const char *function, const hd_tensor *x, uint32_t mask, bool keepdim,
                       hd_dtype d);

/* How a reduction may be cut. */
typedef enum hd__pieces {
    HD__PIECES,  /* pieces of a lane in any order, then their results by y's kernel */
    HD__WHOLE,   /* each lane whole, in any order */
    HD__IN_ORDER /* each lane whole, in x's logical order */
} hd__pieces;

/* y = x reduced over the dims of mask by kernels[dtype]; y contiguous, of the kept dims. extra: a
 * second result of y's shape, the kernel's operand 2, or NULL. Fails only for want of memory. */
bool hd__reduce(const char *function, const hdk_lane_kernel *kernels, hd__pieces pieces,
                hd_tensor *y, const hd_tensor *x, uint32_t mask, double p, hd_tensor *extra);

/* The sum of x over the dims of mask; of bool it is int64. */
hd_tensor *hd__sum(const char *function, hd_tensor *x, uint32_t mask, bool keepdim);

/* x summed to the shape that broadcasting made x from; x itself where it has that shape already.
 * NULL without an error where the shape does not fit. */
hd_tensor *hd__sum_to(const char *function, hd_tensor *x, int ndim, const int64_t *sizes);

#endif
