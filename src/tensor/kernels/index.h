/* index.h - are indices in range? */
#ifndef HEED_KERNELS_INDEX_H
#define HEED_KERNELS_INDEX_H

#include "tensor/kernels/kernels.h"

struct hdk_index {
    /* Are all `count` indices from 0 to n - 1? n >= 0 */
    bool (*in_range)(const int64_t *index, int64_t count, int64_t n);
};
HDK_FAMILY(hdk_index, HDK_I64)

#endif
