/* runs.c - brings operands of any strides, and of any number, to the loops (loops.h). */
#include <string.h>

#include "tensor/kernels/loops.h"

enum { ROOM = 2048 }; /* bytes of an operand's run */

/* Elements of every second place, as in x[:, ::2], are gathered by vectors. No place between those
 * of the output is written, since another thread may write it; so they are written one by one, and
 * four in a turn. */
#define COPY(name, T)                                                                              \
    static void gather_##name(T *restrict to, const char *from, int64_t stride, int64_t n)         \
    {                                                                                              \
        if (stride == 2 * (int64_t)sizeof(T)) {                                                    \
            const T *restrict pairs = (const T *)from;                                             \
            for (int64_t i = 0; i < n; i++) {                                                      \
                to[i] = pairs[2 * i];                                                              \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++, from += stride) {                                          \
            to[i] = *(const T *)from;                                                              \
        }                                                                                          \
    }                                                                                              \
    static void scatter_##name(char *to, int64_t stride, const T *from, int64_t n)                 \
    {                                                                                              \
        for (; n >= 4; n -= 4, from += 4, to += 4 * stride) {                                      \
            const T a = from[0], b = from[1], c = from[2], d = from[3];                            \
            *(T *)to = a;                                                                          \
            *(T *)(to + stride) = b;                                                               \
            *(T *)(to + 2 * stride) = c;                                                           \
            *(T *)(to + 3 * stride) = d;                                                           \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            *(T *)(to + i * stride) = from[i];                                                     \
        }                                                                                          \
    }                                                                                              \
    static void repeat_##name(T *to, T value, int64_t n)                                           \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            to[i] = value;                                                                         \
        }                                                                                          \
    }

COPY(1, uint8_t)
COPY(4, uint32_t)
COPY(8, uint64_t)

static void runs_gather(void *to, const char *from, int64_t stride, int64_t n, int size)
{
    switch (size) {
    case 1: gather_1(to, from, stride, n); break;
    case 4: gather_4(to, from, stride, n); break;
    default: gather_8(to, from, stride, n);
    }
}

static void runs_scatter(char *to, int64_t stride, const void *from, int64_t n, int size)
{
    switch (size) {
    case 1: scatter_1(to, stride, from, n); break;
    case 4: scatter_4(to, stride, from, n); break;
    default: scatter_8(to, stride, from, n);
    }
}

static void runs_repeat(void *to, const void *from, int64_t n, int size)
{
    switch (size) {
    case 1: repeat_1(to, *(const uint8_t *)from, n); break;
    case 4: repeat_4(to, *(const uint32_t *)from, n); break;
    default: repeat_8(to, *(const uint64_t *)from, n);
    }
}

void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params)
{
    _Alignas(64) char room[4][ROOM];
    char *at[4];
    int64_t size[4], most = 0;
    for (int k = 0; k < o->n; k++) {
        size[k] = o->size[k];
        most = size[k] > most ? size[k] : most;
    }
    const int64_t run = n < ROOM / most ? n : ROOM / most;
    for (int k = 0; k < o->n; k++) {
        at[k] = strides[k] == size[k] ? data[k] : room[k];
        if (k > 0 && strides[k] == 0) { /* one value for all runs */
            runs_repeat(room[k], data[k], run, o->size[k]);
        }
    }
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < run ? n - i : run;
        for (int k = 0; k < o->n; k++) {
            if (strides[k] == size[k]) {
                at[k] = data[k] + i * size[k];
            } else if (k > 0 && strides[k] != 0) {
                runs_gather(room[k], data[k] + i * strides[k], strides[k], m, o->size[k]);
            }
        }
        f(at, size, m, params);
        if (at[0] == room[0]) {
            runs_scatter(data[0] + i * strides[0], strides[0], room[0], m, o->size[0]);
        }
    }
}

void hdk_padded(hdk_loop f, const hdk_operands *o, char *const *data, int64_t from, int64_t n,
                const void *params)
{
    char room[4][HDK_WHOLE * sizeof(double)] = {{0}}, *at[4];
    int64_t size[4];
    for (int k = 0; k < o->n; k++) {
        size[k] = o->size[k];
        at[k] = room[k];
        if (k > 0) {
            memcpy(room[k], data[k] + from * size[k], (size_t)((n - from) * size[k]));
        }
    }
    f(at, size, HDK_WHOLE, params);
    memcpy(data[0] + from * size[0], room[0], (size_t)((n - from) * size[0]));
}
