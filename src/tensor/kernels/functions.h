/* functions.h - the math functions that the table in elementwise.h uses. One name serves all types:
 * EXP_OF(x) takes a vector of float32 or a double.
 *
 * Also defines GELU (Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"), which is
 * x * Phi(x). Phi is the normal distribution function, and phi is its density. GELU by tanh
 * approximates it as
 *     0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3))). */
#ifndef HEED_KERNELS_FUNCTIONS_H
#define HEED_KERNELS_FUNCTIONS_H

#include "tensor/kernels/loops.h"
#include "tensor/kernels/scalar_f64.h"
#include "tensor/kernels/vec.h"
#include "tensor/kernels/scalar_f32.h"

/* Goes before a function that is part of an expression. The function is inlined if the level has an
 * instruction for fused multiply-adds. Without this instruction the function's code is long, so it
 * is called. */
#ifdef HDK_FUSED
#define HDK_PART HDK_INLINE
#else
#define HDK_PART static HDK_NOINLINE
#endif

/* ---------------------------------------------------------------- GELU of float32 */

#define GELU_SQRT1_2 0.70710678118654752440 /* 1 / sqrt(2) */
#define GELU_PDF 0.39894228040143267794     /* 1 / sqrt(2 * pi), which is phi(0) */
#define GELU_BETA 0.79788456080286535588    /* sqrt(2 / pi) */
#define GELU_KAPPA 0.044715

/* Returns x clamped to [-most, most]. NaN stays NaN. */
HDK_INLINE vec_f32 gelu_within(vec_f32 x, float most)
{
    return vmax_f32(vall_f32(-most), vmin_f32(vall_f32(most), x));
}

/* GELU is x * Phi(x), and its slope is Phi(x) + x * phi(x). Both Phi(x) - 1/2 and the slope - 1/2
 * are computed as x * p(z) / q(z) with z = x^2. tools/generate/fit_vmath.py fits the polynomials p
 * and q. x is clamped where x * p(z) / q(z) is 1/2. The bits are the same at every CPU level.
 * With r the exact value, |gelu - r| <= 2^-22 * |x| and |slope - r| <= 5 * 2^-24.
 *
 * gelu_polynomial returns the polynomial of z with the n coefficients c, the highest power
 * first. */
HDK_PART vec_f32 gelu_polynomial(vec_f32 z, int n, const float *c)
{
    vec_f32 y = vall_f32(c[0]);
    HDK_UNROLL
    for (int i = 1; i < n; i++) {
        y = vfma_f32(y, z, vall_f32(c[i]));
    }
    return y;
}

/* Returns GELU of x. Below -5.15 it is -0. For -inf it is NaN, because x * Phi(x) is -inf times
 * 0. */
HDK_INLINE vec_f32 hdk_gelu_v(vec_f32 x)
{
    static const float p[] = {2.338700078041711e-08f,  6.3600150497222785e-06f,
                              0.00016431928088422865f, 0.00465083634480834f,
                              0.033371977508068085f,   0.398942232131958f};
    static const float q[] = {1.21659843443922e-06f, 7.239947444759309e-05f, 0.001858967705629766f,
                              0.028378546237945557f, 0.250317245721817f,     1};
    vec_f32 c = gelu_within(x, 5.144654750823975f), z = c * c;
    return x * (0.5f + c * (gelu_polynomial(z, 6, p) / gelu_polynomial(z, 6, q)));
}

/* Returns GELU's slope. For infinities it is NaN, as PyTorch's is, because x * phi(x) is infinity
 * times 0. */
HDK_INLINE vec_f32 hdk_gelu_slope_v(vec_f32 x)
{
    static const float p[] = {-2.808033840173696e-11f, 1.153340090098709e-08f,
                              8.917463674151804e-07f,  3.2059168006526306e-05f,
                              0.00019742484437301755f, 0.013763605616986752f,
                              -0.022898191586136818f,  0.7978845238685608f};
    static const float q[] = {3.0235253234423e-07f,
                              9.682335985417012e-06f,
                              0.00023693055845797062f,
                              0.0039020210970193148f,
                              0.04379580542445183f,
                              0.3046344220638275f,
                              1};
    vec_f32 c = gelu_within(x, 5.699398040771484f), z = c * c;
    return 0.5f + c * (gelu_polynomial(z, 8, p) / gelu_polynomial(z, 7, q)) + (x - x);
}

/* GELU by tanh, with u = sqrt(2/pi) * (x + 0.044715 * x^3), is 0.5 * x * (1 + tanh u), which equals
 * x / (1 + e^(-2u)). It takes one exponential and one division. The bits are the same at every CPU
 * level. With r the exact value, |gelu - r| <= 2^-23 * |x| and |slope - r| <= 5 * 2^-24.
 *
 * gelu_exp returns e^(-2u) = 2^(x * p) = 2^q * 2^f, where p is a polynomial of square = x^2, and q
 * is a whole number. tools/generate/fit_vmath.py fits the polynomial for 2^f. */
HDK_PART vec_f32 gelu_exp(vec_f32 x, vec_f32 square)
{
    const vec_f32 magic = vall_f32(HDK_EXP_SHIFT);
    const float minus_2_log2_e = -2.88539008177792681472f;
    vec_f32 p = vfma_f32(square, vall_f32((float)(minus_2_log2_e * GELU_BETA * GELU_KAPPA)),
                         vall_f32((float)(minus_2_log2_e * GELU_BETA)));
    vec_f32 shifted = vfma_f32(x, p, magic), q = shifted - magic, f = vfma_f32(x, p, -q);
    static const float c[] = {0.00015476300904992968f,
                              0.001340026967227459f,
                              0.009618003852665424f,
                              0.055503278970718384f,
                              0.24022650718688965f,
                              0.6931471824645996f,
                              1};
    return vscale_f32(gelu_polynomial(f, 7, c), q, shifted);
}

/* Returns GELU by tanh. Below -10.08 the exponential is infinite and the result is -0. For -inf it
 * is NaN, because 0.5 * x * (1 + tanh u) is -inf times 0. */
HDK_INLINE vec_f32 hdk_gelu_tanh_v(vec_f32 x)
{
    vec_f32 c = gelu_within(x, 10.08f);
    return x / (1 + gelu_exp(c, c * c));
}

/* Returns the slope s + x * s * (1 - s) * 2u'. u' is the derivative of u, e is exp(-2u),
 * s = 1 / (1 + e), and 1 - s = e * s. The slope is 1 for x >= 10, about 0 for x < -10, and NaN for
 * infinities, as PyTorch's is. */
HDK_INLINE vec_f32 hdk_gelu_tanh_slope_v(vec_f32 x)
{
    vec_f32 c = gelu_within(x, 10.0f), square = c * c, e = gelu_exp(c, square), s = 1 / (1 + e);
    vec_f32 du = vfma_f32(square, vall_f32((float)(6 * GELU_BETA * GELU_KAPPA)),
                          vall_f32((float)(2 * GELU_BETA)));
    return s * vfma_f32(c * du, e * s, vall_f32(1.0f)) + (x - x);
}

/* ---------------------------------------------------------------- GELU of float64 */

HDK_INLINE double hdk_gelu_f64(double x)
{
    return x * 0.5 * (1 + scalar_erf_f64(x * GELU_SQRT1_2));
}

/* Returns Phi(x) + x * phi(x). */
HDK_INLINE double hdk_gelu_slope_f64(double x)
{
    return 0.5 * (1 + scalar_erf_f64(x * GELU_SQRT1_2)) +
           x * (GELU_PDF * scalar_exp_f64(x * x * -0.5));
}

HDK_INLINE double gelu_tanh_of(double x)
{
    return scalar_tanh_f64(GELU_BETA * (x + GELU_KAPPA * (x * x * x)));
}

HDK_INLINE double hdk_gelu_tanh_f64(double x)
{
    return 0.5 * x * (1 + gelu_tanh_of(x));
}

HDK_INLINE double hdk_gelu_tanh_slope_f64(double x)
{
    double t = gelu_tanh_of(x), du = GELU_BETA * (1 + 3 * GELU_KAPPA * (x * x));
    return 0.5 * (1 + t) + 0.5 * x * ((1 - t * t) * du);
}

/* ---------------------------------------------------------------- one name for all types */

/* Returns exp(x), with the bits of scalar_exp_f32. */
HDK_PART vec_f32 vexp_any_f32(vec_f32 x)
{
    return vexp_f32(vmin_f32(vall_f32(89), x));
}

/* Sets e to exp(x - m - less) for n elements. n is a multiple of 16 and, for float32, at most
 * VEXP_MOST vectors. e may be x. */
HDK_INLINE void exp_block_f32(const float *x, const int n, float m, float less, float *e)
{
    vec_f32 v[VEXP_MOST];
    for (int k = 0; k < n / HDK_V; k++) {
        v[k] = vload_f32(x + k * HDK_V) - m - less; /* heed-loop */
    }
    vexp_many_f32(v, n / HDK_V);
    for (int k = 0; k < n / HDK_V; k++) {
        vstore_f32(e + k * HDK_V, v[k]);
    }
}

static HDK_NOINLINE void exp_block_f64(const double *x, int n, double m, double less, double *e)
{
    HDK_INDEPENDENT
    for (int i = 0; i < n / 16 * 16; i++) {
        e[i] = scalar_exp_f64(x[i] - m - less); /* heed-loop */
    }
}

/* Defines two functions, which return 1 + e^-x and 1 / (1 + e^-x). */
#define HDK_SIGMOID(SUFFIX, T, EXP_FUNCTION)                                                       \
    HDK_INLINE T hdk_one_and_exp_##SUFFIX(T x)                                                     \
    {                                                                                              \
        return 1 + EXP_FUNCTION(-x);                                                               \
    }                                                                                              \
    HDK_INLINE T hdk_sigmoid_##SUFFIX(T x)                                                         \
    {                                                                                              \
        return 1 / hdk_one_and_exp_##SUFFIX(x);                                                    \
    }
HDK_SIGMOID(v, vec_f32, vexp_any_f32)
HDK_SIGMOID(f64, double, scalar_exp_beside_1_f64)

HDK_INLINE float hdk_log1p_f32(float x)
{
    return (float)scalar_log1p_short_f64((double)x);
}

/* Returns sin(x + quarters * pi / 2) for |x| < F64_SIN_MOST; quarters is 0 or 1. */
HDK_INLINE float hdk_sin_f32(float x, int quarters)
{
    return (float)scalar_sin_short_f64((double)x, 0.5 * quarters);
}

/* Returns u where the condition is true, and v elsewhere. */
HDK_INLINE vec_f32 hdk_choose_v(vec_i32 condition, vec_f32 u, vec_f32 v)
{
    return (vec_f32)(((vec_i32)u & condition) | ((vec_i32)v & ~condition));
}

HDK_INLINE double hdk_choose_f64(bool condition, double u, double v)
{
    return condition ? u : v;
}

/* Returns v as int64, or INT64_MIN if it does not fit, as x86's scalar instruction does. */
static inline int64_t hdk_int_of(double v)
{
#if defined(HDK_X86) && defined(__x86_64__) && !HDK_AT_AVX512
    return _mm_cvttsd_si64(_mm_set_sd(v));
#else
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
#endif
}

HDK_INLINE float hdk_pow_f32(float a, float b)
{
    return (float)scalar_pow_short_f64((double)a, (double)b);
}

/* Returns a^b; an overflow wraps. For b < 0 the power is a fraction, which truncates to 1, -1 or
 * 0. */
static inline int64_t hdk_pow_i64(int64_t a, int64_t b)
{
    uint64_t y = 1, base = (uint64_t)a;
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    }
    for (; b; b >>= 1, base *= base) {
        y *= b & 1 ? base : 1;
    }
    return (int64_t)y;
}

#define ABSOLUTE(x) _Generic((x), float : fabsf, default : fabs)(x)
#define EXP_OF(x) _Generic((x), vec_f32 : vexp_any_f32, default : scalar_exp_f64)(x)
#define ONE_AND_EXP(x) _Generic((x), vec_f32 : hdk_one_and_exp_v, default : hdk_one_and_exp_f64)(x)
#define SIGMOID(x) _Generic((x), vec_f32 : hdk_sigmoid_v, default : hdk_sigmoid_f64)(x)
#define GELU(x) _Generic((x), vec_f32 : hdk_gelu_v, default : hdk_gelu_f64)(x)
#define GELU_SLOPE(x) _Generic((x), vec_f32 : hdk_gelu_slope_v, default : hdk_gelu_slope_f64)(x)
#define GELU_TANH(x) _Generic((x), vec_f32 : hdk_gelu_tanh_v, default : hdk_gelu_tanh_f64)(x)
#define GELU_TANH_SLOPE(x)                                                                         \
    _Generic((x), vec_f32 : hdk_gelu_tanh_slope_v, default : hdk_gelu_tanh_slope_f64)(x)
#define CHOOSE(condition, u, v)                                                                    \
    _Generic((u), vec_f32 : hdk_choose_v, default : hdk_choose_f64)(condition, u, v)

#define LOG_OF(x) _Generic((x), float : scalar_log_f32, default : scalar_log_f64)(x)
#define LOG1P_OF(x) _Generic((x), float : hdk_log1p_f32, default : scalar_log1p_f64)(x)
#define SIN_OF(x, quarters)                                                                        \
    _Generic((x), float : hdk_sin_f32, default : scalar_sin_f64)(x, quarters)
#define TANH_OF(x) _Generic((x), float : scalar_tanh_f32, default : scalar_tanh_f64)(x)
#define ERF_OF(x) _Generic((x), float : scalar_erf_f32, default : scalar_erf_f64)(x)
#define POW_OF(a, b) _Generic((a), float : hdk_pow_f32, int64_t : hdk_pow_i64, default : pow)(a, b)

#endif
