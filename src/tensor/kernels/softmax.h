/* softmax.h - softmax, log_softmax, logsumexp and cumsum along lanes (lanes.h).
 *
 * The first index is the operation. The second says where the lanes lie: HDK_LAST is the last dim,
 * where every operand has sn 1, and HDK_OTHER any other dim, with any strides. The third is the
 * dtype. Operand 0 is the result, which may not overlap the others, except that
 * backward over HDK_OTHER it may be dy. Forward, operand 1 is x;
 * backward, 1 is dy and 2 is y. For the last dim p says whether the result goes past the cache
 * (float32). */
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
HDK_FAMILY(hdk_softmax, plain, HDK_F32)

/* The kernel of the level in use. If it has none, that of the common table (kernels.h) serves. */
static inline hdk_lane_kernel hdk_softmax_along(int op, int where, int dtype)
{
    hdk_lane_kernel kernel = hdk_softmax()->along[op][where][dtype];
    return kernel ? kernel : hdk_softmax_common()->along[op][where][dtype];
}

#endif
