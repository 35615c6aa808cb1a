/* draws.h - the MCG31 stream (base/random/mcg31.h) in vectors, in exact integer arithmetic.
 *
 *     hdk_draws g = hdk_draws_at(x0, i);    from element i on of the stream that begins with x0
 *     vec_i32 x[HDK_DRAW_VECTORS];
 *     hdk_draws_next(&g, x);                the next HDK_DRAWS elements, in order
 *
 * Dropout keeps an element if its draw is below hd__mcg31_limit(p). */
#ifndef HEED_KERNELS_DRAWS_H
#define HEED_KERNELS_DRAWS_H

#include "base/random/mcg31.h"
#include "tensor/kernels/vec.h"

enum { HDK_DRAWS = 64, HDK_DRAW_VECTORS = HDK_DRAWS / HDK_V };

/* Returns x * a mod (2^31 - 1) for each element, as hd__mcg31_times does. `even` has 2 * a for the
 * elements at even places, and `odd` has 2 * a for those at odd places. So the upper half of a
 * product is the quotient of x * a by 2^31, and the lower half is twice the remainder. */
HDK_INLINE vec_u32 vmcg31_times(vec_u32 x, vec_u64 even, vec_u64 odd)
{
    const vec_u64 low = vall_u64(0xffffffffu);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const vec_u64 first = even; /* the element at an even place is the upper half of its pair */
    even = odd;
    odd = first;
#endif
    vec_u64 e = vmullow_u64((vec_u64)x, even), o = vmullow_u64((vec_u64)x >> 32, odd);
    vec_u32 high = (vec_u32)(e >> 32 | (o & ~low)), rest = (vec_u32)((e & low) | o << 32) >> 1;
    vec_u32 sum = high + rest, less = sum - HD__MCG31_MODULUS;
    vec_u32 y;
    HDK_UNROLL
    for (int l = 0; l < HDK_V; l++) {
        y[l] = sum[l] < less[l] ? sum[l] : less[l];
    }
    return y;
}

typedef struct hdk_draws {
    vec_u32 x[HDK_DRAW_VECTORS];
    vec_u64 step; /* 2 * a^HDK_DRAWS, where a is the stream's multiplier */
} hdk_draws;

static inline hdk_draws hdk_draws_at(uint32_t x0, int64_t i)
{
    hdk_draws g = {.step = vall_u64(2 * (uint64_t)hd__mcg31_power(HDK_DRAWS))};
    uint32_t lane[HDK_DRAWS];
    hd__mcg31_from(x0, i, HDK_DRAWS, lane);
    memcpy(g.x, lane, sizeof g.x);
    return g;
}

static inline void hdk_draws_next(hdk_draws *g, vec_i32 *x)
{
    HDK_UNROLL
    for (int k = 0; k < HDK_DRAW_VECTORS; k++) {
        x[k] = (vec_i32)g->x[k];
        g->x[k] = vmcg31_times(g->x[k], g->step, g->step);
    }
}

#endif
