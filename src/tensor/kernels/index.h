/* index.h - searches in many elements at once: for an index out of range, and for topk's next
 * candidate. */
#ifndef HEED_KERNELS_INDEX_H
#define HEED_KERNELS_INDEX_H

#include "tensor/kernels/kernels.h"

struct hdk_index {
    /* Returns true if 0 <= index[i] < n for all `count` indices; n >= 0. */
    bool (*in_range)(const int64_t *index, int64_t count, int64_t n);
    /* Returns the first i >= begin for which x[i] <= x[than] is false or, without `largest`, for
     * which x[i] >= x[than] is false. Returns n if there is no such i. So the search skips neither
     * a better element nor NaN. Indexed by dtype; NULL for bool. */
    int64_t (*next[4])(const void *x, int64_t begin, int64_t n, int64_t than, bool largest);
};
HDK_FAMILY(hdk_index, baseline, HDK_I64)

#endif
