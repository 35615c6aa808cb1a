/* vexp.h - float32 exp in plain arithmetic, which compilers vectorise inside a loop.
 *
 * exp(x) = 2^q e^s with q = rint(x log2 e), |s| <= ln(2) / 2, and a polynomial of degree 7 for e^s.
 * The steps, their order and their fused multiply-adds are those of PyTorch's softmax. The bits are
 * the same at every CPU level, because fmaf is exact also where the level has no instruction for
 * it. x <= -104 gives 0, x > 88.73 infinity, and NaN stays; subnormal results are rounded once. */
#ifndef HEED_KERNELS_VEXP_H
#define HEED_KERNELS_VEXP_H

#include <string.h>

#include "tensor/kernels/kernels.h"

static inline uint32_t hdk_float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float hdk_float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Adding 1.5 * 2^23 leaves rint(v) in the low bits of the sum, and taking it away gives rint(v). */
#define HDK_EXP_SHIFT 12582912.0f

#define HDK_LOG2_E 1.44269504088896341f
#define HDK_LN2 0.693145751953125f /* its first bits, and what they lack */
#define HDK_LN2_REST 1.428606765330187045e-06f

/* e^s = 1 + s + s^2 p(s), the highest power first */
enum { HDK_EXP_TERMS = 6 };
static const float hdk_exp_p[HDK_EXP_TERMS] = {
    0.000198527617612853646278381f, 0.00139304355252534151077271f, 0.00833336077630519866943359f,
    0.0416664853692054748535156f,   0.166666671633720397949219f,   0.5f};

/* u 2^q, rounded once, for whole q from -150 to 129 and u near 1; shifted is q + HDK_EXP_SHIFT. 2^q
 * may be out of range. Its two halves are not, and only the second product rounds. */
HDK_INLINE float hdk_scalef(float u, float shifted)
{
    uint32_t exponent = hdk_float_bits(shifted) - hdk_float_bits(HDK_EXP_SHIFT) + 2 * 127;
    uint32_t half = exponent >> 1;
    return u * hdk_float_of(half << 23) * hdk_float_of((exponent - half) << 23);
}

HDK_INLINE float hdk_vexpf(float x)
{
    /* The result does not change beyond these. A NaN fails both tests and stays. */
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;

    float shifted = x * HDK_LOG2_E + HDK_EXP_SHIFT, q = shifted - HDK_EXP_SHIFT;
    float s = __builtin_fmaf(q, -HDK_LN2, x);
    s = __builtin_fmaf(q, -HDK_LN2_REST, s);
    float u = hdk_exp_p[0];
    HDK_UNROLL
    for (int i = 1; i < HDK_EXP_TERMS; i++) {
        u = __builtin_fmaf(u, s, hdk_exp_p[i]);
    }
    u = 1.0f + __builtin_fmaf(s * s, u, s);
    return hdk_scalef(u, shifted);
}

#endif
