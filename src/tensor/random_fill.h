/* random_fill.h - fills tensors of any strides with random numbers, and does not count this as an
 * in-place change. */
#ifndef HEED_TENSOR_RANDOM_FILL_H
#define HEED_TENSOR_RANDOM_FILL_H

#include "heed/tensor.h"

/* hd__tensor_uniform_fill fills x with uniform numbers from a to b. The other two fill it with
 * normal and exponential numbers. All draw in the order of x's memory, and return x, which is
 * float32 or float64. */
hd_tensor *hd__tensor_uniform_fill(hd_tensor *x, double a, double b);
hd_tensor *hd__tensor_normal_fill(hd_tensor *x, double mean, double std);
hd_tensor *hd__tensor_exponential_fill(hd_tensor *x, double lambda);

/* Sets each element of x to 1 with probability p, and to 0 otherwise. Draws in logical order from
 * the MCG31 stream, and in the order of x's memory from the native one. bytes is a new bool tensor
 * (numel,), which the function releases. The caller allocates it, so that this cannot fail. */
void hd__tensor_bernoulli_fill(hd_tensor *x, hd_tensor *bytes, double p);

#endif
