/* lanes.h - walks tensors along one dim: hands all lanes along it to a kernel (kernels/lanes.h),
 * merged, cut into tasks and spread over the pool. */
#ifndef HEED_TENSOR_LANES_H
#define HEED_TENSOR_LANES_H

#include "tensor/dims.h"
#include "tensor/kernels/lanes.h"

/* The dims beside the lanes' own; of `lanes`, n and sn are set, and the walk chooses k and sk. data
 * may be NULL where the kernel allows it. */
typedef struct hd__lanes {
    hd__dims dims;
    void *data[HDK_LANE_OPERANDS];
    int64_t item[HDK_LANE_OPERANDS]; /* bytes of an element */
    hdk_lanes lanes;
} hd__lanes;

/* Operands of one shape along dim (of a tensor with fewer dims: an expanded alias); HD_NONE: data
 * NULL. A 0-d tensor has one lane of one element. */
void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs);
void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p);

#endif
