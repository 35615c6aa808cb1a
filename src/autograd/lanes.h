/* lanes.h - walks tensors along one dim: hands all lanes along it to a kernel (kernels/lanes.h),
 * merged, cut into tasks and spread over the pool; and reduces any set of dims in such walks. */
#ifndef HEED_AUTOGRAD_LANES_H
#define HEED_AUTOGRAD_LANES_H

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

/* How a reduction may be cut. */
typedef enum hd__pieces {
    HD__PIECES,  /* pieces of a lane in any order, then their results by y's kernel */
    HD__WHOLE,   /* each lane whole, in any order */
    HD__IN_ORDER /* each lane whole, in x's logical order */
} hd__pieces;

/* y = x reduced over the dims of mask by kernels[dtype]; y contiguous, of the kept dims. extra: a
 * second result of y's shape, the kernel's operand 2, or NULL. Fails only for want of memory. */
bool hd__reduce(const char *function, const hdk_lane_kernel *kernels, hd__pieces pieces,
                hd_tensor *y, const hd_tensor *x, uint32_t mask, double p, hd_tensor *extra);

#endif
