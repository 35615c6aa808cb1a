/* reductions.h - parts of reductions that softmax.c and loss_elements.c use, too: the reduced dims,
 * the way back to x's shape, and the division of a mean (reductions.c). */
#ifndef HEED_OPS_REDUCTIONS_H
#define HEED_OPS_REDUCTIONS_H

#include "tensor/reduce_dims.h"

/* The reduced dims, which the node of a reduction keeps for backward. */
typedef struct hd__op_span {
    uint32_t mask;
    bool keepdim;
    int correction; /* of var and std */
} hd__op_span;

/* An alias of y, the result of a reduction, in the shape before it: reduced dims have their old
 * sizes and strides of 0. */
hd_tensor *hd__op_spread(hd_tensor *y, int ndim, const int64_t *sizes, hd__op_span s);

/* y /= n in y's own precision; y is contiguous and of a float dtype. */
void hd__op_divide_by(hd_tensor *y, double n);

#endif
