/* lanes.h - runs a kernel on all lanes of tensors along one dim, many in one call (lanes.c). A lane
 * is a row of elements along that dim (kernels/lanes.h). */
#ifndef HEED_TENSOR_LANES_H
#define HEED_TENSOR_LANES_H

#include "tensor/dims.h"
#include "tensor/kernels/lanes.h"

/* Of `lanes`, n and sn are set before hd__lanes_run, which chooses k and sk. */
typedef struct hd__lanes {
    hd__dims dims;                   /* all dims except that of the lanes */
    void *data[HDK_LANE_OPERANDS];   /* NULL only if the kernel allows it */
    int64_t item[HDK_LANE_OPERANDS]; /* bytes of an element */
    hdk_lanes lanes;
} hd__lanes;

/* The dim of x with the smallest stride, among those of more than one element; -1 for a 0-d x. */
int hd__lanes_innermost(const hd_tensor *x);

/* x or, if it pays, a contiguous copy, in which elements along dim d are neighbours, as in the
 * result. If another dim of x is innermost, it always pays: without it, softmax of a transposed x
 * takes 8 times as long, and cumsum 3 times. If d is innermost with gaps, it pays only if the
 * kernel reads x `again`: for x[:, ::2], softmax takes 1.2 to 2.2 times as long without it,
 * logsumexp 1.5 to 17 times, but cumsum 1.5 to 1.9 times as long with it. */
hd_tensor *hd__lanes_side_by_side(hd_tensor *x, int d, bool again);

/* Sets up the lanes along dim of operands of one shape. The caller passes an operand of fewer dims
 * as an expanded alias. HD_NONE gets data NULL. A 0-d tensor has one lane of one element. */
void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs);
void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p);

#endif
