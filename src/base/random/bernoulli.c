/* bernoulli.c - Bernoulli draws, in both streams.
 *
 * MCG31: one output of the generator is the seed of x <- 1132489760 * x mod (2^31 - 1), the
 * multiplicative generator of L'Ecuyer (1999). Element i is 1 if x_i / (2^31 - 1) < p. A modular
 * power reaches any x_i directly, so several threads can draw parts of the range.
 *
 * Native: element i is 1 if a uniform number from 53 bits of the generator is below p. */
#include "base/random/bernoulli.h"
#include "base/random/mcg31.h"
#include "base/random/rng.h"
#include "base/threads/pool.h"

#include <math.h>

enum { MCG31_GRAIN = 16384 };

typedef struct mcg31_draw {
    uint8_t *x;
    uint32_t seed;  /* x_0, the start of the stream */
    uint32_t limit; /* element i is 1 if x_i < limit */
} mcg31_draw;

/* Returns the least x with x / (2^31 - 1) >= p. Comparing with it saves a division for every
 * element. */
uint32_t hd__mcg31_limit(double p)
{
    const double modulus = HD__MCG31_MODULUS;
    double x = floor(p * modulus); /* rounding may make it 1 too small */
    while (x < modulus && x / modulus < p) {
        x++;
    }
    return (uint32_t)x;
}

enum { LANES = 8 }; /* number of elements computed at a time, each from the one LANES before it */

static void draw_mcg31(int64_t begin, int64_t end, void *arg)
{
    const mcg31_draw *d = arg;
    const uint32_t step = hd__mcg31_power(LANES);
    uint32_t x[LANES];
    hd__mcg31_from(d->seed, begin, LANES, x);
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            d->x[i + l] = x[l] < d->limit;
            x[l] = hd__mcg31_times(x[l], step);
        }
    }
    for (int l = 0; i + l < end; l++) {
        d->x[i + l] = x[l] < d->limit;
    }
}

uint32_t hd__mcg31_seed(hd_generator *g)
{
    uint32_t seed = hd__rng_random(g) % HD__MCG31_MODULUS;
    return seed ? seed : 1;
}

void hd__rng_bernoulli(hd_generator *g, uint8_t *x, int64_t n, double p)
{
    if (n > 0 && g->bernoulli == HD_BERNOULLI_MCG31) {
        mcg31_draw d = {.x = x, .seed = hd__mcg31_seed(g), .limit = hd__mcg31_limit(p)};
        hd__parallel_for(n, MCG31_GRAIN, draw_mcg31, &d);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = hd__rng_unit_f64(g) < p;
    }
}
