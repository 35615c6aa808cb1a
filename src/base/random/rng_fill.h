/* rng_fill.h - fills arrays with numbers of one distribution (rng_fill.c). */
#ifndef HEED_BASE_RNG_FILL_H
#define HEED_BASE_RNG_FILL_H

#include "heed/base.h"

/* Both fill n contiguous elements with uniform numbers in [a, b). The caller has locked g.
 * rng_fill.c says how they are computed and rounded. */
void hd__rng_uniform_f32(hd_generator *g, float *x, int64_t n, double a, double b);
void hd__rng_uniform_f64(hd_generator *g, double *x, int64_t n, double a, double b);

/* Both fill n contiguous elements, n >= 16, with normal numbers, which are drawn in blocks of 16.
 * The caller has locked g. */
void hd__rng_normal_f32(hd_generator *g, float *x, int64_t n, double mean, double std);
void hd__rng_normal_f64(hd_generator *g, double *x, int64_t n, double mean, double std);

#endif
