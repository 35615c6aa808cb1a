/* index_kernels.c - the searches of index.h. */
#include "tensor/kernels/index.h"

/* An index is out of range if index or n - 1 - index is negative. */
static bool all_in_range(const int64_t *index, int64_t count, int64_t n)
{
    uint64_t last = (uint64_t)n - 1, all = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t at = (uint64_t)index[i];
        all |= at | (last - at);
    }
    return all >> 63 == 0;
}

enum { PART = 16 };

/* Raises i to the first index for which x[i] RELATION top is false, or to n. Tests PART elements at
 * once. All comparisons with NaN are false, so the negated RELATION also finds NaN. */
#define SCAN(RELATION)                                                                             \
    for (; i + PART <= n; i += PART) {                                                             \
        int found = 0;                                                                             \
        for (int j = 0; j < PART; j++) {                                                           \
            found |= !(x[i + j] RELATION top);                                                     \
        }                                                                                          \
        if (found) {                                                                               \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    while (i < n && x[i] RELATION top) {                                                           \
        i++;                                                                                       \
    }

#define NEXT(name, T)                                                                              \
    static int64_t name(const void *from, int64_t i, int64_t n, int64_t than, bool largest)        \
    {                                                                                              \
        const T *x = (const T *)from, top = x[than];                                               \
        if (largest) {                                                                             \
            SCAN(<=)                                                                               \
        } else {                                                                                   \
            SCAN(>=)                                                                               \
        }                                                                                          \
        return i;                                                                                  \
    }

NEXT(next_f32, float)
NEXT(next_f64, double)
NEXT(next_i64, int64_t)

const struct hdk_index HDK_TABLE(hdk_index) = {
    .in_range = all_in_range,
    .next = {next_f32, next_f64, next_i64, NULL},
};
