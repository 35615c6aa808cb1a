/* fma.h - the sum of two float64 for a multiply-add that must be rounded once.
 *
 * MinGW-w64's fma and fmaf and Emscripten's fmaf round some sums to the wrong side, and heed's
 * weights depend on them. fma.c has other functions for these systems. Here is their idea (Boldo
 * and Melquiond 2008, "Emulation of FMA and correctly rounded sums"): if a sum of float64 has an
 * error, the exact value lies between two float64, and the sum becomes the one of them whose last
 * bit is 1. Then the conversion to float32 rounds it as it would round the exact value. */
#ifndef HEED_BASE_FMA_H
#define HEED_BASE_FMA_H

#include <stdint.h>
#include <string.h>

/* Returns a + b, rounded. Sets *rest to the exact sum minus the result. */
static inline double hd__sys_sum_exact(double a, double b, double *rest)
{
    double s = a + b, part = s - a;
    *rest = (a - (s - part)) + (b - part);
    return s;
}

/* Returns a + b if it is exact, and otherwise its neighbour whose last bit is 1. */
static inline double hd__sys_sum_to_odd(double a, double b)
{
    double rest, s = hd__sys_sum_exact(a, b, &rest);
    int64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if ((rest > 0 || rest < 0) && bits % 2 == 0) { /* false if rest is NaN */
        bits += (rest > 0) == (s > 0) ? 1 : -1;
    }
    memcpy(&s, &bits, sizeof s);
    return s;
}

#endif
