/* arith.h - descriptors that the in-place forms record, too. */
#ifndef HEED_OPS_ARITH_H
#define HEED_OPS_ARITH_H

#include "autograd/autograd_internal.h"
#include "tensor/elementwise.h"

/* Those of the _scalar forms have the number as params. */
extern const hd__op hd__add_op, hd__sub_op, hd__mul_op, hd__div_op, hd__mul_scalar_op,
    hd__div_scalar_op;

#endif
