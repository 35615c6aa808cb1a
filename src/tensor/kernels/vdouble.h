/* vdouble.h - exp, log, log1p, tanh, erf, sin and cos of float64 in plain arithmetic, which
 * compilers vectorise in a loop.
 *
 * Results are within 2 units in the last place of the exact value, those of exp and log within 1;
 * the special values are C's (Annex F). Nothing here is a fused multiply-add, so that the bits are
 * the same at every CPU level. Every branch is computed and one is chosen.
 * tools/generate/fit_vmath.py makes the numbers. float32 functions may compute here, too, and round
 * once. */
#ifndef HEED_KERNELS_VDOUBLE_H
#define HEED_KERNELS_VDOUBLE_H

#include <string.h>

#include "tensor/kernels/kernels.h"

HDK_INLINE uint64_t vdouble_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

HDK_INLINE double vdouble_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The polynomial with the n coefficients c, the lowest power first, n even: the even and the odd
 * powers are two chains, which go side by side. */
HDK_INLINE double vdouble_polynomial(double x, int n, const double *c)
{
    double square = x * x, odd = c[n - 1], even = c[n - 2];
    HDK_UNROLL
    for (int i = n - 3; i > 0; i -= 2) {
        odd = odd * square + c[i];
        even = even * square + c[i - 1];
    }
    return even + x * odd;
}

/* Adding it leaves the nearest whole number in the low bits of the sum. */
#define VDOUBLE_SHIFT 0x1.8p52

#define VDOUBLE_LN2 0x1.62e42feep-1 /* its first 32 bits, and what they lack */
#define VDOUBLE_LN2_REST 0x1.a39ef35793c76p-33

/* ---------------------------------------------------------------- exp */

/* e^(x + rest) = 2^q (1 + p) for a small rest: returns p, and q as *power */
HDK_INLINE double vdouble_exp_part(double x, double rest, uint64_t *power)
{
    static const double exp_p[] = {0.5000000000000001,     0.16666666666666669,
                                   0.041666666666624164,   0.008333333333330065,
                                   0.0013888888917196719,  0.00019841269863040545,
                                   2.4801521322368692e-05, 2.7557268480310024e-06,
                                   2.7620075879983367e-07, 2.5100375832561244e-08};
    double shifted = x * 1.44269504088896340736 + VDOUBLE_SHIFT, q = shifted - VDOUBLE_SHIFT;
    double near = x - q * VDOUBLE_LN2, s = near - q * VDOUBLE_LN2_REST;
    rest += (near - s) - q * VDOUBLE_LN2_REST;
    *power = vdouble_bits(shifted) - vdouble_bits(VDOUBLE_SHIFT);
    return s + (s * s * vdouble_polynomial(s, 10, exp_p) + rest);
}

HDK_INLINE double vdouble_exp(double x)
{
    uint64_t power, half;
    x = x < -746 ? -746 : x; /* the result does not change beyond these, and NaN stays */
    x = x > 710 ? 710 : x;
    double p = 1 + vdouble_exp_part(x, 0, &power);

    /* 2^q may be out of range. Its two halves are not, and only the second product rounds. */
    power += 2 * 1023;
    half = power >> 1;
    return p * vdouble_of(half << 52) * vdouble_of((power - half) << 52);
}

/* exp for a sum with 1: what is below e^-700 is about 0 */
HDK_INLINE double vdouble_exp_beside_1(double x)
{
    uint64_t power;
    x = x < -700 ? -700 : x;
    x = x > 710 ? 710 : x;
    double p = 1 + vdouble_exp_part(x, 0, &power);
    return (p + p) * vdouble_of((power + 1022) << 52);
}

/* e^(x + rest) - 1 for x from -50 to 0 and a small rest, and NaN; *low is what it was rounded by */
HDK_INLINE double vdouble_expm1(double x, double rest, double *low)
{
    uint64_t power;
    double p = vdouble_exp_part(x, rest, &power), scale = vdouble_of((power + 1023) << 52);
    double t = (scale - 1) + scale * p;
    *low = ((scale - 1) - t) + scale * p;
    return t;
}

/* With t = e^(-2 |x|) - 1: -t / (2 + t), and x's sign. A straight line serves as the inverse that
 * corrects the rounding of t and of 2 + t. */
HDK_INLINE double vdouble_tanh(double x)
{
    double a = fabs(x), low, t = vdouble_expm1(-2 * (a > 25 ? 25 : a), 0, &low); /* a NaN stays */
    double sum = 2 + t, rest = (2 - sum) + t, y = t / sum;
    return copysign(y + (low - y * rest) * (1.457 - 0.5 * sum), x);
}

/* With a = min(|x|, 6): 1 - e^-(a (2 / sqrt(pi) + a p(a) / q(a))), and x's sign. The upper halves
 * of the first two factors have an exact product, beside which the rest is small. */
HDK_INLINE double vdouble_erf(double x)
{
    static const double p[] = {0.6366197723675814,    1.2596483064114898,    1.2073247251922066,
                               0.7070968457936657,    0.27211443457416745,   0.06917454294852672,
                               0.011060112213660092,  0.0009651986817075388, 2.999429720848079e-05,
                               4.5299804129892564e-11};
    static const double q[] = {1,
                               1.8172161050027442,
                               1.6331461689625082,
                               0.9019887599627855,
                               0.3288276716164119,
                               0.07929867910621505,
                               0.012040773206241777,
                               0.000998487972752352,
                               2.999993166202577e-05,
                               0};
    double a = fabs(x), b = a > 6 ? 6 : a; /* a NaN stays */
    double more = b * vdouble_polynomial(b, 10, p) / vdouble_polynomial(b, 10, q);
    double rate = more + 0x1.0a6db446b8ea4p-30;
    double upper = vdouble_of(vdouble_bits(b) & ~(uint64_t)0x7ffffff);
    double product = upper * 0x1.20dd75p+0;
    double low = upper * rate + (b - upper) * (0x1.20dd75p+0 + rate), sum = product + low;
    double ignored;
    return copysign(vdouble_expm1(-sum, (sum - product) - low, &ignored), x);
}

/* ---------------------------------------------------------------- log */

/* log(m 2^e) + rest for m = 1 + f from sqrt(1/2) to sqrt(2) and a small rest */
HDK_INLINE double vdouble_log_of(double f, double e, double rest)
{
    static const double log_p[] = {
        0.666666666666667,   0.39999999999899505, 0.28571428625975487, 0.2222221113479508,
        0.18182889125261723, 0.15331721600556036, 0.1461644968504345,  0};
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double r = z * vdouble_polynomial(z, 8, log_p);
    double low = s * (half + r) + (e * VDOUBLE_LN2_REST + rest);
    return e * VDOUBLE_LN2 - ((half - low) - f);
}

/* x = (1 + f) 2^e for normal x > 0 */
HDK_INLINE double vdouble_split(double x, double *e)
{
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    uint64_t bits = vdouble_bits(x) + (one - sqrt_half);
    *e = vdouble_of((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    return vdouble_of((bits & 0xfffffffffffff) + sqrt_half) - 1;
}

/* y, or what a logarithm is at x where that is no positive number */
HDK_INLINE double vdouble_log_ends(double x, double y)
{
    y = x == 0 ? -INFINITY : y;
    y = x < 0 ? NAN : y;
    return x < INFINITY ? y : x; /* infinity and NaN */
}

HDK_INLINE double vdouble_log(double x)
{
    double e, tiny = x < 0x1p-1022 ? 54 : 0, f = vdouble_split(x < 0x1p-1022 ? x * 0x1p54 : x, &e);
    return vdouble_log_ends(x, vdouble_log_of(f, e - tiny, 0));
}

/* log u for u = 1 + x rounded, and the rest by which it was rounded; x itself where u is near 1 */
HDK_INLINE double vdouble_log1p(double x)
{
    double e, u = 1 + x, less = u - 1, f = vdouble_split(u, &e);
    double rest = ((1 - (u - less)) + (x - less)) / u;
    double y = vdouble_log_of(e == 0 ? x : f, e, e == 0 ? 0 : rest);
    return vdouble_log_ends(u, x == 0 ? x : y); /* -0 too */
}

/* ---------------------------------------------------------------- for float32 results
 *
 * Their relative error is less than 2^-32. */

/* for x from -700 to 700, and NaN */
HDK_INLINE double vdouble_exp_short(double x)
{
    static const double exp_p[] = {0.5000000013457727,    0.16666666681614256,
                                   0.04166646500604005,   0.008333310934448869,
                                   0.0013933641031986701, 0.00019890980869750332};
    double shifted = x * 1.44269504088896340736 + VDOUBLE_SHIFT, q = shifted - VDOUBLE_SHIFT;
    double s = x - q * VDOUBLE_LN2 - q * VDOUBLE_LN2_REST;
    double p = 1 + (s + s * s * vdouble_polynomial(s, 6, exp_p));
    return p * vdouble_of((vdouble_bits(shifted) - vdouble_bits(VDOUBLE_SHIFT) + 1023) << 52);
}

/* log(m 2^e) for m = 1 + f from sqrt(1/2) to sqrt(2) */
HDK_INLINE double vdouble_log_short_of(double f, double e)
{
    static const double log_p[] = {0.6666666655449709, 0.40000121839806124, 0.2855082081596066,
                                   0.23330467216303874};
    double s = f / (2 + f), z = s * s;
    return e * 0.69314718055994530942 + s * (2 + z * vdouble_polynomial(z, 4, log_p));
}

HDK_INLINE double vdouble_log1p_short(double x)
{
    double e, u = 1 + x, f = vdouble_split(u, &e);
    double y = vdouble_log_short_of(e == 0 ? x : f, e);
    return vdouble_log_ends(u, x == 0 ? x : y); /* -0 too */
}

/* a^b = e^(b log |a|) with its sign; NaN for a finite a < 0 and a b that is not whole. a and b are
 * floats, of which every one from 2^24 on is even. */
HDK_INLINE double vdouble_pow_short(double a, double b)
{
    double e, base = fabs(a), f = vdouble_split(base, &e);
    double t = b * vdouble_log_ends(base, vdouble_log_short_of(f, e));
    t = t < -700 ? -700 : t;
    t = t > 700 ? 700 : t;
    double y = vdouble_exp_short(base == 1 ? 0 : t); /* also where b is infinite or NaN */

    double size = fabs(b), least = size > 0x1p24 ? 0x1p24 : size, shifted = least + VDOUBLE_SHIFT;
    double broken = a > -INFINITY ? NAN : y;
    broken = a < 0 ? broken : y;
    uint64_t sign = vdouble_bits(a) >> 63 & vdouble_bits(shifted);
    y = shifted - VDOUBLE_SHIFT == least ? vdouble_of(vdouble_bits(y) ^ sign << 63) : broken;
    return b == 0 ? 1 : y;
}

/* ---------------------------------------------------------------- sin and cos */

#define VDOUBLE_SIN_MOST 16384 /* sin and cos take what is smaller */

/* sin(x + quarters pi / 2). x = q pi / 2 + r with pi / 2 in three parts, of which the first two are
 * exact times any q. */
HDK_INLINE double vdouble_sin(double x, int quarters)
{
    static const double sin_p[] = {-0.16666666666666666,    0.008333333333330936,
                                   -0.00019841269836740532, 2.7557316093198404e-06,
                                   -2.5051129896450185e-08, 1.5917988979397432e-10};
    static const double cos_p[] = {0.041666666666666664,  -0.0013888888888887389,
                                   2.48015872987544e-05,  -2.755731726587808e-07,
                                   2.087614504941318e-09, -1.138254464534925e-11};
    double shifted = x * 0.63661977236758134308 + VDOUBLE_SHIFT, q = shifted - VDOUBLE_SHIFT;
    double near = x - q * 0x1.921fb54440000p+0, middle = q * 0x1.68c234c4c4000p-39;
    double r = near - middle;
    r += ((near - r) - middle) - q * 0x1.3145c06e0e689p-78;

    double z = r * r, half = 0.5 * z, w = 1 - half;
    uint64_t s = vdouble_bits(r + r * z * vdouble_polynomial(z, 6, sin_p));
    uint64_t c = vdouble_bits(w + ((1 - w) - half + z * z * vdouble_polynomial(z, 6, cos_p)));
    uint64_t n = vdouble_bits(shifted) + (uint64_t)quarters, odd = 0 - (n & 1);
    double y = vdouble_of(((c & odd) | (s & ~odd)) ^ (n & 2) << 62);
    return quarters == 0 && x == 0 ? x : y; /* -0 too */
}

#endif
