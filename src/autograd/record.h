/* record.h - records an op whose result is a new tensor (record.c), and reports results of
 * functions that record nothing to debug mode's listeners. */
#ifndef HEED_AUTOGRAD_RECORD_H
#define HEED_AUTOGRAD_RECORD_H

#include "autograd/op.h"

/* Records y as the result of op on args->in, and returns y. Records nothing if grad mode is off, if
 * no input needs a gradient, or if y has an integer dtype. Returns NULL if y is NULL or memory runs
 * out. The caller has checked the inputs before it computed y. */
hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *args);
/* HD__RECORD(&op, y, HD__IN(1, &x), HD__SAVES(2, saved), HD__PARAMS(p)) */
#define HD__RECORD(op, y, ...) hd__record(op, y, &(hd__record_args){__VA_ARGS__})

/* Records ys[0] to ys[n_out - 1] as the outputs of one node, when hd__record would record; an
 * output of an integer dtype stays out of the graph. False if memory runs out. No ys[k] may be
 * NULL. */
bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys,
                      const hd__record_args *args);

/* True if an op on x would be recorded. An op saves only tensors that its backward needs:
 *   saved = {hd__record_save_if(hd__record_wants_grad(b), a), ...} */
bool hd__record_wants_grad(const hd_tensor *x);
bool hd__record_any_wants_grad(int64_t n, hd_tensor *const *xs);
static inline hd_tensor *hd__record_save_if(bool needed, hd_tensor *x)
{
    return needed ? x : HD_NONE;
}

extern HD__TLS bool hd__record_grad_mode_on;

/* Reports y to debug mode's listeners if it is not NULL, and returns y. For functions that record
 * nothing (op NULL), or that record before they compute. */
static inline hd_tensor *hd__record_told(const hd__op *op, hd_tensor *y, int n_in,
                                         hd_tensor *const *in)
{
    if (hd__event_telling() && y) {
        hd__events->ready(op, y, n_in, in);
    }
    return y;
}

#endif
