/* softmax.h - a result of softmax, told from other tensors (softmax.c). */
#ifndef HEED_OPS_SOFTMAX_H
#define HEED_OPS_SOFTMAX_H

#include "heed/tensor.h"

/* Is x what softmax over dim gave, not changed since, or a view of it whose lanes along dim are
 * lanes of the softmax? */
bool hd__is_softmax(const hd_tensor *x, int dim);

#endif
