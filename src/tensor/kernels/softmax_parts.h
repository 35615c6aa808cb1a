/* softmax_parts.h - the parts of a softmax of one contiguous row, in vectors, for float32 and
 * float64; softmax_kernels.c and attention_kernels.c take them.
 *
 * The order of the sums is that of PyTorch with 8 floats a vector, at every CPU level: under 8
 * elements in order; else in 8 lanes, where the tail goes to the first ones, and which are then
 * folded in halves. */
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
