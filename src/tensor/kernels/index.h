/* index.h - searches in many elements at once: for an index out of range, and for topk's next
 * candidate. */
#ifndef HEED_KERNELS_INDEX_H
#define HEED_KERNELS_INDEX_H

#include "tensor/kernels/kernels.h"

struct hdk_index {
    /* True if 0 <= index[i] < n for all `count` indices; n >= 0. */
    bool (*in_range)(const int64_t *index, int64_t count, int64_t n);
    /* The first i >= begin at which x[i] may be larger than x[than] (smaller, if not `largest`), or
     * n. It skips no such element and no NaN. By dtype; NULL for bool. */
    int64_t (*next[4])(const void *x, int64_t begin, int64_t n, int64_t than, bool largest);
};
HDK_FAMILY(hdk_index, baseline, HDK_I64)

#endif
