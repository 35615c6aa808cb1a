/* scalar_f64.h - exp, log, log1p, tanh, erf, sin and cos of float64 in plain arithmetic, which
 * compilers vectorise in a loop.
 *
 * Results are within 2 units in the last place of the exact value, those of exp and log within 1.
 * The special values are C's (Annex F). The bits are the same at every CPU level: multiply-adds are
 * fused (HDK_FMA) only where this cannot change the result, as for an exact product. Every branch
 * is computed and one is chosen. tools/generate/fit_vmath.py makes the coefficients. Functions of
 * float32 may compute in float64, too, and round the result once. */
#ifndef HEED_KERNELS_SCALAR_F64_H
#define HEED_KERNELS_SCALAR_F64_H

#include <string.h>

#include "tensor/kernels/level.h"

HDK_INLINE uint64_t scalar_bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

HDK_INLINE double scalar_of_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns the polynomial with the n coefficients c, the lowest power first. The even and the odd
 * powers are two chains, which the CPU computes side by side; `upper` has the highest power. */
HDK_INLINE double scalar_polynomial_f64(double x, int n, const double *c)
{
    double square = x * x, upper = c[n - 1], lower = c[n - 2];
    HDK_UNROLL
    for (int i = n - 3; i > 0; i -= 2) {
        upper = upper * square + c[i];
        lower = lower * square + c[i - 1];
    }
    return n % 2 ? upper * square + c[0] + x * lower : lower + x * upper;
}

/* The sum v + F64_SHIFT has the whole number nearest to v in its low bits. */
#define F64_SHIFT 0x1.8p52

#define F64_LN2 0x1.62e42feep-1 /* the first 32 bits of ln 2; F64_LN2_REST has the others */
#define F64_LN2_REST 0x1.a39ef35793c76p-33

/* ---------------------------------------------------------------- exp */

/* Returns p and sets *power to q, where e^(x + rest) = 2^q * (1 + p). rest is small. */
HDK_INLINE double scalar_exp_part_f64(double x, double rest, uint64_t *power)
{
    static const double exp_p[] = {0.5000000000000001,     0.16666666666666669,
                                   0.041666666666624164,   0.008333333333330065,
                                   0.0013888888917196719,  0.00019841269863040545,
                                   2.4801521322368692e-05, 2.7557268480310024e-06,
                                   2.7620075879983367e-07, 2.5100375832561244e-08};
    double shifted = x * 1.44269504088896340736 + F64_SHIFT, q = shifted - F64_SHIFT;
    double near = x - q * F64_LN2, s = near - q * F64_LN2_REST;
    rest += (near - s) - q * F64_LN2_REST;
    *power = scalar_bits_f64(shifted) - scalar_bits_f64(F64_SHIFT);
    return s + (s * s * scalar_polynomial_f64(s, 10, exp_p) + rest);
}

HDK_INLINE double scalar_exp_f64(double x)
{
    uint64_t power, half;
    x = x < -746 ? -746 : x; /* beyond these limits the result does not change; NaN stays */
    x = x > 710 ? 710 : x;
    double p = 1 + scalar_exp_part_f64(x, 0, &power);

    /* 2^q may be out of range, but its two factors are not, and only the second product rounds. */
    power += 2 * 1023;
    half = power >> 1;
    return p * scalar_of_f64(half << 52) * scalar_of_f64((power - half) << 52);
}

/* Returns exp(x) for a caller that adds 1 to it. Takes x below -700 for -700, because 1 + e^-700 is
 * rounded to 1. */
HDK_INLINE double scalar_exp_beside_1_f64(double x)
{
    uint64_t power;
    x = x < -700 ? -700 : x;
    x = x > 710 ? 710 : x;
    double p = 1 + scalar_exp_part_f64(x, 0, &power);
    return (p + p) * scalar_of_f64((power + 1022) << 52);
}

/* Returns e^(x + rest) - 1, where x is from -50 to 0 and rest is small. Returns NaN if x is NaN.
 * Sets *low to the rounding error of the result. */
HDK_INLINE double scalar_expm1_f64(double x, double rest, double *low)
{
    uint64_t power;
    double p = scalar_exp_part_f64(x, rest, &power), scale = scalar_of_f64((power + 1023) << 52);
    double t = (scale - 1) + scale * p;
    *low = ((scale - 1) - t) + scale * p;
    return t;
}

/* Returns tanh x, which is -t / (2 + t) with x's sign, where t = e^(-2 * |x|) - 1. A correction
 * makes up for the rounding of t and of 2 + t. In the correction, a straight line approximates
 * 1 / (2 + t). */
HDK_INLINE double scalar_tanh_f64(double x)
{
    double a = fabs(x), low,
           t = scalar_expm1_f64(-2 * (a > 25 ? 25 : a), 0, &low); /* a NaN stays */
    double sum = 2 + t, rest = (2 - sum) + t, y = t / sum;
    return copysign(y + (low - y * rest) * (1.457 - 0.5 * sum), x);
}

/* Returns erf x, which is erf a with x's sign, where a = min(|x|, 6). erf a is
 * 1 - e^-(a * (2 / sqrt(pi) + a * p(a) / q(a))). The upper halves of a and of 2 / sqrt(pi) have an
 * exact product; the other terms are small beside it. */
HDK_INLINE double scalar_erf_f64(double x)
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
                               2.999993166202577e-05};
    double a = fabs(x), b = a > 6 ? 6 : a; /* a NaN stays */
    double more = b * scalar_polynomial_f64(b, 10, p) / scalar_polynomial_f64(b, 9, q);
    double rate = more + 0x1.0a6db446b8ea4p-30;
    double upper = scalar_of_f64(scalar_bits_f64(b) & ~(uint64_t)0x7ffffff);
    double product = upper * 0x1.20dd75p+0;
    double low = upper * rate + (b - upper) * (0x1.20dd75p+0 + rate), sum = product + low;
    double ignored;
    return copysign(scalar_expm1_f64(-sum, (sum - product) - low, &ignored), x);
}

/* ---------------------------------------------------------------- log */

/* Returns log(m * 2^e) + rest, for m = 1 + f from sqrt(1/2) to sqrt(2) and a small rest. */
HDK_INLINE double scalar_log_of_f64(double f, double e, double rest)
{
    static const double log_p[] = {0.666666666666667,  0.39999999999899505, 0.28571428625975487,
                                   0.2222221113479508, 0.18182889125261723, 0.15331721600556036,
                                   0.1461644968504345};
    double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
    double r = z * scalar_polynomial_f64(z, 7, log_p);
    double low = s * (half + r) + (e * F64_LN2_REST + rest);
    return HDK_FMA(e, F64_LN2, f - (half - low));
}

/* Returns f and sets *e, where x = (1 + f) * 2^e. f and *e mean nothing unless x is positive and
 * normal. */
HDK_INLINE double scalar_split_f64(double x, double *e)
{
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    uint64_t bits = scalar_bits_f64(x) + (one - sqrt_half);
    *e = scalar_of_f64((bits >> 52) | 0x4330000000000000) - (0x1p52 + 1023);
    return scalar_of_f64((bits & 0xfffffffffffff) + sqrt_half) - 1;
}

/* Returns y, or the special value of log x if x is 0, negative, infinite or NaN. */
HDK_INLINE double scalar_log_ends_f64(double x, double y)
{
    y = x == 0 ? -INFINITY : y;
    y = x < 0 ? NAN : y;
    return x < INFINITY ? y : x; /* infinity and NaN stay */
}

HDK_INLINE double scalar_log_f64(double x)
{
    double e, tiny = x < 0x1p-1022 ? 54 : 0,
              f = scalar_split_f64(x < 0x1p-1022 ? x * 0x1p54 : x, &e);
    return scalar_log_ends_f64(x, scalar_log_of_f64(f, e - tiny, 0));
}

/* Returns log(1 + x) = log u + rest, where u is 1 + x rounded, and rest makes up for the rounding.
 * If u is from sqrt(1/2) to sqrt(2), f is x itself and rest is 0. */
HDK_INLINE double scalar_log1p_f64(double x)
{
    double e, u = 1 + x, less = u - 1, f = scalar_split_f64(u, &e);
    double rest = ((1 - (u - less)) + (x - less)) / u;
    double y = scalar_log_of_f64(e == 0 ? x : f, e, e == 0 ? 0 : rest);
    return scalar_log_ends_f64(u, x == 0 ? x : y); /* -0 stays -0 */
}

/* ---------------------------------------------------------------- for float32 results
 *
 * The relative error of these functions is less than 2^-32. */

/* Returns exp(x) for x from -700 to 700, and NaN if x is NaN. */
HDK_INLINE double scalar_exp_short_f64(double x)
{
    static const double exp_p[] = {0.5000000013457727,    0.16666666681614256,
                                   0.04166646500604005,   0.008333310934448869,
                                   0.0013933641031986701, 0.00019890980869750332};
    double shifted = x * 1.44269504088896340736 + F64_SHIFT, q = shifted - F64_SHIFT;
    double s = x - q * F64_LN2 - q * F64_LN2_REST;
    double p = 1 + (s + s * s * scalar_polynomial_f64(s, 6, exp_p));
    return p * scalar_of_f64((scalar_bits_f64(shifted) - scalar_bits_f64(F64_SHIFT) + 1023) << 52);
}

/* Returns log(m * 2^e), for m = 1 + f from sqrt(1/2) to sqrt(2). */
HDK_INLINE double scalar_log_short_of_f64(double f, double e)
{
    static const double log_p[] = {0.6666666655449709, 0.40000121839806124, 0.2855082081596066,
                                   0.23330467216303874};
    double s = f / (2 + f), z = s * s;
    return e * 0.69314718055994530942 + s * (2 + z * scalar_polynomial_f64(z, 4, log_p));
}

HDK_INLINE double scalar_log1p_short_f64(double x)
{
    double e, u = 1 + x, f = scalar_split_f64(u, &e);
    double y = scalar_log_short_of_f64(e == 0 ? x : f, e);
    return scalar_log_ends_f64(u, x == 0 ? x : y); /* -0 stays -0 */
}

/* Returns a^b, which is e^(b * log |a|) with the sign of the power. It is NaN if a is negative and
 * finite, and b is not whole. a and b must be float32 numbers, because every b from 2^24 on is
 * taken for even. */
HDK_INLINE double scalar_pow_short_f64(double a, double b)
{
    double e, base = fabs(a), f = scalar_split_f64(base, &e);
    double t = b * scalar_log_ends_f64(base, scalar_log_short_of_f64(f, e));
    t = t < -700 ? -700 : t;
    t = t > 700 ? 700 : t;
    double y = scalar_exp_short_f64(base == 1 ? 0 : t); /* e^0, even if b is infinite or NaN */

    double size = fabs(b), least = size > 0x1p24 ? 0x1p24 : size, shifted = least + F64_SHIFT;
    double broken = a > -INFINITY ? NAN : y;
    broken = a < 0 ? broken : y;
    uint64_t sign = scalar_bits_f64(a) >> 63 & scalar_bits_f64(shifted);
    y = shifted - F64_SHIFT == least ? scalar_of_f64(scalar_bits_f64(y) ^ sign << 63) : broken;
    return b == 0 ? 1 : y;
}

/* ---------------------------------------------------------------- sin and cos */

#define F64_SIN_MOST 16384 /* scalar_sin_f64 takes |x| below this */

/* Returns a if the bits of the mask are 1, and b if they are 0. */
HDK_INLINE double scalar_either_f64(uint64_t mask, double a, double b)
{
    uint64_t differ = scalar_bits_f64(a) ^ scalar_bits_f64(b);
    return scalar_of_f64(scalar_bits_f64(b) ^ (differ & mask));
}

/* Returns sin(x + quarters * pi / 2). Writes x as q * pi / 2 + r, where pi / 2 is the sum of three
 * parts. q times each of the first two parts is exact. */
HDK_INLINE double scalar_sin_f64(double x, int quarters)
{
    static const double sin_p[] = {-0.16666666666666666,    0.008333333333330936,
                                   -0.00019841269836740532, 2.7557316093198404e-06,
                                   -2.5051129896450185e-08, 1.5917988979397432e-10};
    static const double cos_p[] = {0.041666666666666664,  -0.0013888888888887389,
                                   2.48015872987544e-05,  -2.755731726587808e-07,
                                   2.087614504941318e-09, -1.138254464534925e-11};
    double shifted = x * 0.63661977236758134308 + F64_SHIFT, q = shifted - F64_SHIFT;
    double near = HDK_FMA(-q, 0x1.921fb54440000p+0, x);
    double r = HDK_FMA(-q, 0x1.68c234c4c4000p-39, near);
    r += HDK_FMA(-q, 0x1.68c234c4c4000p-39, near - r) - q * 0x1.3145c06e0e689p-78;

    uint64_t n = scalar_bits_f64(shifted) + (uint64_t)quarters, odd = 0 - (n & 1);
    double c[6], z = r * r, w = HDK_FMA(-0.5, z, 1);
    HDK_UNROLL
    for (int i = 0; i < 6; i++) {
        c[i] = scalar_either_f64(odd, cos_p[i], sin_p[i]);
    }
    double rest = scalar_either_f64(odd, HDK_FMA(-0.5, z, 1 - w), 0);
    rest += scalar_either_f64(odd, z, r) * z * scalar_polynomial_f64(z, 6, c);
    double y = scalar_either_f64(odd, w, r) + rest;
    y = scalar_of_f64(scalar_bits_f64(y) ^ (n & 2) << 62);
    return quarters == 0 && x == 0 ? x : y; /* -0 stays -0 */
}

/* Returns sin(x + half * pi), for a float32 x with |x| < F64_SIN_MOST and a float32 result; half is
 * 0 or 0.5. Writes x as q * pi + r, where pi is the sum of two parts. The products of x with 1 / pi
 * and of q with both parts are exact, so q and r are the same with and without fused multiply-adds.
 * The polynomial differs in its last bits, but the float32 result does not: with HEED_TEST_STEP=1,
 * tests/ops/test_unary.c compares it for every x. */
HDK_INLINE double scalar_sin_short_f64(double x, double half)
{
    static const double sin_p[] = {0.9999999999999496,    -0.1666666666646655,
                                   0.0083333333203519,    -0.00019841266681876787,
                                   2.755695280400059e-06, -2.503026387632415e-08,
                                   1.541115620698822e-10};
    double shifted = HDK_FMA(x, 0x1.45f306dp-2, half) + F64_SHIFT, q = shifted - F64_SHIFT - half;
    double r = HDK_FMA(-q, 0x1.68c234c4c4000p-38, HDK_FMA(-q, 0x1.921fb54440000p+1, x));

    double z = r * r, y = sin_p[6];
    HDK_UNROLL
    for (int i = 5; i >= 0; i--) {
        y = HDK_FMA(y, z, sin_p[i]);
    }
    return scalar_of_f64(scalar_bits_f64(r * y) ^ scalar_bits_f64(shifted) << 63);
}

#endif
