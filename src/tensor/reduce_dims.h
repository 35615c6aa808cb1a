/* reduce_dims.h - reductions over the dims of a bit mask, without autograd (reduce_dims.c). */
#ifndef HEED_TENSOR_REDUCE_DIMS_H
#define HEED_TENSOR_REDUCE_DIMS_H

#include "heed/tensor.h"
#include "tensor/kernels/lanes.h"

/* Returns a new tensor of dtype d, with undefined values, for the result of reducing x over the
 * dims of mask. With keepdim these dims stay, with size 1. Returns NULL with an error if memory
 * runs out. */
hd_tensor *hd__reduced(const hd_tensor *x, uint32_t mask, bool keepdim, hd_dtype d);

/* How a reduction may cut a lane. A lane is all elements of x that are reduced to one result. */
typedef enum hd__reduce_pieces {
    HD__PIECES,  /* cuts lanes into pieces; kernels[y->dtype] then reduces the pieces' results */
    HD__WHOLE,   /* takes each lane whole, its elements in any order */
    HD__IN_ORDER /* takes each lane whole, its elements in x's logical order */
} hd__reduce_pieces;

/* Sets y to x reduced over the dims of mask by kernels[x->dtype], which gets the number p. y is
 * contiguous and has the kept dims. Unless `extra` is NULL, the kernel writes its second result,
 * operand 2, to `extra`. Returns false with an error only if memory runs out. */
bool hd__reduce(const hdk_lane_kernel *kernels, hd__reduce_pieces pieces, hd_tensor *y,
                const hd_tensor *x, uint32_t mask, double p, hd_tensor *extra);

/* Returns x reduced over the dims of mask by a kernel of hdk_reduce, such as HDK_SUM, as a new
 * tensor of dtype d. Returns NULL with an error if memory runs out. */
hd_tensor *hd__reduce_to(int kernel, hd__reduce_pieces pieces, const hd_tensor *x, uint32_t mask,
                         bool keepdim, hd_dtype d);

/* Returns the sum of x over the dims of mask as a new tensor, or NULL with an error if memory runs
 * out. The sum of bools is int64. */
hd_tensor *hd__reduce_sum(hd_tensor *x, uint32_t mask, bool keepdim);

/* Undoes broadcasting: returns x summed to the shape sizes[ndim]. Returns x itself if it has this
 * shape. Returns NULL without an error if this shape does not broadcast to x's, and NULL with an
 * error if memory runs out. */
hd_tensor *hd__reduce_sum_to(hd_tensor *x, int ndim, const int64_t *sizes);

#endif
