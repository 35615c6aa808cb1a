/* loss_elements.h - what all losses share (loss_elements.c). */
#ifndef HEED_OPS_LOSS_ELEMENTS_H
#define HEED_OPS_LOSS_ELEMENTS_H

#include "heed/autograd.h"

/* Is r a reduction? Otherwise sets HD_VALUE. */
bool hd__reduction_fail(hd_reduction r);
static inline bool hd__reduction_arg(hd_reduction r)
{
    return (unsigned)r <= HD_REDUCE_NONE || hd__reduction_fail(r);
}

/* The losses, or in their place their sum, or that divided by n. They are unrecorded, and the
 * innermost scope owns them; NULL stays. */
hd_tensor *hd__reduced_loss(hd_tensor *losses, hd_reduction r, double n);

#endif
