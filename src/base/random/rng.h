/* rng.h - the state of a generator, for the files of base that draw from it and for
 * tensor/generator_dict.c, which saves it. */
#ifndef HEED_BASE_RNG_H
#define HEED_BASE_RNG_H

#include "base/error/assert.h"
#include "heed/base.h"

enum { HD__MT_SIZE = 624 };

static const double hd__rng_two_pi = 6.283185307179586476925;

struct hd_generator {
    int next; /* the index of the word for the next output; HD__MT_SIZE: all words are used up */
    hd_bernoulli_stream bernoulli;
    uint32_t state[HD__MT_SIZE];
    bool has_spare; /* true if `spare` holds the second number of a Box-Muller pair */
    double spare;
    const void *user;  /* identifies the thread that last locked this generator */
    uint64_t switches; /* how often a thread locked it after a different thread */
};

/* Sets g back to *before, unless another thread has locked it since. */
void hd__gen_put_back(hd_generator *g, const hd_generator *before);

/* Computes the next HD__MT_SIZE words of the state. */
void hd__mt_renew(hd_generator *g);

enum { HD__DRAWN = 512 }; /* the number of outputs that are drawn at a time */

/* Writes the next n outputs to y, as n calls of hd__rng_random would return them. */
void hd__rng_random_words(hd_generator *g, uint32_t *restrict y, int64_t n);

/* Returns the output for one word of the state. */
static inline uint32_t hd__mt_output(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

static inline uint32_t hd__rng_random(hd_generator *g)
{
    if (HD__UNLIKELY(g->next == HD__MT_SIZE)) {
        hd__mt_renew(g);
    }
    return hd__mt_output(g->state[g->next++]);
}

static inline uint64_t hd__rng_random64(hd_generator *g)
{
    uint64_t high = hd__rng_random(g);
    return high << 32 | hd__rng_random(g);
}

/* Returns a number in [0, 1) from 53 bits of two outputs, without rounding. */
static inline double hd__rng_unit_f64(hd_generator *g)
{
    return (double)(hd__rng_random64(g) & 0x1fffffffffffffu) * 0x1p-53;
}

#endif
