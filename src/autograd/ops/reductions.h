/* reductions.h - what the softmax and loss families share with reductions: which dims were reduced,
 * the way back to x's shape, and the division of a mean (reductions.c). */
#ifndef HEED_OPS_REDUCTIONS_H
#define HEED_OPS_REDUCTIONS_H

#include "tensor/reduce_dims.h"

/* The reduced dims, which the node of a reduction keeps for backward. */
typedef struct hd__span {
    uint32_t mask;
    bool keepdim;
    int correction; /* of var */
} hd__span;

/* An alias of y, which has the shape of a reduction's result: the reduced dims have their sizes
 * again, with strides of 0. */
hd_tensor *hd__spread(hd_tensor *y, int ndim, const int64_t *sizes, hd__span s);

/* y /= n in y's own precision; y is contiguous and of a float dtype. */
void hd__divide_by(hd_tensor *y, double n);

#endif
