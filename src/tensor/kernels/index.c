/* index.c - are indices in range? */
#include "tensor/kernels/index.h"

/* An index is out of range if it or n - 1 - index is negative. */
static bool in_range(const int64_t *index, int64_t count, int64_t n)
{
    uint64_t last = (uint64_t)n - 1, all = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t at = (uint64_t)index[i];
        all |= at | (last - at);
    }
    return all >> 63 == 0;
}

const struct hdk_index HDK_TABLE(hdk_index) = {.in_range = in_range};
