/* assign.h - what other ops that write to x share with assignment (assign.c). */
#ifndef HEED_OPS_ASSIGN_H
#define HEED_OPS_ASSIGN_H

#include "autograd/op.h"

/* Records that x is about to be written over, as the op says; the change cannot fail. The op's
 * backward is hd__zero_backward. */
bool hd__overwrites(const hd__op *op, hd_tensor *x);
/* dx += 0: zero, not missing, because the result does not depend on what x was */
void hd__zero_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

/* Does b broadcast to x, without being a part of its memory? Makes *b readable while x is written:
 * it becomes a copy where the two may share elements. */
bool hd__operand_ok(hd_tensor *x, hd_tensor **b);

#endif
