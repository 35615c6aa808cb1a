/* softmax.h - softmax, log_softmax, logsumexp and cumsum along lanes (lanes.h).
 *
 * `along` is indexed by the operation, by the place of the lanes, and by the dtype. HDK_LAST is the
 * last dim, where every operand has sn 1; HDK_OTHER is any other dim, with any strides. Operand 0
 * is the result. In forward, operand 1 is x. In backward, operand 1 is dy and operand 2 is y. The
 * result overlaps no other operand, except that backward over HDK_OTHER may write to dy itself. For
 * HDK_LAST, p is not 0 if the result is to be written past the cache (float32 only). */
#ifndef HEED_KERNELS_SOFTMAX_H
#define HEED_KERNELS_SOFTMAX_H

#include "tensor/kernels/lanes.h"

enum { HDK_LAST, HDK_OTHER };

enum { HDK_SOFTMAX, HDK_SOFTMAX_BACKWARD, HDK_LOG_SOFTMAX, HDK_LOG_SOFTMAX_BACKWARD };

struct hdk_softmax {
    hdk_lane_kernel along[4][2][2];
    hdk_lane_kernel logsumexp[2]; /* one result per lane; any strides; n may be 0 */
    hdk_lane_kernel cumsum[3];    /* floats are summed in float64; int64 wraps */
};
HDK_FAMILY(hdk_softmax, plain, HDK_F32)

/* Returns the CPU level's kernel or, if it has none, the kernel of the common table (kernels.h). */
static inline hdk_lane_kernel hdk_softmax_along(int op, int where, int dtype)
{
    hdk_lane_kernel kernel = hdk_softmax()->along[op][where][dtype];
    return kernel ? kernel : hdk_softmax_common()->along[op][where][dtype];
}

#endif
