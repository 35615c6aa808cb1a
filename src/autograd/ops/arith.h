/* arith.h - the parts of arith.c that other files use: the ops of arithmetic, which inplace.c also
 * records, and two backward functions. */
#ifndef HEED_OPS_ARITH_H
#define HEED_OPS_ARITH_H

#include "autograd/op.h"
#include "tensor/elementwise.h"

/* The kind of each op is the number of its loop in hdk_binary. If an operand is a number, the
 * node's params are that number, as an hd_scalar. */
extern const hd__op hd__op_add, hd__op_sub, hd__op_mul, hd__op_div, hd__op_mul_scalar,
    hd__op_div_scalar;

/* dx += dy for each input; the engine sums and casts dy to the input's shape and dtype */
void hd__op_same_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);
/* dx += -dy */
void hd__op_neg_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
