/* attention_run.h - runs scaled_dot_product_attention and its backward on the threads
 * (attention_run.c). */
#ifndef HEED_TENSOR_ATTENTION_RUN_H
#define HEED_TENSOR_ATTENTION_RUN_H

#include "tensor/dims.h"
#include "tensor/kernels/attention.h"

/* The sizes and options of a call, which the op keeps for backward. */
typedef struct hd__attention_call {
    int n_batch;                       /* number of batch dims */
    int64_t batch[HD_MAX_DIMS], heads; /* sizes of the batch dims; their product */
    hdk_head head;                     /* sizes and options of a head; no matrix in it is set */
} hd__attention_call;

/* Returns the number of multiplications in forward, if no key is masked. */
static inline double hd__attention_work(const hd__attention_call *c)
{
    const hdk_head *h = &c->head;
    return (double)c->heads * (double)h->l * (double)h->s * (double)(h->d + h->dv);
}

/* The tensors of a call: first those that are saved for backward, then the output and the
 * others. */
enum hd__attention_operand {
    HD__Q,
    HD__K,
    HD__V,
    HD__MASK,
    HD__BITS,  /* dropout's random bits; HD_NONE if p is 0 or 1, or if MCG31 gave a seed instead */
    HD__LSE,   /* log-sum-exp of each row of scores */
    HD__SAVED, /* number of the tensors that are saved */
    HD__OUT = HD__SAVED,
    HD__WEIGHTS,
    HD__DOUT,
    HD__DQ,
    HD__DK,
    HD__DV,
    HD__OPERANDS
};

enum { HD__FEW_KEYS = 64 }; /* a call with at most this many keys is computed row by row */

/* x[] has a tensor for each hd__attention_operand. Those that the call does not have are NULL or
 * HD_NONE. Forward fills out, lse and, if given, weights. Backward fills dq, dk and dv. Both return
 * false with an error only if memory runs out. */
bool hd__attention_forward(const hd__attention_call *c, hd_tensor *const *x);
bool hd__attention_backward(const hd__attention_call *c, hd_tensor *const *x);

#endif
