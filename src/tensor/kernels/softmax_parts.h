/* softmax_parts.h - the parts of a softmax of one contiguous row, in vectors, for float32 and
 * float64. softmax_kernels.c and attention_kernels.c use them.
 *
 * The order of the sums is PyTorch's for 8 floats a vector, at every CPU level. Fewer than 8
 * elements are summed in order. More elements are summed in 8 lanes; those that are left over at
 * the end go to the first lanes. Then the lanes are folded in halves: the upper half is added to
 * the lower one until one number is left. */
#ifndef HEED_KERNELS_SOFTMAX_PARTS_H
#define HEED_KERNELS_SOFTMAX_PARTS_H

#include "tensor/kernels/functions.h"

#define TYPE f32
#include "tensor/kernels/softmax_parts_type.h"
#undef TYPE
#define TYPE f64
#include "tensor/kernels/softmax_parts_type.h"
#undef TYPE

#endif
