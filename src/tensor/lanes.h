/* lanes.h - runs a kernel on all lanes of tensors along one dim, many in one call (lanes.c). A lane
 * is a row of elements along that dim (kernels/lanes.h). */
#ifndef HEED_TENSOR_LANES_H
#define HEED_TENSOR_LANES_H

#include "tensor/dims.h"
#include "tensor/kernels/lanes.h"

/* The lanes of some operands along one dim. hd__lanes_init or the caller sets n and sn of `lanes`,
 * and hd__lanes_run sets k and sk. */
typedef struct hd__lanes {
    hd__dims dims;                   /* all dims except that of the lanes */
    void *data[HDK_LANE_OPERANDS];   /* each operand's data; NULL only if the kernel allows it */
    int64_t item[HDK_LANE_OPERANDS]; /* bytes of an element of each operand */
    hdk_lanes lanes;
} hd__lanes;

/* Returns the dim of x with the smallest stride, among those of more than one element. Returns -1
 * if x is 0-d. */
int hd__lanes_innermost(const hd_tensor *x);

/* Returns x or, if the kernel is faster with it, a contiguous copy of x. Returns NULL with an error
 * if memory runs out. d is the dim along which elements of the kernel's result are neighbours.
 * `again` is true if the kernel reads x more than once.
 *
 * If another dim of x is innermost, a copy is always faster. Without a copy, softmax of a
 * transposed x takes 8 times as long, and cumsum 3 times. If d is innermost, but has gaps, a copy
 * is faster only if `again` is true. For x[:, ::2], softmax takes 1.2 to 2.2 times as long without
 * a copy, and logsumexp 1.5 to 17 times; cumsum, which reads x once, takes 1.5 to 1.9 times as long
 * with a copy. */
hd_tensor *hd__lanes_side_by_side(hd_tensor *x, int d, bool again);

/* Sets up w for the lanes along dim of the operands xs[], which have one shape. The caller passes
 * an operand of fewer dims as an expanded alias. If an operand is HD_NONE, its data is NULL. A 0-d
 * tensor has one lane of one element. */
void hd__lanes_init(hd__lanes *w, int dim, int operands, hd_tensor *const *xs);
/* Computes all lanes of w by several calls of f, each with some of the lanes and with the number p.
 * If there are many lanes, the threads share them. */
void hd__lanes_run(hd__lanes *w, hdk_lane_kernel f, double p);

#endif
