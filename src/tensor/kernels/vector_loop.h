/* vector_loop.h - a loop over float32 that computes a vector at a time, and e^x in such a loop.
 *
 *     VECTOR_LOOP(sigmoid_f32, 1, 1 / one_and_exp(x))
 * defines the loop sigmoid_f32 over one input. Its last elements, fewer than a vector, are computed
 * in a vector that is padded, so that an element has the same bits wherever it stands. */
#ifndef HEED_KERNELS_VECTOR_LOOP_H
#define HEED_KERNELS_VECTOR_LOOP_H

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/vec.h"
#include "tensor/kernels/vmath.h"

/* Stands before a part of an expression. It is inlined where the level has an instruction for a
 * multiply-add. Elsewhere a multiply-add is long, and what has many of them is called. */
#ifdef __FMA__
#define VECTOR_PART HDK_INLINE
#else
#define VECTOR_PART static HDK_NOINLINE
#endif

/* e^x, with the bits of hdk_vexpf */
VECTOR_PART vec_f32 exp_of(vec_f32 x)
{
    return vexp_f32(vmin_f32(vall_f32(89), x));
}

HDK_INLINE vec_f32 one_and_exp(vec_f32 x)
{
    return 1 + exp_of(-x);
}

/* The loop over n elements, which are fewer than a vector holds */
static HDK_NOINLINE void vector_end(hdk_loop loop, int inputs, char *const *data, int64_t n,
                                    const void *params)
{
    const int64_t size = sizeof(float), strides[] = {size, size, size};
    const size_t bytes = (size_t)(n * size);
    float some[3][HDK_V] = {{0}};
    for (int k = 1; k <= inputs; k++) {
        memcpy(some[k], data[k], bytes);
    }
    loop((char *[]){(char *)some[0], (char *)some[1], (char *)some[2]}, strides, HDK_V, params);
    memcpy(data[0], some[0], bytes);
}

/* Defines a loop: data[0] = EXPR of the vectors x from data[INPUTS] and a from data[1]. */
#define VECTOR_LOOP(name, INPUTS, EXPR)                                                            \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        enum { SIZE = sizeof(float) };                                                             \
        float *y = (float *)data[0];                                                               \
        const float *as = (const float *)data[1], *xs = (const float *)data[INPUTS];               \
        int64_t i = 0;                                                                             \
        HDK_DENSE(name, params, INPUTS + 1, SIZE, SIZE, SIZE);                                     \
        for (; i + HDK_V <= n; i += HDK_V) {                                                       \
            const vec_f32 a = vload_f32(as + i), x = vload_f32(xs + i);                            \
            (void)a;                                                                               \
            vstore_f32(y + i, EXPR);                                                               \
        }                                                                                          \
        if (i < n) {                                                                               \
            vector_end(name, INPUTS,                                                               \
                       (char *[]){(char *)(y + i), (char *)(uintptr_t)(as + i),                    \
                                  (char *)(uintptr_t)(xs + i)},                                    \
                       n - i, params);                                                             \
        }                                                                                          \
    }

#endif
