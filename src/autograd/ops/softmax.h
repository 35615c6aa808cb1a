/* softmax.h - recognizes a result of softmax, for a warning of cross_entropy (softmax.c). */
#ifndef HEED_OPS_SOFTMAX_H
#define HEED_OPS_SOFTMAX_H

#include "heed/tensor.h"

/* True if x is the result of a recorded softmax over dim, or a view of it whose lanes along dim are
 * lanes of the softmax. A lane is a row of elements along a dim. False if x was changed since, or
 * if a backward has freed the softmax's graph: then nothing says whether x was changed. */
bool hd__op_is_softmax(const hd_tensor *x, int dim);

#endif
