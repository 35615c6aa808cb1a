/* loss_elements.h - functions that all losses use (loss_elements.c). */
#ifndef HEED_OPS_LOSS_ELEMENTS_H
#define HEED_OPS_LOSS_ELEMENTS_H

#include "heed/autograd.h"

bool hd__op_reduction_fail(hd_reduction r);
/* True if r is a reduction; otherwise fails with HD_VALUE. */
static inline bool hd__op_reduction_arg(hd_reduction r)
{
    return (unsigned)r <= HD_REDUCE_NONE || hd__op_reduction_fail(r);
}

/* Returns losses, their sum or, for HD_MEAN, their sum divided by n. Takes over losses, an
 * unrecorded tensor of the innermost scope, which may be NULL. */
hd_tensor *hd__op_reduced_loss(hd_tensor *losses, hd_reduction r, double n);

#endif
