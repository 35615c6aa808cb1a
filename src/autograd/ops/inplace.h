/* inplace.h - the check that all changes in place of x by b share (inplace.c). */
#ifndef HEED_OPS_INPLACE_H
#define HEED_OPS_INPLACE_H

#include "autograd/autograd_internal.h"

/* Does b broadcast to x, without being a part of its memory? Makes *b readable while x is written:
 * it becomes a copy where the two may share elements. */
bool hd__operand_ok(hd_tensor *x, hd_tensor **b);

#endif
