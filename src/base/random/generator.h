/* generator.h - locks a generator and draws single numbers from it (rng.c). */
#ifndef HEED_BASE_GENERATOR_H
#define HEED_BASE_GENERATOR_H

#include "heed/base.h"

/* Locks g. Each call locks its generator around all its draws and changes. Only the default
 * generator has a mutex, because the program uses any other one on one thread at a time. */
void hd__gen_lock(hd_generator *g);
/* Locks g for a caller that only reads it, so this does not count as a draw. */
void hd__gen_hold(const hd_generator *g);
void hd__gen_unlock(const hd_generator *g);
static inline void hd__gen_locked_end(hd_generator *const *g)
{
    hd__gen_unlock(*g);
}
/* Locks a generator until the end of the block. */
#define HD__GEN_LOCKED(g)                                                                          \
    hd_generator *const hd__gen_locked __attribute__((cleanup(hd__gen_locked_end), unused)) = (g); \
    hd__gen_lock(g)
/* Seeds g with value. The caller has locked g, or no other thread uses it. */
void hd__gen_seed(hd_generator *g, int64_t value);

/* The caller has locked g. Returns a standard normal number in float64, by the method of Box and
 * Muller. The method gives two numbers at a time, and g keeps the second one for the next call.
 * Tensors of fewer than 16 elements and strided tensors are drawn with this function. */
double hd__rng_normal_sample(hd_generator *g);

/* Both lock g. hd__rng_randint writes n numbers in [lo, hi) to r. hd__rng_randperm writes the
 * numbers from 0 to n - 1 to r, in random order. */
void hd__rng_randint(hd_generator *g, int64_t *r, int64_t n, int64_t lo, int64_t hi);
void hd__rng_randperm(hd_generator *g, int64_t *r, int64_t n);
/* Returns an exponential number with the rate lambda. The caller has locked g. */
double hd__rng_exponential_sample(hd_generator *g, double lambda);

#endif
