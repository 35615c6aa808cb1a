/* reductions.h - parts of reductions that softmax.c and loss_elements.c use, too: the reduced dims,
 * the expansion of a result to x's shape, and the division of a mean (reductions.c). */
#ifndef HEED_OPS_REDUCTIONS_H
#define HEED_OPS_REDUCTIONS_H

#include "tensor/reduce_dims.h"

/* The reduced dims of a reduction, which its node keeps for backward. */
typedef struct hd__op_span {
    uint32_t mask;  /* bit d is set if dim d is reduced */
    bool keepdim;   /* the reduced dims stay, with size 1 */
    int correction; /* the correction of var and std; else 0 */
} hd__op_span;

/* Returns an alias of y, the result of reduction s, in the shape of the reduced tensor. The reduced
 * dims have strides of 0. */
hd_tensor *hd__op_spread(hd_tensor *y, int ndim, const int64_t *sizes, hd__op_span s);

/* Divides y, contiguous and of a float dtype, by n in that dtype. */
void hd__op_divide_by(hd_tensor *y, double n);

#endif
