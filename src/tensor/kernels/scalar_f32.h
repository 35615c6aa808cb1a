/* scalar_f32.h - exp, log, tanh and erf of one float32 in plain arithmetic, which compilers
 * vectorise inside a loop. Every branch is computed and one is chosen, so all elements of a vector
 * take the same path. vec.h has functions of vectors. */
#ifndef HEED_KERNELS_SCALAR_F32_H
#define HEED_KERNELS_SCALAR_F32_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/system/fma.h"
#include "tensor/kernels/level.h"

static inline uint32_t scalar_bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float scalar_of_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns a * b + c, rounded once, at every CPU level. WebAssembly has no instruction for it, and
 * there hd__sys_sum_to_odd is faster than fmaf. */
HDK_INLINE float scalar_fma_f32(float a, float b, float c)
{
#ifdef __wasm__
    return (float)hd__sys_sum_to_odd((double)a * b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

/* exp(x) = 2^q * e^s with q = rint(x * log2(e)), |s| <= ln(2) / 2, and a polynomial of degree 7 for
 * e^s. The steps, their order and their fused multiply-adds are those of PyTorch's softmax. The
 * bits are the same at every CPU level, because scalar_fma_f32 rounds once at every level. exp(x)
 * is 0 for x <= -104, infinity for x > 88.73, and NaN for NaN. Subnormal results are rounded
 * once. */

/* 1.5 * 2^23. The sum v + HDK_EXP_SHIFT has rint(v) in its low bits. Subtracting HDK_EXP_SHIFT
 * again gives rint(v). */
#define HDK_EXP_SHIFT 12582912.0f

#define HDK_LOG2_E 1.44269504088896341f
#define HDK_LN2 0.693145751953125f /* the first bits of ln 2; HDK_LN2_REST has the others */
#define HDK_LN2_REST 1.428606765330187045e-06f

/* The coefficients of p in e^s = 1 + s + s^2 * p(s), the highest power first. */
enum { HDK_EXP_TERMS = 6 };
static const float hdk_exp_p[HDK_EXP_TERMS] = {
    0.000198527617612853646278381f, 0.00139304355252534151077271f, 0.00833336077630519866943359f,
    0.0416664853692054748535156f,   0.166666671633720397949219f,   0.5f};

/* Returns u * 2^q, rounded once. q must be a whole number from -150 to 129, u must be near 1, and
 * `shifted` must be q + HDK_EXP_SHIFT. 2^q may be out of range, but its two factors are not, and
 * only the second product rounds. */
HDK_INLINE float scalar_scale_f32(float u, float shifted)
{
    uint32_t exponent = scalar_bits_f32(shifted) - scalar_bits_f32(HDK_EXP_SHIFT) + 2 * 127;
    uint32_t half = exponent >> 1;
    return u * scalar_of_f32(half << 23) * scalar_of_f32((exponent - half) << 23);
}

HDK_INLINE float scalar_exp_f32(float x)
{
    /* Beyond these limits the result does not change. A NaN fails both tests and stays. */
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;

    float shifted = x * HDK_LOG2_E + HDK_EXP_SHIFT, q = shifted - HDK_EXP_SHIFT;
    float s = scalar_fma_f32(q, -HDK_LN2, x);
    s = scalar_fma_f32(q, -HDK_LN2_REST, s);
    float u = hdk_exp_p[0];
    HDK_UNROLL
    for (int i = 1; i < HDK_EXP_TERMS; i++) {
        u = scalar_fma_f32(u, s, hdk_exp_p[i]);
    }
    u = 1.0f + scalar_fma_f32(s * s, u, s);
    return scalar_scale_f32(u, shifted);
}

/* log, tanh and erf are within 2 units in the last place of the exact value at every CPU level; the
 * special values are C's (Annex F). tools/generate/fit_vmath.py fits their polynomials, so that the
 * largest error is as small as possible. A level without fused multiply-adds rounds twice. */

/* Returns the polynomial with the n coefficients c, the highest power first. */
HDK_INLINE float scalar_polynomial_f32(float x, int n, const float *c)
{
    float y = c[0];
    HDK_UNROLL
    for (int i = 1; i < n; i++) {
        y = HDK_FMAF(y, x, c[i]);
    }
    return y;
}

/* Returns log x = e * log 2 + f - f^2 / 2 + f^3 * p(f), where x = m * 2^e with m from sqrt(1/2) to
 * sqrt(2), and f = m - 1. log 2 has two parts; e times the first part is exact. */
HDK_INLINE float scalar_log_f32(float x)
{
    const uint32_t sqrt_half = 0x3f3504f3;
    bool tiny = x < 0x1p-126f;
    uint32_t bits = scalar_bits_f32(tiny ? x * 0x1p23f : x) - sqrt_half;
    float e = (float)((int32_t)bits >> 23) - (tiny ? 23.0f : 0.0f);
    float f = scalar_of_f32((bits & 0x7fffff) + sqrt_half) - 1;

    static const float log_p[] = {
        -0.07859615236520767f, 0.12881648540496826f, -0.13128754496574402f, 0.14181192219257355f,
        -0.16624553501605988f, 0.2000228613615036f,  -0.25000810623168945f, 0.33333316445350647f};
    float square = f * f;
    float small =
        HDK_FMAF(e, -2.12194440e-4f,
                 HDK_FMAF(square, -0.5f, square * f * scalar_polynomial_f32(f, 8, log_p)));
    float y = HDK_FMAF(e, 0.693359375f, f + small);

    y = x == 0 ? -INFINITY : y;
    y = x < 0 ? NAN : y;
    return x < INFINITY ? y : x; /* infinity and NaN stay */
}

/* Returns tanh x, which is tanh a with x's sign, where a = |x|. tanh a is a + a^3 * p(a^2) for
 * a < 0.625, and 1 - 2 / (e^(2a) + 1) otherwise. */
HDK_INLINE float scalar_tanh_f32(float x)
{
    float z = x * x, a = fabsf(x);
    static const float tanh_p[] = {-0.005717045161873102f, 0.02065058797597885f,
                                   -0.05374349653720856f, 0.13331490755081177f,
                                   -0.3333328366279602f};
    float near = HDK_FMAF(a * z, scalar_polynomial_f32(z, 5, tanh_p), a);
    float far = 1 - 2 / (scalar_exp_f32(2 * a) + 1);
    return copysignf(a < 0.625f ? near : far, x); /* -0 stays -0 */
}

/* Returns erf x, which is erf a with x's sign, where a = |x|. With t = min(a, 4), erf a is
 * a + a * p(a^2) for a < 0.9375, and 1 - e^-(t + t * q(t)) otherwise. */
HDK_INLINE float scalar_erf_f32(float x)
{
    float z = x * x, a = fabsf(x), t = a > 4 ? 4 : a; /* a NaN stays */
    static const float erf_p[] = {8.296612941194326e-05f, -0.0008125806925818324f,
                                  0.005199600011110306f,  -0.026858851313591003f,
                                  0.11283686012029648f,   -0.37612631916999817f,
                                  0.12837916612625122f};
    float near = HDK_FMAF(scalar_polynomial_f32(z, 7, erf_p), a, a);

    static const float erf_q[] = {1.2150419024692383e-05f, -0.0003319874231237918f,
                                  0.0036797281354665756f,  -0.023840725421905518f,
                                  0.10632801055908203f,    0.6350963115692139f,
                                  0.12866200506687164f};
    float far = 1 - scalar_exp_f32(HDK_FMAF(-scalar_polynomial_f32(t, 7, erf_q), t, -t));
    return copysignf(a < 0.9375f ? near : far, x);
}

#endif
