/* rotary.h - rotary position embedding, over lanes (lanes.h) of an even n, with sn 1 for all
 * operands: y, x, cos and sin. `turn` computes y = x * cos + (-x2, x1) * sin, where x1 and x2 are
 * the halves of a lane. */
#ifndef HEED_KERNELS_ROTARY_H
#define HEED_KERNELS_ROTARY_H

#include "tensor/kernels/lanes.h"

struct hdk_rotary {
    hdk_lane_kernel turn[2]; /* indexed by dtype: float32, float64 */
};
HDK_FAMILY_AVX2(hdk_rotary, baseline)

#endif
