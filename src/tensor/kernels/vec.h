/* vec.h - vectors of floats as wide as the level's registers, by the compilers' vector extension.
 *
 * What the extension has no operator for is an intrinsic on x86 and a loop over the elements, which
 * is unrolled whole, elsewhere. Loads and stores need no alignment; streaming stores go past the
 * cache, for results too large to be read from it. */
#ifndef HEED_KERNELS_VEC_H
#define HEED_KERNELS_VEC_H

#include <string.h>

#include "tensor/kernels/kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#define HDK_V_X86
#endif

#if defined(__AVX512F__)
enum { HDK_V = 16 };
typedef __m512 hdk__mm;
#define HDK__MM(op) _mm512_##op##_ps
#elif defined(__AVX2__)
enum { HDK_V = 8 };
typedef __m256 hdk__mm;
#define HDK__MM(op) _mm256_##op##_ps
#else
enum { HDK_V = 4 };
#ifdef HDK_V_X86
typedef __m128 hdk__mm;
#define HDK__MM(op) _mm_##op##_ps
#endif
#endif

#define HDK_V_LANES HDK_UNROLL for (int l = 0; l < HDK_V; l++)

typedef float hdk_v __attribute__((vector_size(HDK_V * 4), aligned(4), may_alias));
typedef int32_t hdk_vi __attribute__((vector_size(HDK_V * 4), aligned(4), may_alias));

typedef float hdk_v4 __attribute__((vector_size(16), aligned(4), may_alias));

/* 8 floats: the lanes of a softmax's sum */
typedef float hdk_v8 __attribute__((vector_size(32), aligned(4), may_alias));

HDK_INLINE hdk_v hdk_v_load(const float *x)
{
    return *(const hdk_v *)x;
}

HDK_INLINE void hdk_v_store(float *y, hdk_v v)
{
    *(hdk_v *)y = v;
}

HDK_INLINE hdk_v hdk_v_all(float x)
{
    hdk_v y = {0};
    return y + x;
}

/* a b + c with one rounding, at every level */
HDK_INLINE hdk_v hdk_v_fma(hdk_v a, hdk_v b, hdk_v c)
{
#if defined(HDK_V_X86) && defined(__FMA__)
    return (hdk_v)HDK__MM(fmadd)((hdk__mm)a, (hdk__mm)b, (hdk__mm)c);
#else
    hdk_v y;
    HDK_V_LANES
    {
        y[l] = __builtin_fmaf(a[l], b[l], c[l]);
    }
    return y;
#endif
}

/* a > b ? a : b */
HDK_INLINE hdk_v hdk_v_max(hdk_v a, hdk_v b)
{
#ifdef HDK_V_X86
    return (hdk_v)HDK__MM(max)((hdk__mm)a, (hdk__mm)b);
#else
    hdk_v y;
    HDK_V_LANES
    {
        y[l] = a[l] > b[l] ? a[l] : b[l];
    }
    return y;
#endif
}

/* a < b ? a : b */
HDK_INLINE hdk_v hdk_v_min(hdk_v a, hdk_v b)
{
#ifdef HDK_V_X86
    return (hdk_v)HDK__MM(min)((hdk__mm)a, (hdk__mm)b);
#else
    hdk_v y;
    HDK_V_LANES
    {
        y[l] = a[l] < b[l] ? a[l] : b[l];
    }
    return y;
#endif
}

/* u 2^q, rounded once, for whole q from -150 to 129 and u near 1; shifted: q + 1.5 * 2^23 */
HDK_INLINE hdk_v hdk_v_scale(hdk_v u, hdk_v q, hdk_v shifted)
{
#ifdef __AVX512F__
    (void)shifted;
    return (hdk_v)_mm512_scalef_ps((__m512)u, (__m512)q);
#else
    (void)q; /* in two halves: 2^q itself may be out of range, and only the second one rounds */
    hdk_vi exponent = (hdk_vi)shifted - 0x4b400000 + 2 * 127, half = exponent >> 1;
    return u * (hdk_v)(half << 23) * (hdk_v)((exponent - half) << 23);
#endif
}

/* x = exp(x) of n vectors of what is at most 89, or NaN: the bits of hdk_vexpf (vexp.h), stage by
 * stage: each is one long chain, and one chain behind another leaves the units idle. */
HDK_INLINE void hdk_v_exps(hdk_v *x, int n)
{
    enum { MOST = 4 };
    const float magic = 12582912.0f;
    const float taylor[] = {0.00139304355252534151077271f, 0.00833336077630519866943359f,
                            0.0416664853692054748535156f, 0.166666671633720397949219f, 0.5f};
    hdk_v shifted[MOST], q[MOST], u[MOST];
    for (int k = 0; k < n; k++) {
        x[k] = hdk_v_max(hdk_v_all(-104.0f), x[k]); /* NaN stays */
        shifted[k] = x[k] * 1.44269504088896341f + magic;
        q[k] = shifted[k] - magic;
        x[k] = hdk_v_fma(q[k], hdk_v_all(-0.693145751953125f), x[k]);
        x[k] = hdk_v_fma(q[k], hdk_v_all(-1.428606765330187045e-06f), x[k]);
        u[k] = hdk_v_all(0.000198527617612853646278381f);
    }
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < n; k++) {
            u[k] = hdk_v_fma(u[k], x[k], hdk_v_all(taylor[i]));
        }
    }
    for (int k = 0; k < n; k++) {
        u[k] = 1.0f + hdk_v_fma(x[k] * x[k], u[k], x[k]);
        x[k] = hdk_v_scale(u[k], q[k], shifted[k]);
    }
}

HDK_INLINE hdk_v hdk_v_exp(hdk_v x)
{
    hdk_v_exps(&x, 1);
    return x;
}

/* to (4, 4), its rows to_row apart, = x (4, 4) transposed */
HDK_INLINE void hdk_turn_four(float *to, int64_t to_row, const float *x, int64_t row)
{
#if defined(__clang__) || __GNUC__ >= 12
    hdk_v4 a = *(const hdk_v4 *)x, b = *(const hdk_v4 *)(x + row);
    hdk_v4 c = *(const hdk_v4 *)(x + 2 * row), d = *(const hdk_v4 *)(x + 3 * row);
    hdk_v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    hdk_v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    *(hdk_v4 *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(hdk_v4 *)(to + to_row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(hdk_v4 *)(to + 2 * to_row) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(hdk_v4 *)(to + 3 * to_row) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
#else
    for (int i = 0; i < 4; i++) {
        for (int e = 0; e < 4; e++) {
            to[e * to_row + i] = x[i * row + e];
        }
    }
#endif
}

/* ---------------------------------------------------------------- memory */

enum {
    HDK_LINE = 64,      /* bytes of a line of the caches */
    HDK_PAGE = 4096,    /* bytes after which addresses share lines of the first cache */
    HDK_AHEAD = 3 << 12 /* bytes between what is read and what is asked of memory */
};

/* Asks memory for as many bytes `ahead` of x, which will be read in their turn: into the second
 * cache, as the first has no room for so much. It pays where there is something to compute. */
HDK_INLINE void hdk_ask_at(const void *x, int64_t ahead, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += HDK_LINE) {
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)ahead + i), 0, 2);
    }
}

HDK_INLINE void hdk_ask(const void *x, size_t bytes)
{
    hdk_ask_at(x, HDK_AHEAD, bytes);
}

/* y aligned to the vector's size */
HDK_INLINE void hdk_v_stream(float *y, hdk_v v)
{
#ifdef HDK_V_X86
    HDK__MM(stream)(y, (hdk__mm)v);
#else
    hdk_v_store(y, v);
#endif
}

/* Behind the last streaming store, so that other threads see them in order. */
HDK_INLINE void hdk_stream_end(void)
{
#ifdef HDK_V_X86
    _mm_sfence();
#endif
}

/* The floats before the first cache line that begins in y, at most n. */
HDK_INLINE int64_t hdk_line_begin(const float *y, int64_t n)
{
    int64_t head = (int64_t)(-(uintptr_t)y % HDK_LINE / sizeof *y);
    return head < n ? head : n;
}

/* y = x past the cache; y may begin anywhere. Any thread that reads y first needs a fence. */
static inline void hdk_stream_copy(float *restrict y, const float *restrict x, int64_t n)
{
    int64_t i = hdk_line_begin(y, n);
    memcpy(y, x, (size_t)i * sizeof *y);
    for (; i + HDK_V <= n; i += HDK_V) {
        hdk_v_stream(y + i, hdk_v_load(x + i));
    }
    memcpy(y + i, x + i, (size_t)(n - i) * sizeof *y);
}

#endif
