/* reduce.h - what the files of the reduce, softmax and loss families share: which dims were
 * reduced, the way back to x's shape, and the division of a mean. */
#ifndef HEED_OPS_REDUCE_H
#define HEED_OPS_REDUCE_H

#include "autograd/autograd_internal.h"
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

/* Is x what softmax over dim gave, not changed since, or a view of it whose lanes along dim are
 * lanes of the softmax? (softmax.c) */
bool hd__is_softmax(const hd_tensor *x, int dim);

/* y /= n in y's own precision; y is contiguous and of a float dtype. */
void hd__divide_by(hd_tensor *y, double n);

#endif
