/* index.h - looking through many elements at once, without writing: is 0 <= index[i] < n for every
 * i, and which is the first element that topk may want. */
#ifndef HEED_KERNELS_INDEX_H
#define HEED_KERNELS_INDEX_H

#include "tensor/kernels/kernels.h"

struct hdk_index {
    /* Are all `count` indices from 0 to n - 1? n >= 0 */
    bool (*in_range)(const int64_t *index, int64_t count, int64_t n);
    /* The first i >= begin for which x[i] may be larger (not largest: smaller) than x[than], or n.
     * It passes over none that is, and over no NaN. By dtype; there is none for bool. */
    int64_t (*next[4])(const void *x, int64_t begin, int64_t n, int64_t than, bool largest);
};
HDK_FAMILY(hdk_index, baseline, HDK_I64)

#endif
