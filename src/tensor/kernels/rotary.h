/* rotary.h - rotary position embedding of lanes (lanes.h). The operands are y, x, cos and sin. The
 * elements of a lane are contiguous, and their number n is even. `turn` computes y = x * cos +
 * (-x2, x1) * sin, where x1 and x2 are the halves of a lane. */
#ifndef HEED_KERNELS_ROTARY_H
#define HEED_KERNELS_ROTARY_H

#include "tensor/kernels/lanes.h"

struct hdk_rotary {
    hdk_lane_kernel turn[2]; /* indexed by dtype: float32, float64 */
};
HDK_FAMILY_AVX2(hdk_rotary, baseline)

#endif
