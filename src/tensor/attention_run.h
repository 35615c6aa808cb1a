/* attention_run.h - a call of scaled_dot_product_attention, and how it runs on the threads. */
#ifndef HEED_TENSOR_ATTENTION_RUN_H
#define HEED_TENSOR_ATTENTION_RUN_H

#include "tensor/dims.h"
#include "tensor/kernels/attention.h"

/* What backward must know besides the saved tensors. */
typedef struct hd__attention_call {
    int n_batch;
    int64_t batch[HD_MAX_DIMS], heads;
    hdk_head head; /* without its matrices */
} hd__attention_call;

/* How many multiplications forward makes if no key is hidden. */
static inline double hd__attention_work(const hd__attention_call *c)
{
    const hdk_head *h = &c->head;
    return (double)c->heads * (double)h->l * (double)h->s * (double)(h->d + h->dv);
}

/* The tensors of a call. Those that are saved come first, then the output. */
enum hd__attention_operand {
    HD__Q,
    HD__K,
    HD__V,
    HD__MASK,
    HD__BITS, /* of dropout's native stream, or HD_NONE */
    HD__LSE,
    HD__SAVED,
    HD__OUT = HD__SAVED,
    HD__WEIGHTS,
    HD__DOUT,
    HD__DQ,
    HD__DK,
    HD__DV,
    HD__OPERANDS
};

enum { HD__FEW_KEYS = 64 }; /* up to this many keys, the kernels go row by row */

/* Forward fills out, lse and, if they are given, weights; backward fills dq, dk and dv. In x,
 * NULL or HD_NONE stands for a tensor that the call lacks. False with the error set if memory
 * runs out. */
bool hd__attention_forward(const hd__attention_call *c, hd_tensor *const *x);
bool hd__attention_backward(const hd__attention_call *c, hd_tensor *const *x);

#endif
