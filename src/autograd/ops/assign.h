/* assign.h - parts of assignment that other ops in place use (assign.c). */
#ifndef HEED_OPS_ASSIGN_H
#define HEED_OPS_ASSIGN_H

#include "autograd/op.h"

/* Checks and records a change that overwrites all of x. The caller then writes to x, which must not
 * fail. The op's backward is hd__op_zero_backward. */
bool hd__op_overwrites(const hd__op *op, hd_tensor *x);
/* dx += 0, because the result does not depend on x's old elements. dx is a tensor of zeros, not
 * HD_NONE. */
void hd__op_zero_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

/* Checks that *b broadcasts to x and can be read while x is written. Fails if both are dense and
 * overlap in part. Otherwise, if they may share elements, *b becomes a copy. */
bool hd__op_operand_ok(hd_tensor *x, hd_tensor **b);

#endif
