/* lanes.h - walks tensors along one dim: all lanes along it are handed to a kernel
 * (kernels/lanes.h), many in one call, and in tasks of the pool. */
#ifndef HEED_TENSOR_LANES_H
#define HEED_TENSOR_LANES_H

#include "tensor/dims.h"
#include "tensor/kernels/lanes.h"

/* dims: all but the one along which lanes lie. Of `lanes`, n and sn are set before the walk, which
 * chooses k and sk. data may be NULL where the kernel allows it. */
typedef struct hd__lanes {
    hd__dims dims;
    void *data[HDK_LANE_OPERANDS];
    int64_t item[HDK_LANE_OPERANDS]; /* bytes of an element */
    hdk_lanes lanes;
} hd__lanes;

/* The dim of x in which its elements lie closest in memory, -1 for a 0-d x. */
int hd__lanes_innermost(const hd_tensor *x);

/* x, or a contiguous copy if the elements that lie side by side in the result, along dim d, do not
 * do so in x. Elements in another order always want the copy: without it softmax of a transposed x
 * takes 8 times as long, and cumsum 3 times. Gaps between them want it only where x is read
 * `again`: for x[:, ::2] softmax then takes 1.2 to 2.2 times as long without it, logsumexp 1.5 to
 * 17 times, but cumsum 1.5 to 1.9 times as long with it. */
hd_tensor *hd__lanes_side_by_side(hd_tensor *x, int d, bool again);

/* The lanes along dim of operands of one shape; one that has fewer dims is given as an expanded
 * alias. The data of HD_NONE are NULL. A 0-d tensor has one lane of one element. */
void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs);
void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p);

#endif
