/* random_fill.h - fills tensors of any strides from the thread's generator. No version changes. */
#ifndef HEED_TENSOR_RANDOM_FILL_H
#define HEED_TENSOR_RANDOM_FILL_H

#include "heed/tensor.h"

/* x is of a float dtype. These go in the order of x's memory, and return x. */
hd_tensor *hd__uniform_fill(hd_tensor *x, double a, double b);
hd_tensor *hd__normal_fill(hd_tensor *x, double mean, double std);
hd_tensor *hd__exponential_fill(hd_tensor *x, double lambda);

/* 1 with probability p, otherwise 0, in x's dtype: in logical order from the MCG31 stream, in
 * the order of x's memory from the native one. bytes is a fresh bool tensor of (numel,); it is
 * released, and was made by the caller so that this cannot fail. */
void hd__bernoulli_fill(hd_tensor *x, hd_tensor *bytes, double p);

#endif
