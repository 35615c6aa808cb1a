/* arith.h - arithmetic's ops, which the forms in place record, too, and backward functions that
 * other ops share (arith.c). */
#ifndef HEED_OPS_ARITH_H
#define HEED_OPS_ARITH_H

#include "autograd/op.h"
#include "tensor/elementwise.h"

/* Their kind is the loop of hdk_binary. Those of the _scalar forms have the number as params. */
extern const hd__op hd__add_op, hd__sub_op, hd__mul_op, hd__div_op, hd__mul_scalar_op,
    hd__div_scalar_op;

/* dx += dy for each input, of which the engine makes x's shape and dtype */
void hd__same_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);
/* dx += -dy */
void hd__neg_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
