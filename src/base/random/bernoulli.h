/* bernoulli.h - draws of 0 and 1 (bernoulli.c). */
#ifndef HEED_BASE_BERNOULLI_H
#define HEED_BASE_BERNOULLI_H

#include "heed/base.h"

/* Fills x with n Bernoulli(p) draws, bytes 0 or 1, from the stream that is set for g, which the
 * caller has locked. MCG31 takes one output of g as its seed; the native stream takes two outputs
 * per element. */
void hd__rng_bernoulli(hd_generator *g, uint8_t *x, int64_t n, double p);

/* For callers that compute an MCG31 stream themselves (mcg31.h). hd__mcg31_seed takes one output of
 * g, which the caller has locked, and returns x_0. Element i is 1 if x_i < hd__mcg31_limit(p). */
uint32_t hd__mcg31_seed(hd_generator *g);
uint32_t hd__mcg31_limit(double p);

#endif
