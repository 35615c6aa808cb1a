/* lanes.h - the work that operations along one dim, such as reductions, hand to kernels.
 *
 * There are k lanes, the vectors along that dim, of n elements each. Element i of lane j of operand
 * o lies at data[o] + i * sn[o] + j * sk[o]; these strides count elements. An operand with one
 * element per lane has sn 0. Lanes never depend on each other, so no bit depends on how the lanes
 * are cut into calls. */
#ifndef HEED_KERNELS_LANES_H
#define HEED_KERNELS_LANES_H

#include <stdlib.h>

#include "tensor/kernels/kernels.h"

enum { HDK_LANE_OPERANDS = 4 };

typedef struct hdk_lanes {
    int64_t n, k;
    int64_t sn[HDK_LANE_OPERANDS], sk[HDK_LANE_OPERANDS];
} hdk_lanes;

/* True if kernels read operand 1 lane by lane, because the elements of a lane are adjacent or lie
 * closer together than the lanes, or because all lanes are one and the same. */
static inline bool hdk_lanes_apart(const hdk_lanes *l)
{
    int64_t sn = llabs(l->sn[1]), sk = llabs(l->sk[1]);
    return sn == 1 || sn < sk || sk == 0;
}

/* p is a number for the kernels that need one, such as the divisor of a variance. */
typedef void (*hdk_lane_kernel)(const hdk_lanes *l, void *const *data, double p);

#endif
