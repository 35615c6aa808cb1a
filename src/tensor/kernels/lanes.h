/* lanes.h - the shape of the work that operations along one dim, such as reductions, hand to
 * kernels.
 *
 * There are k lanes of n elements each. Element i of lane j of operand o lies at data[o] + i *
 * sn[o] + j * sk[o], counted in elements of that operand. An operand that has one element a lane
 * has sn 0. Lanes never depend on each other, so that any cut over k gives the same bits. */
#ifndef HEED_KERNELS_LANES_H
#define HEED_KERNELS_LANES_H

#include "tensor/kernels/kernels.h"

enum { HDK_LANE_OPERANDS = 4 };

typedef struct hdk_lanes {
    int64_t n, k;
    int64_t sn[HDK_LANE_OPERANDS], sk[HDK_LANE_OPERANDS];
} hdk_lanes;

/* p is a number that some kernels take, such as the divisor of a variance. */
typedef void (*hdk_lane_kernel)(const hdk_lanes *l, void *const *data, double p);

#endif
