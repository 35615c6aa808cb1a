/* vec.h - vectors as wide as the level's registers, by the compilers' vector extension.
 *
 * Names end with the type of the elements. vec_type.h defines for f32, f64 and u64
 *     vec_f32                  the vector; + - * / and comparisons are the compiler's
 *     vload_f32, vstore_f32    load from and store to any address
 *     vstream_f32              stores past the cache
 *     vall_f32                 one number in every element
 *     vmuladd_f32              a * b + c
 *     vsum_f32                 the sum of the elements, folded in halves
 *     four_f32                 the vector of four elements
 *     turn_four_f32            transposes four by four elements
 *     svec_f32                 a vector of at most 8 elements, for short rows
 * A template writes fn(vload) and so on. Floats have more functions below. An operation that the
 * extension lacks is an intrinsic on x86, and elsewhere a loop over the elements that is unrolled
 * completely. */
#ifndef HEED_KERNELS_VEC_H
#define HEED_KERNELS_VEC_H

#include <string.h>

#include "tensor/kernels/template.h"

#if defined(__SSE2__)
#include <immintrin.h>
#define HDK_X86
#endif

/* HDK_REGISTER is the number of bytes of a vector register. */
#if HDK_AT_AVX512
#define HDK_REGISTER 64
typedef __m512 hdk__mm;
#define HDK__MM(op) _mm512_##op##_ps
#define HDK__MUL_LOW(a, b) _mm512_mul_epu32((__m512i)(a), (__m512i)(b))
#elif HDK_AT_AVX2
#define HDK_REGISTER 32
typedef __m256 hdk__mm;
#define HDK__MM(op) _mm256_##op##_ps
#define HDK__MUL_LOW(a, b) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#else
#define HDK_REGISTER 16
#ifdef HDK_X86
typedef __m128 hdk__mm;
#define HDK__MM(op) _mm_##op##_ps
#define HDK__MUL_LOW(a, b) _mm_mul_epu32((__m128i)(a), (__m128i)(b))
#endif
#endif

/* Names for templates: the vector and its number of elements, the short vector and its number of
 * elements, and the vector of four. */
#define V fn(vec)
#define VECTOR (HDK_REGISTER / (int)sizeof(T))
#define SVEC fn(svec)
#define SVECTOR (VECTOR < 8 ? VECTOR : 8)
#define FOUR fn(four)

#define TYPE f32
#include "tensor/kernels/vec_type.h"
#undef TYPE
#define TYPE f64
#include "tensor/kernels/vec_type.h"
#undef TYPE
#define TYPE u64
#include "tensor/kernels/vec_type.h"
#undef TYPE

/* ---------------------------------------------------------------- floats and their bits */

enum { HDK_V = HDK_REGISTER / sizeof(float) }; /* number of floats in a vector */

typedef int32_t vec_i32 __attribute__((vector_size(HDK_REGISTER), aligned(4), may_alias));
typedef uint32_t vec_u32 __attribute__((vector_size(HDK_REGISTER), aligned(4), may_alias));

typedef uint16_t vec_bf16 __attribute__((vector_size(HDK_REGISTER / 2), aligned(2), may_alias));

/* Returns the HDK_V bfloat16 at x as float32. Uses intrinsics, because GCC splits a conversion of
 * vectors into halves. */
HDK_INLINE vec_f32 vload_bf16(const uint16_t *x)
{
#if HDK_AT_AVX512
    return (vec_f32)((vec_u32)_mm512_cvtepu16_epi32((__m256i) * (const vec_bf16 *)x) << 16);
#elif HDK_AT_AVX2
    return (vec_f32)((vec_u32)_mm256_cvtepu16_epi32((__m128i) * (const vec_bf16 *)x) << 16);
#elif defined(HDK_X86)
    return (vec_f32)_mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64((const void *)x));
#else
    return (vec_f32)(__builtin_convertvector(*(const vec_bf16 *)x, vec_u32) << 16);
#endif
}

/* Vectors of 32 and 16 bytes, for parts of a wider register. */
typedef float upper_f32 __attribute__((vector_size(32)));
typedef int32_t upper_i32 __attribute__((vector_size(32)));
typedef int32_t four_i32 __attribute__((vector_size(16)));

/* a > b ? a : b for each element. It uses the mask a > b, of type `integers`, because compilers
 * make scalar code of a loop over the elements. */
#define HDK__LARGER(a, b, integers) (((integers)(a) & ((a) > (b))) | ((integers)(b) & ~((a) > (b))))

/* Returns v where all bits of the mask's element are 1, and 0 where all are 0. */
HDK_INLINE vec_f32 vkeep_f32(vec_f32 v, vec_i32 mask)
{
    return (vec_f32)((vec_i32)v & mask);
}

/* Returns the product of the low 32 bits of a and the low 32 bits of b, for each element. */
HDK_INLINE vec_u64 vmullow_u64(vec_u64 a, vec_u64 b)
{
#ifdef HDK_X86
    return (vec_u64)HDK__MUL_LOW(a, b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

#ifdef __wasm_simd128__
/* WebAssembly has no fused multiply-add. So vfma_f32 computes in float64, where a product of two
 * float32 is exact. Rounding the sum to float64 and then to float32 gives the same as rounding it
 * once, unless the float64 lies halfway between two float32, which its last 29 bits show: a 1 and
 * 28 times 0. A subnormal result may also differ, but no kernel has one. */
typedef double two_f64 __attribute__((vector_size(16)));
typedef int64_t two_i64 __attribute__((vector_size(16)));
#define TWO_F64(v, i) __builtin_convertvector(__builtin_shufflevector(v, v, i, i + 1), two_f64)
#define TWO_F32(v)                                                                                 \
    __builtin_convertvector(__builtin_shufflevector(v, (two_f64){0}, 0, 1, 2, 3), vec_f32)

/* Returns a mask: -1 for a sum that lies halfway between two float32, and 0 for others. */
HDK_INLINE two_i64 rounds_twice(two_f64 sum)
{
    return ((two_i64)sum & 0x1fffffff) == 0x10000000;
}
#define HDK_SELDOM static HDK_NOINLINE /* for a function that WebAssembly's vfma_f32 seldom calls */
#else
#define HDK_SELDOM HDK_INLINE
#endif

/* Returns a * b + c, rounded once, computed one element after the other. */
HDK_SELDOM vec_f32 vfma_by_elements(vec_f32 a, vec_f32 b, vec_f32 c)
{
    vec_f32 y;
    HDK_UNROLL
    for (int l = 0; l < HDK_V; l++) {
        y[l] = scalar_fma_f32(a[l], b[l], c[l]);
    }
    return y;
}

/* Returns a * b + c, rounded once, at every CPU level (kernels.h). On ARM it is written in
 * assembly, because the header of ARM's intrinsics defines names that heed uses, too. */
HDK_INLINE vec_f32 vfma_f32(vec_f32 a, vec_f32 b, vec_f32 c)
{
#if defined(HDK_X86) && defined(HDK_FUSED)
    return (vec_f32)HDK__MM(fmadd)((hdk__mm)a, (hdk__mm)b, (hdk__mm)c);
#elif defined(__aarch64__)
    __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(c) : "w"(a), "w"(b));
    return c;
#elif defined(__wasm_simd128__)
    two_f64 low = TWO_F64(a, 0) * TWO_F64(b, 0) + TWO_F64(c, 0);
    two_f64 high = TWO_F64(a, 2) * TWO_F64(b, 2) + TWO_F64(c, 2);
    two_i64 doubtful = rounds_twice(low) | rounds_twice(high);
    if (doubtful[0] | doubtful[1]) {
        return vfma_by_elements(a, b, c);
    }
    return __builtin_shufflevector(TWO_F32(low), TWO_F32(high), 0, 1, 4, 5);
#else
    return vfma_by_elements(a, b, c);
#endif
}

/* Returns a > b ? a : b for each element. */
HDK_INLINE vec_f32 vmax_f32(vec_f32 a, vec_f32 b)
{
#ifdef HDK_X86
    return (vec_f32)HDK__MM(max)((hdk__mm)a, (hdk__mm)b);
#else
    vec_i32 larger = a > b;
    return (vec_f32)(((vec_i32)a & larger) | ((vec_i32)b & ~larger));
#endif
}

/* Returns a < b ? a : b for each element. */
HDK_INLINE vec_f32 vmin_f32(vec_f32 a, vec_f32 b)
{
#ifdef HDK_X86
    return (vec_f32)HDK__MM(min)((hdk__mm)a, (hdk__mm)b);
#else
    vec_i32 smaller = a < b;
    return (vec_f32)(((vec_i32)a & smaller) | ((vec_i32)b & ~smaller));
#endif
}

/* Returns the largest element of v. Folds the vector in half until one element is left. */
HDK_INLINE float vlargest_f32(vec_f32 v)
{
#if HDK_REGISTER == 64
    upper_f32 h[2];
    memcpy(h, &v, sizeof h);
    h[0] = (upper_f32)HDK__LARGER(h[0], h[1], upper_i32);
    memcpy(&v, h, sizeof h[0]);
#endif
#if HDK_REGISTER >= 32
    four_f32 f[2];
    memcpy(f, &v, sizeof f);
    f[0] = (four_f32)HDK__LARGER(f[0], f[1], four_i32);
    memcpy(&v, f, sizeof f[0]);
#endif
    float a = v[0] > v[2] ? v[0] : v[2], b = v[1] > v[3] ? v[1] : v[3];
    return a > b ? a : b;
}

/* Returns a > b ? a : b for each element. */
HDK_INLINE vec_f64 vmax_f64(vec_f64 a, vec_f64 b)
{
    const __typeof__(a > b) larger = a > b;
    return (vec_f64)(((__typeof__(a > b))a & larger) | ((__typeof__(a > b))b & ~larger));
}

HDK_INLINE double vlargest_f64(vec_f64 v)
{
    double most = v[0];
    for (int l = 1; l < HDK_V / 2; l++) {
        most = v[l] > most ? v[l] : most;
    }
    return most;
}

enum { VEXP_MOST = 4 }; /* the most vectors whose exponentials are computed together */

/* Returns u * 2^q, rounded once. q must be a whole number from -150 to 129, u must be near 1, and
 * `shifted` must be q + HDK_EXP_SHIFT. */
HDK_INLINE vec_f32 vscale_f32(vec_f32 u, vec_f32 q, vec_f32 shifted)
{
#if HDK_AT_AVX512
    (void)shifted;
    return (vec_f32)_mm512_scalef_ps((__m512)u, (__m512)q);
#else
    (void)q; /* 2^q in two factors, as in scalar_f32.h */
    vec_i32 exponent = (vec_i32)shifted - 0x4b400000 + 2 * 127, half = exponent >> 1;
    return u * (vec_f32)(half << 23) * (vec_f32)((exponent - half) << 23);
#endif
}

HDK_INLINE vec_f32 vstep_f32(bool exact, vec_f32 a, vec_f32 b, vec_f32 c)
{
    return exact ? vfma_f32(a, b, c) : vmuladd_f32(a, b, c);
}

/* Begins e^x = 2^q * (1 + s + s^2 * u) (scalar_f32.h) for n vectors: sets q and `shifted`, replaces
 * x by s, and sets u to the first coefficient of its polynomial, hdk_exp_p. Each call of
 * vexp_term_f32 multiplies u by s and adds the next coefficient. With `exact` the bits are the same
 * at every level. */
HDK_INLINE void vexp_begin_f32(vec_f32 *x, int n, bool exact, vec_f32 *shifted, vec_f32 *q,
                               vec_f32 *u)
{
    const vec_f32 shift = vall_f32(HDK_EXP_SHIFT), log2_e = vall_f32(HDK_LOG2_E);
    for (int k = 0; k < n; k++) {
        shifted[k] = vmuladd_f32(x[k], log2_e, shift);
        if (exact) {
            x[k] = vmax_f32(vall_f32(-104.0f), x[k]); /* NaN stays */
            shifted[k] = x[k] * log2_e + shift;
        }
        q[k] = shifted[k] - shift;
        x[k] = vstep_f32(exact, q[k], vall_f32(-HDK_LN2), x[k]);
        x[k] = vstep_f32(exact, q[k], vall_f32(-HDK_LN2_REST), x[k]);
        u[k] = vall_f32(hdk_exp_p[0]);
    }
}

HDK_INLINE void vexp_term_f32(int i, const vec_f32 *s, int n, bool exact, vec_f32 *u)
{
    for (int k = 0; k < n; k++) {
        u[k] = vstep_f32(exact, u[k], s[k], vall_f32(hdk_exp_p[i]));
    }
}

/* Replaces n vectors x by exp(x), with the bits of scalar_exp_f32. Their elements must be at most
 * 89, or NaN. All vectors take each step together, because the steps of one vector wait for each
 * other and would leave units of the CPU idle. */
HDK_INLINE void vexp_many_f32(vec_f32 *x, int n)
{
    vec_f32 shifted[VEXP_MOST], q[VEXP_MOST], u[VEXP_MOST];
    vexp_begin_f32(x, n, true, shifted, q, u);
    for (int i = 1; i < HDK_EXP_TERMS; i++) {
        vexp_term_f32(i, x, n, true, u);
    }
    for (int k = 0; k < n; k++) {
        u[k] = 1.0f + vfma_f32(x[k] * x[k], u[k], x[k]);
        x[k] = vscale_f32(u[k], q[k], shifted[k]);
    }
}

HDK_INLINE vec_f32 vexp_f32(vec_f32 x)
{
    vexp_many_f32(&x, 1);
    return x;
}

/* Returns exp(x) for x <= 88, within one unit in the last place of scalar_exp_f32. Below -87 it is
 * 0. For NaN it is NaN. */
HDK_INLINE vec_f32 vexp_quick_f32(vec_f32 x)
{
    vec_f32 s = x, shifted, q, u;
    vexp_begin_f32(&s, 1, false, &shifted, &q, &u);
    HDK_UNROLL
    for (int i = 1; i < HDK_EXP_TERMS; i++) {
        vexp_term_f32(i, &s, 1, false, &u);
    }
    u = 1.0f + vmuladd_f32(s * s, u, s);
    vec_f32 power = (vec_f32)(((vec_u32)shifted << 23) + 0x3f800000);
    return vkeep_f32(u * power, ~(x < vall_f32(-87.0f)));
}

/* ---------------------------------------------------------------- memory */

enum {
    HDK_LINE = 64,      /* bytes of a cache line */
    HDK_PAGE = 4096,    /* addresses this many bytes apart share lines of the L1 cache */
    HDK_AHEAD = 3 << 12 /* memory is prefetched this many bytes before it is read */
};

/* Prefetches `bytes` bytes, which begin `ahead` bytes after x, into the L2 cache, because the L1
 * cache is too small for them. This helps only if the caller computes something meanwhile. If the
 * bytes begin in the middle of a cache line, their last line may not be prefetched. */
HDK_INLINE void hdk_prefetch_at(const void *x, int64_t ahead, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += HDK_LINE) {
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)ahead + i), 0, 2);
    }
}

HDK_INLINE void hdk_prefetch(const void *x, size_t bytes)
{
    hdk_prefetch_at(x, HDK_AHEAD, bytes);
}

/* Ends a sequence of streaming stores. Call it after the last store, so that other threads see the
 * stores in order. */
HDK_INLINE void hdk_stream_end(void)
{
#ifdef HDK_X86
    _mm_sfence();
#endif
}

/* Returns how many of y's n elements, of `size` bytes each, lie before the first address in y at
 * which a cache line begins. */
HDK_INLINE int64_t hdk_line_begin(const void *y, size_t size, int64_t n)
{
    int64_t head = (int64_t)(-(uintptr_t)y % HDK_LINE / size);
    return head < n ? head : n;
}

/* Copies `bytes` bytes from `from` to `to`, past the cache. `bytes` must be a multiple of
 * sizeof(float), and `to` may begin anywhere. Call hdk_stream_end before another thread reads
 * `to`. */
static inline void hdk_stream_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    float *y = to;
    const float *x = from;
    int64_t n = (int64_t)(bytes / sizeof *y), i = hdk_line_begin(y, sizeof *y, n);
    memcpy(y, x, (size_t)i * sizeof *y);
    for (; i + HDK_V <= n; i += HDK_V) {
        vstream_f32(y + i, vload_f32(x + i));
    }
    memcpy(y + i, x + i, (size_t)(n - i) * sizeof *y);
}

#endif
