/* record.h - how an op that gives a new tensor records itself (record.c), or tells of one where it
 * records nothing. */
#ifndef HEED_AUTOGRAD_RECORD_H
#define HEED_AUTOGRAD_RECORD_H

#include "autograd/op.h"

/* Writes the graph: y is the result of op on in[]. Returns y, untouched when grad mode is off or no
 * input needs a gradient; NULL when y is NULL or memory runs out. The caller has refused NULL
 * inputs before it computed. A y of an integer dtype stays unrecorded. */
hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *args);
/* HD__RECORD(&op, y, HD__IN(1, &x), HD__SAVES(2, saved), HD__PARAMS(p)) */
#define HD__RECORD(op, y, ...) hd__record(op, y, &(hd__record_args){__VA_ARGS__})

/* The same for an op with several outputs. */
bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys,
                      const hd__record_args *args);

/* Would an op on x record? For saving only what is needed:
 *   saved = {hd__save_if(hd__wants_grad(b), a), ...} */
bool hd__wants_grad(const hd_tensor *x);
bool hd__any_wants_grad(int64_t n, hd_tensor *const *xs);
static inline hd_tensor *hd__save_if(bool needed, hd_tensor *x)
{
    return needed ? x : HD_NONE;
}

extern HD__TLS bool hd__grad_mode_on;

/* y, the result of a call that records nothing (op NULL), or had recorded before it computed, is
 * ready, or NULL. Returns y. */
static inline hd_tensor *hd__told(const hd__op *op, hd_tensor *y, int n_in, hd_tensor *const *in)
{
    if (hd__telling() && y) {
        hd__events->ready(op, y, n_in, in);
    }
    return y;
}

#endif
