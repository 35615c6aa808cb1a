/* loss_elements.h - functions that all losses use (loss_elements.c). */
#ifndef HEED_OPS_LOSS_ELEMENTS_H
#define HEED_OPS_LOSS_ELEMENTS_H

#include "heed/autograd.h"

bool hd__op_reduction_fail(hd_reduction r);
/* Returns true if r is a value of hd_reduction, and false with HD_VALUE otherwise. */
static inline bool hd__op_reduction_arg(hd_reduction r)
{
    return (unsigned)r <= HD_REDUCE_NONE || hd__op_reduction_fail(r);
}

/* Returns `losses` for HD_REDUCE_NONE, their sum for HD_SUM, and the sum divided by n for HD_MEAN.
 * Takes over losses, an unrecorded tensor of the innermost scope. Returns NULL if losses is NULL or
 * memory runs out. */
hd_tensor *hd__op_reduced_loss(hd_tensor *losses, hd_reduction r, double n);

#endif
