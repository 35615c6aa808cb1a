/* generator.h - a generator and what it draws one by one (rng.c). */
#ifndef HEED_BASE_GENERATOR_H
#define HEED_BASE_GENERATOR_H

#include "heed/base.h"

/* All draws of one call, and other changes, happen between lock and unlock. Only the default
 * generator has a lock that other threads wait for. */
void hd__gen_lock(hd_generator *g);
void hd__gen_hold(const hd_generator *g); /* in its place, where g is only read */
void hd__gen_unlock(const hd_generator *g);
static inline void hd__gen_locked_end(hd_generator *const *g)
{
    hd__gen_unlock(*g);
}
/* Locks a generator until the end of the block. */
#define HD__GEN_LOCKED(g)                                                                          \
    hd_generator *const hd__gen_locked __attribute__((cleanup(hd__gen_locked_end), unused)) = (g); \
    hd__gen_lock(g)
void hd__gen_seed(hd_generator *g, int64_t value); /* g is locked, or no other thread has it */

/* One standard normal number in float64, by Box and Muller, with the generator's spare. It fills
 * tensors of fewer than 16 elements and strided ones. */
double hd__normal_sample(hd_generator *g);

/* n numbers in [lo, hi), and the numbers from 0 to n - 1 in any order. These two lock g. */
void hd__randint(hd_generator *g, int64_t *r, int64_t n, int64_t lo, int64_t hi);
void hd__randperm(hd_generator *g, int64_t *r, int64_t n);
double hd__exponential_sample(hd_generator *g, double lambda);

#endif
