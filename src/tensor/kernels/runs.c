/* runs.c - brings operands of any strides to loops over contiguous ones. Compiled once. */
#include <string.h>

#include "tensor/kernels/elementwise.h"

enum { RUN = 256 }; /* elements */

#define STRIDED(T)                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                              \
        *(T *)(to + i * to_stride) = *(const T *)(from + i * from_stride);                         \
    }                                                                                              \
    break

/* Fills `to` with n times its first element. */
static void repeat_first(char *to, int64_t n, int64_t size)
{
    for (int64_t have = 1, more; have < n; have += more) {
        more = n - have < have ? n - have : have;
        memcpy(to + have * size, to, (size_t)(more * size));
    }
}

/* n elements of 1, 4 or 8 bytes */
static void copy_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                         int64_t n, int size)
{
    switch (size) {
    case 1: STRIDED(uint8_t);
    case 4: STRIDED(uint32_t);
    default: STRIDED(uint64_t);
    }
}

void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params)
{
    _Alignas(64) char room[4][RUN * sizeof(uint64_t)];
    char *at[4];
    int64_t size[4];
    for (int k = 0; k < o->n; k++) {
        size[k] = o->size[k];
        at[k] = strides[k] == size[k] ? data[k] : room[k];
        if (k > 0 && strides[k] == 0) { /* one value for all runs */
            memcpy(room[k], data[k], (size_t)size[k]);
            repeat_first(room[k], n < RUN ? n : RUN, size[k]);
        }
    }
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < RUN ? n - i : RUN;
        for (int k = 0; k < o->n; k++) {
            if (strides[k] == size[k]) {
                at[k] = data[k] + i * size[k];
            } else if (k > 0 && strides[k] != 0) {
                copy_strided(room[k], size[k], data[k] + i * strides[k], strides[k], m, o->size[k]);
            }
        }
        f(at, size, m, params);
        if (at[0] == room[0]) {
            copy_strided(data[0] + i * strides[0], strides[0], room[0], size[0], m, o->size[0]);
        }
    }
}
