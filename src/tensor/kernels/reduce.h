/* reduce.h - reductions along lanes (lanes.h). Operand 0 is the result, one element per lane;
 * operand 1 is x. Tables are indexed by hd_dtype; NULL if the op does not take the dtype. */
#ifndef HEED_KERNELS_REDUCE_H
#define HEED_KERNELS_REDUCE_H

#include "tensor/kernels/lanes.h"

enum {
    HDK_SUM,    /* the sum in x's dtype; int64 wraps; the sum of bools is int64 */
    HDK_MAX,    /* the maximum, or NaN if the lane has a NaN; n >= 1 */
    HDK_MIN,    /* the minimum, or NaN if the lane has a NaN; n >= 1 */
    HDK_ANY,    /* bool: true if any element is not 0 */
    HDK_ALL,    /* bool: true if no element is 0 */
    HDK_VAR,    /* sum((x - mean)^2) / p, computed in float64 */
    HDK_ARGMAX, /* int64: index of the first maximum or NaN; operand 2 gets its value, if given */
    HDK_ARGMIN, /* int64: index of the first minimum or NaN; operand 2 gets its value, if given */
    HDK_REDUCTIONS
};

/* The most elements of a lane that HDK_SUM takes, because its tree of partial sums has levels for
 * this many. Callers cut longer lanes into pieces. */
enum { HDK_SUM_MAX = 65536 };

struct hdk_reduce {
    hdk_lane_kernel kernel[HDK_REDUCTIONS][4];
    /* An hdk_loop that computes data[0] = data[2] * (data[1] - data[3]); data[0] is contiguous. */
    hdk_loop center[2];
    /* Return sum((x - t)^2) of contiguous x and t, in HDK_SUM's order; n <= HDK_SUM_MAX. */
    float (*distance_f32)(const float *x, const float *t, int64_t n);
    double (*distance_f64)(const double *x, const double *t, int64_t n);
};

HDK_FAMILY_AVX2(hdk_reduce, plain)

#endif
