/* assign.h - parts of assignment that other ops in place use (assign.c). */
#ifndef HEED_OPS_ASSIGN_H
#define HEED_OPS_ASSIGN_H

#include "autograd/op.h"

/* Checks that x may be changed in place, and records that op overwrites all of x. The caller then
 * writes to x, which must not fail. The backward of op is hd__op_zero_backward. */
bool hd__op_overwrites(const hd__op *op, hd_tensor *x);
/* dx += 0, because the result does not depend on x's old elements. As in PyTorch, dx is a tensor of
 * zeros, not HD_NONE. */
void hd__op_zero_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

/* Checks that *b broadcasts to x and can be read while x is written. Fails if it does not
 * broadcast, or if both are dense and overlap in part. Otherwise, if they may share elements, sets
 * *b to a copy. */
bool hd__op_operand_ok(hd_tensor *x, hd_tensor **b);

#endif
