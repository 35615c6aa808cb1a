/* lanes.h - the shape of work that reductions and other operations along one dim hand to kernels.
 *
 * k independent lanes of n elements each: element i of lane j of operand o lies at
 * data[o] + i * sn[o] + j * sk[o], counted in elements of that operand. An operand that has one
 * element a lane has sn 0. Lanes never depend on each other, so that any cut over k gives the
 * same bits. */
#ifndef HEED_KERNELS_LANES_H
#define HEED_KERNELS_LANES_H

#include "tensor/kernels/kernels.h"

enum { HDK_LANE_OPERANDS = 4 };

typedef struct hdk_lanes {
    int64_t n, k;
    int64_t sn[HDK_LANE_OPERANDS], sk[HDK_LANE_OPERANDS];
} hdk_lanes;

/* p: a number of the kernel's own, as the divisor of a variance. */
typedef void (*hdk_lane_kernel)(const hdk_lanes *l, void *const *data, double p);

#endif
