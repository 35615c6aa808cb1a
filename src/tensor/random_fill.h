/* random_fill.h - fills tensors of any strides with random numbers, without counting an in-place
 * change. */
#ifndef HEED_TENSOR_RANDOM_FILL_H
#define HEED_TENSOR_RANDOM_FILL_H

#include "heed/tensor.h"

/* Each function fills x, which is float32 or float64, in the order of x's memory, and returns x.
 * hd__tensor_uniform_fill draws uniform numbers from a to b; the other two functions draw normal
 * and exponential numbers. */
hd_tensor *hd__tensor_uniform_fill(hd_tensor *x, double a, double b);
hd_tensor *hd__tensor_normal_fill(hd_tensor *x, double mean, double std);
hd_tensor *hd__tensor_exponential_fill(hd_tensor *x, double lambda);

/* Sets each element of x to 1 with probability p, and to 0 otherwise. If the generator is set to
 * HD_BERNOULLI_MCG31, draws in logical (row-major) order, otherwise in the order of x's memory.
 * bytes is a new bool tensor (numel,), which the caller allocates, so that the function cannot
 * fail. The function releases bytes. */
void hd__tensor_bernoulli_fill(hd_tensor *x, hd_tensor *bytes, double p);

#endif
