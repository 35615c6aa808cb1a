/* bernoulli.h - draws of 0 and 1 (bernoulli.c). */
#ifndef HEED_BASE_BERNOULLI_H
#define HEED_BASE_BERNOULLI_H

#include "heed/base.h"

/* n Bernoulli(p) draws as bytes 0 or 1, from the stream that the generator is set to. MCG31 takes
 * one output of the generator as its seed; the native stream takes two outputs an element. */
void hd__bernoulli(hd_generator *g, uint8_t *x, int64_t n, double p);

/* For callers that draw the elements of an MCG31 stream themselves (mcg31.h). The seed takes one
 * output and is x_0; element i is 1 if x_i is below the limit of p. */
uint32_t hd__mcg31_seed(hd_generator *g);
uint32_t hd__mcg31_limit(double p);

#endif
