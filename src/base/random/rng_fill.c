/* rng_fill.c - uniform and normal draws of whole arrays.
 *
 * Uniform: u * (b - a) + a, rounded once, where u is uniform in [0, 1). A result that is rounded to
 * b becomes a.
 *
 * Normal: first the whole array is drawn uniform; then each block of 16 becomes eight Box-Muller
 * pairs (j, j + 8). If n is not a multiple of 16, the last 16 elements are drawn again as one
 * block. float64 uses libm. float32 uses the Cephes single-precision polynomials
 * (netlib.org/cephes), whose bits depend on every fused multiply-add. On x86 they are compiled
 * twice: with libm's exact fmaf, and with the CPU's FMA instruction, which computes eight pairs in
 * a vector. */
#include "base/random/rng.h"
#include "base/random/rng_fill.h"
#include "base/system/cpus.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 16, HALF = 8 };

/* ---------------------------------------------------------------- float32 block */

#define EVERY_LEVEL static inline __attribute__((always_inline))

#if (defined(__x86_64__) || defined(__i386__)) && !defined(__FMA__)
#define WITH_FMA __attribute__((target("avx2,fma")))
static bool has_fma(void)
{
    return hd__sys_cpu_level() >= HD__AVX2;
}
#else
#define WITH_FMA
static bool has_fma(void)
{
    return false;
}
#endif

/* Returns ln u for u in [2^-24, 1]. It writes u as f * 2^e with f in [sqrt(1/2), sqrt(2)). */
EVERY_LEVEL float log_f32(float u)
{
    uint32_t bits;
    float f;
    memcpy(&bits, &u, sizeof bits);
    int exponent = (int)(bits >> 23) - 126;
    bits = (bits & 0x7fffffu) | 0x3f000000u;
    memcpy(&f, &bits, sizeof f);
    bool low = f < 0.707106781186547524f;
    float e = (float)(exponent - low), x = (low ? 2 * f : f) - 1, z = x * x;
    float y = fmaf(7.0376836292E-2f, x, -1.1514610310E-1f);
    y = fmaf(y, x, 1.1676998740E-1f);
    y = fmaf(y, x, -1.2420140846E-1f);
    y = fmaf(y, x, 1.4249322787E-1f);
    y = fmaf(y, x, -1.6668057665E-1f);
    y = fmaf(y, x, 2.0000714765E-1f);
    y = fmaf(y, x, -2.4999993993E-1f);
    y = fmaf(y, x, 3.3333331174E-1f) * x;
    y = fmaf(y, z, e * -2.12194440e-4f);
    y = fmaf(z, -0.5f, y);
    return fmaf(e, 0.693359375f, x + y);
}

/* Computes the sine and the cosine of t in [0, 2 pi]. It writes t as j * pi/4 + x with an even j
 * and |x| <= pi/4. For accuracy, pi/4 is subtracted in three parts. */
EVERY_LEVEL void sincos_f32(float t, float *sine, float *cosine)
{
    int j = ((int)(t * 1.27323954473516f) + 1) & ~1;
    float x = fmaf((float)j, -0.78515625f, t);
    x = fmaf((float)j, -2.4187564849853515625e-4f, x);
    x = fmaf((float)j, -3.77489497744594108e-8f, x);
    float z = x * x;
    float c = fmaf(2.443315711809948E-005f, z, -1.388731625493765E-003f);
    c = fmaf(c, z, 4.166664568298827E-002f) * z;
    c = fmaf(c, z, -(z * 0.5f)) + 1;
    float s = fmaf(-1.9515295891E-4f, z, 8.3321608736E-3f);
    s = fmaf(s, z, -1.6666654611E-1f) * z;
    s = fmaf(s, x, x);
    float first = j & 2 ? c : s, second = j & 2 ? s : c;
    *sine = j & 4 ? -first : first;
    *cosine = ~(j - 2) & 4 ? -second : second;
}

EVERY_LEVEL void block_f32(float *x, float mean, float std)
{
    for (int j = 0; j < HALF; j++) {
        float r = sqrtf(-2 * log_f32(1 - x[j])), s, c;
        sincos_f32((float)hd__rng_two_pi * x[j + HALF], &s, &c);
        x[j] = fmaf(r * c, std, mean);
        x[j + HALF] = fmaf(r * s, std, mean);
    }
}

static void blocks_f32_plain(float *x, int64_t n, float mean, float std)
{
    for (int64_t i = 0; i + BLOCK <= n; i += BLOCK) {
        block_f32(x + i, mean, std);
    }
}

WITH_FMA static void blocks_f32_fma(float *x, int64_t n, float mean, float std)
{
    for (int64_t i = 0; i + BLOCK <= n; i += BLOCK) {
        block_f32(x + i, mean, std);
    }
}

static void blocks_f32(float *x, int64_t n, float mean, float std)
{
    (has_fma() ? blocks_f32_fma : blocks_f32_plain)(x, n, mean, std);
}

/* ---------------------------------------------------------------- float64 block */

static void blocks_f64(double *x, int64_t n, double mean, double std)
{
    for (int64_t i = 0; i + BLOCK <= n; i += BLOCK) {
        for (double *u = x + i; u < x + i + HALF; u++) {
            double r = sqrt(-2 * log(1 - u[0])), t = hd__rng_two_pi * u[HALF];
            u[0] = fma(r * cos(t), std, mean);
            u[HALF] = fma(r * sin(t), std, mean);
        }
    }
}

/* ---------------------------------------------------------------- fills */

EVERY_LEVEL float unit_f32(const uint32_t *w)
{
    return (float)(int32_t)(*w & 0xffffffu) * 0x1p-24f;
}

/* Returns a number in [0, 1) from 53 bits of two outputs. Both terms and their sum are exact. */
EVERY_LEVEL double unit_f64(const uint32_t *w)
{
    return (double)(int32_t)(w[0] & 0x1fffffu) * 0x1p-21 + (double)w[1] * 0x1p-53;
}

/* Defines the functions that fill arrays of one type, f32 or f64. between_TYPE computes one number
 * in [low, high) from outputs of the generator, and some_TYPE computes n. hd__rng_uniform_TYPE and
 * hd__rng_normal_TYPE fill x from a generator. */
#define FILL(type, T, OUTPUTS, FMA)                                                                \
    EVERY_LEVEL T between_##type(const uint32_t *w, T low, T high)                                 \
    {                                                                                              \
        T y = FMA(unit_##type(w), high - low, low);                                                \
        return y == high ? low : y;                                                                \
    }                                                                                              \
    EVERY_LEVEL void some_##type(const uint32_t *restrict w, T *restrict x, int64_t n, T low,      \
                                 T high)                                                           \
    {                                                                                              \
        int64_t i = 0;                                                                             \
        for (; i + HALF <= n; i += HALF) {                                                         \
            for (int l = 0; l < HALF; l++) {                                                       \
                x[i + l] = between_##type(w + (i + l) * OUTPUTS, low, high);                       \
            }                                                                                      \
        }                                                                                          \
        for (; i < n; i++) {                                                                       \
            x[i] = between_##type(w + i * OUTPUTS, low, high);                                     \
        }                                                                                          \
    }                                                                                              \
    static void some_##type##_plain(const uint32_t *w, T *x, int64_t n, T low, T high)             \
    {                                                                                              \
        some_##type(w, x, n, low, high);                                                           \
    }                                                                                              \
    WITH_FMA static void some_##type##_fma(const uint32_t *w, T *x, int64_t n, T low, T high)      \
    {                                                                                              \
        some_##type(w, x, n, low, high);                                                           \
    }                                                                                              \
    void hd__rng_uniform_##type(hd_generator *g, T *x, int64_t n, double a, double b)              \
    {                                                                                              \
        uint32_t w[HD__DRAWN];                                                                     \
        bool fma = has_fma();                                                                      \
        for (int64_t m; n > 0; n -= m, x += m) {                                                   \
            m = n < HD__DRAWN / OUTPUTS ? n : HD__DRAWN / OUTPUTS;                                 \
            hd__rng_random_words(g, w, m *OUTPUTS);                                                \
            (fma ? some_##type##_fma : some_##type##_plain)(w, x, m, (T)a, (T)b);                  \
        }                                                                                          \
    }                                                                                              \
    void hd__rng_normal_##type(hd_generator *g, T *x, int64_t n, double mean, double std)          \
    {                                                                                              \
        hd__rng_uniform_##type(g, x, n, 0, 1);                                                     \
        blocks_##type(x, n, (T)mean, (T)std);                                                      \
        if (n % BLOCK != 0) {                                                                      \
            hd__rng_uniform_##type(g, x + n - BLOCK, BLOCK, 0, 1);                                 \
            blocks_##type(x + n - BLOCK, BLOCK, (T)mean, (T)std);                                  \
        }                                                                                          \
    }

FILL(f32, float, 1, fmaf)
FILL(f64, double, 2, fma)

/* Names: between_f32 between_f64 some_f32 some_f64 some_f32_plain some_f32_fma hd__rng_uniform_f32
 * hd__rng_uniform_f64 hd__rng_normal_f32 hd__rng_normal_f64 some_f64_plain some_f64_fma */
