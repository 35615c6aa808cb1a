/* draws.h - the MCG31 stream (base/mcg31.h) in vectors: HDK_DRAWS neighbouring elements step by
 * HDK_DRAWS at once, in exact integer arithmetic.
 *
 *     hdk_draws g = hdk_draws_at(x0, i);    from element i on of the stream that begins with x0
 *     vec_i32 x[HDK_DRAW_VECTORS];
 *     hdk_draws_next(&g, x);                the next HDK_DRAWS of them, in order
 *
 * An element is kept where it is below hd__mcg31_limit(p). */
#ifndef HEED_KERNELS_DRAWS_H
#define HEED_KERNELS_DRAWS_H

#include "base/mcg31.h"
#include "tensor/kernels/vec.h"

enum { HDK_DRAWS = 64, HDK_DRAW_VECTORS = HDK_DRAWS / HDK_V };

/* half as many elements as floats */
typedef int64_t hdk_v64 __attribute__((vector_size(HDK_V * 4), aligned(8), may_alias));
typedef uint64_t hdk_vu64 __attribute__((vector_size(HDK_V * 4), aligned(8), may_alias));

/* Of the elements of vector k those at even places, and those at odd ones. */
typedef struct hdk_draws {
    hdk_v64 even[HDK_DRAW_VECTORS], odd[HDK_DRAW_VECTORS];
    hdk_v64 step;
} hdk_draws;

static inline hdk_draws hdk_draws_at(uint32_t x0, int64_t i)
{
    hdk_draws g;
    uint32_t x = hd__mcg31_times(x0, hd__mcg31_power(i));
    int64_t lane[2][HDK_DRAWS / 2];
    for (int l = 0; l < HDK_DRAWS; l++, x = hd__mcg31_times(x, HD__MCG31_MULTIPLIER)) {
        lane[l % 2][l / 2] = x;
    }
    memcpy(g.even, lane[0], sizeof g.even);
    memcpy(g.odd, lane[1], sizeof g.odd);
    g.step = (hdk_v64){0} + (int64_t)hd__mcg31_power(HDK_DRAWS);
    return g;
}

/* a b mod 2^31 - 1, as hd__mcg31_times */
HDK_INLINE void hdk_draws_step(hdk_v64 *a, const hdk_v64 *b)
{
#if defined(__AVX512F__)
    hdk_v64 product = (hdk_v64)_mm512_mul_epu32((__m512i)*a, (__m512i)*b);
#elif defined(__AVX2__)
    hdk_v64 product = (hdk_v64)_mm256_mul_epu32((__m256i)*a, (__m256i)*b);
#elif defined(HDK_X86)
    hdk_v64 product = (hdk_v64)_mm_mul_epu32((__m128i)*a, (__m128i)*b);
#else
    hdk_v64 product = *a * *b;
#endif
    hdk_v64 sum = (product & HD__MCG31_MODULUS) + (hdk_v64)((hdk_vu64)product >> 31);
    *a = sum - ((sum >= HD__MCG31_MODULUS) & HD__MCG31_MODULUS);
}

static inline void hdk_draws_next(hdk_draws *g, vec_i32 *x)
{
    for (int k = 0; k < HDK_DRAW_VECTORS; k++) {
        hdk_vu64 even = (hdk_vu64)g->even[k], odd = (hdk_vu64)g->odd[k];
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        x[k] = (vec_i32)(even | odd << 32);
#else
        x[k] = (vec_i32)(even << 32 | odd);
#endif
        hdk_draws_step(&g->even[k], &g->step);
        hdk_draws_step(&g->odd[k], &g->step);
    }
}

#endif
