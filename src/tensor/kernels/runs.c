/* runs.c - runs the loops (loops.h) on operands of any strides, and on any number of elements. */
#include <string.h>

#include "tensor/kernels/loops.h"

enum { RUN_BYTES = 2048 }; /* the most bytes of an operand that are copied at a time */

/* Copies n elements of `size` bytes, which lie from_step bytes apart, to places to_step bytes
 * apart. Compilers vectorise it if they know the size and the steps. */
HDK_INLINE void copy_steps(char *restrict to, int64_t to_step, const char *restrict from,
                           int64_t from_step, int64_t n, const size_t size)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(to + i * to_step, from + i * from_step, size);
    }
}

/* Copies as copy_steps does; `from` or `to` must be dense. A step of two elements, as in
 * x[:, ::2], has its own call, which compilers vectorise. A strided output gets four elements per
 * iteration instead. The bytes between its elements are never written, because another thread may
 * write them. */
HDK_INLINE void copy_sized(char *to, int64_t to_step, const char *from, int64_t from_step,
                           int64_t n, const int64_t size)
{
    for (; to_step != size && n >= 4; n -= 4, to += 4 * to_step, from += 4 * size) {
        HDK_UNROLL
        for (int k = 0; k < 4; k++) {
            memcpy(to + k * to_step, from + k * size, (size_t)size);
        }
    }
    if (to_step != size) {
        copy_steps(to, to_step, from, size, n, (size_t)size);
    } else if (from_step == 0) {
        copy_steps(to, size, from, 0, n, (size_t)size);
    } else if (from_step == 2 * size) {
        copy_steps(to, size, from, 2 * size, n, (size_t)size);
    } else {
        copy_steps(to, size, from, from_step, n, (size_t)size);
    }
}

static HDK_NOINLINE void runs_copy(char *to, int64_t to_step, const char *from, int64_t from_step,
                                   int64_t n, int size)
{
    switch (size) {
    case 1: copy_sized(to, to_step, from, from_step, n, 1); break;
    case 2: copy_steps(to, to_step, from, from_step, n, 2); break;
    case 4: copy_sized(to, to_step, from, from_step, n, 4); break;
    default: copy_sized(to, to_step, from, from_step, n, 8);
    }
}

void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params)
{
    _Alignas(64) char room[4][RUN_BYTES];
    char *at[4];
    int64_t size[4], most = 0;
    for (int k = 0; k < o->n; k++) {
        size[k] = o->size[k];
        most = size[k] > most ? size[k] : most;
    }
    const int64_t run = n < RUN_BYTES / most ? n : RUN_BYTES / most;
    for (int k = 0; k < o->n; k++) {
        at[k] = strides[k] == size[k] ? data[k] : room[k];
        if (k > 0 && strides[k] == 0) { /* one value for all runs */
            runs_copy(room[k], size[k], data[k], 0, run, o->size[k]);
        }
    }
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < run ? n - i : run;
        for (int k = 0; k < o->n; k++) {
            if (strides[k] == size[k]) {
                at[k] = data[k] + i * size[k];
            } else if (k > 0 && strides[k] != 0) {
                runs_copy(room[k], size[k], data[k] + i * strides[k], strides[k], m, o->size[k]);
            }
        }
        f(at, size, m, params);
        if (at[0] == room[0]) {
            runs_copy(data[0] + i * strides[0], strides[0], room[0], size[0], m, o->size[0]);
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
