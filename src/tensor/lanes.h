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

/* The lanes along dim of operands of one shape; one that has fewer dims is given as an expanded
 * alias. The data of HD_NONE are NULL. A 0-d tensor has one lane of one element. */
void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs);
void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p);

#endif
