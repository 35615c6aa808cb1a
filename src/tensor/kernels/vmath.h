/* vmath.h - float32 log, tanh and erf in plain arithmetic, which compilers vectorise in a loop.
 *
 * Results are within 2 units in the last place of the exact value at every CPU level; the special
 * values are C's (Annex F). Every branch is computed and one is chosen, so that all elements of a
 * vector go the same way. tools/generate/fit_vmath.py makes the polynomials, whose largest error is
 * the least possible. Where the level has no fused multiply-add there are two roundings. */
#ifndef HEED_KERNELS_VMATH_H
#define HEED_KERNELS_VMATH_H

#include "tensor/kernels/vexp.h"

/* the polynomial with the n coefficients c, the highest power first */
HDK_INLINE float hdk_polynomial(float x, int n, const float *c)
{
    float y = c[0];
    HDK_UNROLL
    for (int i = 1; i < n; i++) {
        y = HDK_FMAF(y, x, c[i]);
    }
    return y;
}

/* x = m 2^e with m from sqrt(1/2) to sqrt(2), f = m - 1:
 * log x = e log 2 + f - f^2 / 2 + f^3 p(f), log 2 in two parts, the first exact times any e. */
HDK_INLINE float hdk_vlogf(float x)
{
    const uint32_t sqrt_half = 0x3f3504f3;
    bool tiny = x < 0x1p-126f;
    uint32_t bits = hdk_float_bits(tiny ? x * 0x1p23f : x) - sqrt_half;
    float e = (float)((int32_t)bits >> 23) - (tiny ? 23.0f : 0.0f);
    float f = hdk_float_of((bits & 0x7fffff) + sqrt_half) - 1;

    static const float log_p[] = {
        -0.07859615236520767f, 0.12881648540496826f, -0.13128754496574402f, 0.14181192219257355f,
        -0.16624553501605988f, 0.2000228613615036f,  -0.25000810623168945f, 0.33333316445350647f};
    float square = f * f;
    float small = HDK_FMAF(e, -2.12194440e-4f,
                           HDK_FMAF(square, -0.5f, square * f * hdk_polynomial(f, 8, log_p)));
    float y = HDK_FMAF(e, 0.693359375f, f + small);

    y = x == 0 ? -INFINITY : y;
    y = x < 0 ? NAN : y;
    return x < INFINITY ? y : x; /* infinity and NaN */
}

/* With a = |x|: a + a^3 p(a^2) for a < 0.625, else 1 - 2 / (e^(2a) + 1), and x's sign. */
HDK_INLINE float hdk_vtanhf(float x)
{
    float z = x * x, a = fabsf(x);
    static const float tanh_p[] = {-0.005717045161873102f, 0.02065058797597885f,
                                   -0.05374349653720856f, 0.13331490755081177f,
                                   -0.3333328366279602f};
    float near = HDK_FMAF(a * z, hdk_polynomial(z, 5, tanh_p), a);
    float far = 1 - 2 / (hdk_vexpf(2 * a) + 1);
    return copysignf(a < 0.625f ? near : far, x); /* -0 too */
}

/* With a = |x|: a + a p(a^2) for a < 0.9375, else 1 - e^-(t + t q(t)) with t = min(a, 4); and x's
 * sign. */
HDK_INLINE float hdk_verff(float x)
{
    float z = x * x, a = fabsf(x), t = a > 4 ? 4 : a; /* a NaN stays */
    static const float erf_p[] = {8.296612941194326e-05f, -0.0008125806925818324f,
                                  0.005199600011110306f,  -0.026858851313591003f,
                                  0.11283686012029648f,   -0.37612631916999817f,
                                  0.12837916612625122f};
    float near = HDK_FMAF(hdk_polynomial(z, 7, erf_p), a, a);

    static const float erf_q[] = {1.2150419024692383e-05f, -0.0003319874231237918f,
                                  0.0036797281354665756f,  -0.023840725421905518f,
                                  0.10632801055908203f,    0.6350963115692139f,
                                  0.12866200506687164f};
    float far = 1 - hdk_vexpf(HDK_FMAF(-hdk_polynomial(t, 7, erf_q), t, -t));
    return copysignf(a < 0.9375f ? near : far, x);
}

#endif
