/* assign.h - parts of assignment that other ops in place use (assign.c). */
#ifndef HEED_OPS_ASSIGN_H
#define HEED_OPS_ASSIGN_H

#include "autograd/op.h"

/* Checks that x may be changed in place, and records that op overwrites all of x. The backward of
 * op must be hd__op_zero_backward. Returns false with an error if x must not be changed, or if
 * memory runs out. Otherwise the caller writes to x, which must not fail. */
bool hd__op_overwrites(const hd__op *op, hd_tensor *x);
/* dx += 0, because the result does not depend on x's old elements. As in PyTorch, dx is a tensor of
 * zeros, not HD_NONE. */
void hd__op_zero_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

/* Checks that *b broadcasts to x and can be read while x is written. Returns false with an error if
 * *b does not broadcast, or if x and *b overlap in part and have no gaps or repeated elements. In
 * other cases in which x and *b may share elements, sets *b to a copy; returns false with an error
 * if memory runs out for it. */
bool hd__op_operand_ok(hd_tensor *x, hd_tensor **b);

#endif
