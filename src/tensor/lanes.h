/* lanes.h - walks tensors along one dim: hands all lanes along it to a kernel (kernels/lanes.h),
 * merged, cut into tasks and spread over the pool. */
#ifndef HEED_TENSOR_LANES_H
#define HEED_TENSOR_LANES_H

#include "tensor/kernels/lanes.h"
#include "tensor/tensor_internal.h"

/* The dims beside the lanes' own, outermost first, with each operand's strides in elements; n and
 * sn of `lanes` are set, its k and sk are the walk's to choose. data may be NULL where the kernel
 * allows it. */
typedef struct hd__lanes {
    int operands, ndim;
    int64_t sizes[HD_MAX_DIMS];
    int64_t strides[HDK_LANE_OPERANDS][HD_MAX_DIMS];
    void *data[HDK_LANE_OPERANDS];
    int64_t item[HDK_LANE_OPERANDS]; /* bytes an element */
    hdk_lanes lanes;
} hd__lanes;

/* Operands of one shape along dim (of a tensor with fewer dims: an expanded alias); HD_NONE: data
 * NULL. A 0-d tensor has one lane of one element. */
void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs);
void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p);

#endif
