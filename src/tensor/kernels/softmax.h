/* softmax.h - softmax, log_softmax, logsumexp and cumsum along lanes (lanes.h).
 *
 * The first index says where the lanes lie: HDK_LAST is the last dim, every operand with sn 1;
 * HDK_OTHER any other dim, any strides. The second is the dtype. Operand 0 is the result;
 * forward: 1 is x; backward: 1 is dy, 2 is y. The result may not overlap the others. Of the last
 * dim p says whether the result goes past the cache (float32). */
#ifndef HEED_KERNELS_SOFTMAX_H
#define HEED_KERNELS_SOFTMAX_H

#include "tensor/kernels/lanes.h"

enum { HDK_LAST, HDK_OTHER };

enum { HDK_SOFTMAX, HDK_SOFTMAX_BACKWARD, HDK_LOG_SOFTMAX, HDK_LOG_SOFTMAX_BACKWARD };

struct hdk_softmax {
    hdk_lane_kernel along[4][2][2];
    hdk_lane_kernel logsumexp[2]; /* one element a lane; any strides; n may be 0 */
    hdk_lane_kernel cumsum[3];    /* float32 and float64 add up in float64; int64 wraps */
};
HDK_FAMILY(hdk_softmax, HDK_F32)

#endif
