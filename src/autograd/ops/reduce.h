/* reduce.h - what the files of the reduce and softmax families share: which dims were reduced, and
 * the way back to x's shape. */
#ifndef HEED_OPS_REDUCE_H
#define HEED_OPS_REDUCE_H

#include "autograd/autograd_internal.h"

/* The reduced dims; what backward of a reduction keeps. */
typedef struct hd__span {
    uint32_t mask;
    bool keepdim;
    int correction; /* of var */
} hd__span;

uint32_t hd__all_dims(const hd_tensor *x); /* a 0-d tensor has dim 0 */

/* An empty result for x reduced over the dims of mask. */
hd_tensor *hd__reduced(const char *function, const hd_tensor *x, uint32_t mask, bool keepdim,
                       hd_dtype d);

/* y, of such a result's shape, over all of sizes again: an alias with strides of 0. */
hd_tensor *hd__spread(hd_tensor *y, int ndim, const int64_t *sizes, hd__span s);

#endif
