/* mcg31.h - the multiplicative generator x <- 1132489760 * x mod (2^31 - 1) of L'Ecuyer (1999),
 * which is the MCG31 stream of Bernoulli draws. A modular power reaches any element directly.
 * Kernels compute the stream in vectors (tensor/kernels/draws.h). */
#ifndef HEED_BASE_MCG31_H
#define HEED_BASE_MCG31_H

#include <stdint.h>

enum { HD__MCG31_MODULUS = 2147483647, HD__MCG31_MULTIPLIER = 1132489760 };

/* Returns a * b mod (2^31 - 1), for a and b below 2^31 - 1. Since 2^31 mod (2^31 - 1) is 1, the
 * high bits of the product are added to the low ones. */
static inline uint32_t hd__mcg31_times(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)a * b;
    uint32_t sum = (uint32_t)(product & HD__MCG31_MODULUS) + (uint32_t)(product >> 31);
    return sum >= HD__MCG31_MODULUS ? sum - HD__MCG31_MODULUS : sum;
}

/* Returns the multiplier's n-th power mod (2^31 - 1). Element x_n of a stream is x_0 times this
 * power. */
static inline uint32_t hd__mcg31_power(int64_t n)
{
    uint32_t y = 1, a = HD__MCG31_MULTIPLIER;
    for (; n > 0; n >>= 1, a = hd__mcg31_times(a, a)) {
        if (n & 1) {
            y = hd__mcg31_times(y, a);
        }
    }
    return y;
}

/* Writes to x the elements i to i + n - 1 of the stream whose element 0 is x0. */
static inline void hd__mcg31_from(uint32_t x0, int64_t i, int n, uint32_t *x)
{
    uint32_t at = hd__mcg31_times(x0, hd__mcg31_power(i));
    for (int l = 0; l < n; l++, at = hd__mcg31_times(at, HD__MCG31_MULTIPLIER)) {
        x[l] = at;
    }
}

#endif
