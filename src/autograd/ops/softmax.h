/* softmax.h - recognizes a result of softmax, for a warning of cross_entropy (softmax.c). */
#ifndef HEED_OPS_SOFTMAX_H
#define HEED_OPS_SOFTMAX_H

#include "heed/tensor.h"

/* True if x is the result of a recorded softmax over dim, and was not changed since. Also true if x
 * is a view of such a result, and each lane of x along dim is a lane of the softmax. A lane is the
 * elements along a dim at one place of the other dims. */
bool hd__op_is_softmax(const hd_tensor *x, int dim);

#endif
