/* bernoulli.c - Bernoulli draws, in both streams.
 *
 * MCG31: one output of the generator seeds x <- 1132489760 x mod (2^31 - 1), the multiplicative
 * generator of L'Ecuyer (1999); element i is 1 when x_i / (2^31 - 1) < p. Any x_i is reached by a
 * modular power, so that the range can be cut. Native: element i is 1 when a uniform64 < p. */
#include "base/rng.h"

#include <math.h>

static const uint32_t modulus = 2147483647, multiplier = 1132489760;

enum { GRAIN = 16384 };

typedef struct mcg31_draw {
    uint8_t *x;
    uint32_t seed;  /* x_0 */
    uint32_t limit; /* 1 for x_i below it */
} mcg31_draw;

/* a b mod 2^31 - 1, for a and b below it: 2^31 = 1, so the high bits are added to the low. */
static uint32_t times(uint32_t a, uint32_t b)
{
    uint64_t product = (uint64_t)a * b;
    uint32_t sum = (uint32_t)(product & modulus) + (uint32_t)(product >> 31);
    return sum >= modulus ? sum - modulus : sum;
}

static uint32_t power(uint32_t a, int64_t n)
{
    uint32_t y = 1;
    for (; n > 0; n >>= 1, a = times(a, a))
        if (n & 1)
            y = times(y, a);
    return y;
}

/* The least x with x / (2^31 - 1) >= p, so that the division need not be done for every element. */
static uint32_t limit_of(double p)
{
    double x = floor(p * modulus);
    while (x > 0 && (x - 1) / modulus >= p)
        x--;
    while (x < modulus && x / modulus < p)
        x++;
    return (uint32_t)x;
}

static void draw_mcg31(int64_t begin, int64_t end, void *arg)
{
    const mcg31_draw *d = arg;
    uint32_t x = times(d->seed, power(multiplier, begin));
    for (int64_t i = begin; i < end; i++, x = times(x, multiplier))
        d->x[i] = x < d->limit;
}

void hd__bernoulli(hd_generator *g, uint8_t *x, int64_t n, double p)
{
    if (n > 0 && g->bernoulli == HD_BERNOULLI_MCG31) {
        uint32_t seed = hd__random(g) % modulus;
        mcg31_draw d = {.x = x, .seed = seed ? seed : 1, .limit = limit_of(p)};
        hd__parallel_for(n, GRAIN, draw_mcg31, &d);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        x[i] = hd__unit_f64(g) < p;
}
