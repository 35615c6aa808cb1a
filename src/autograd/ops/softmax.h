/* softmax.h - recognizes a result of softmax, for a warning of cross_entropy (softmax.c). */
#ifndef HEED_OPS_SOFTMAX_H
#define HEED_OPS_SOFTMAX_H

#include "heed/tensor.h"

/* True if x is a recorded result of softmax over dim, unchanged since, or a view of one whose lanes
 * along dim are lanes of the softmax. */
bool hd__op_is_softmax(const hd_tensor *x, int dim);

#endif
