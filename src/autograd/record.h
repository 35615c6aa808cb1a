/* record.h - records an op whose result is a new tensor (record.c). Also reports results to traces
 * and profiles, for functions that record nothing. */
#ifndef HEED_AUTOGRAD_RECORD_H
#define HEED_AUTOGRAD_RECORD_H

#include "autograd/op.h"

/* Records y as the result of op on the inputs args->in, and returns y. Records nothing if grad mode
 * is off, if no input requires grad, or if y is not of a float dtype. Returns NULL if y is NULL or
 * hd__node_new fails. The caller has checked the inputs before it computed y. */
hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *args);
/* Calls hd__record with an hd__record_args that has the given fields: HD__RECORD(&op, y, HD__IN(1,
 * &x), HD__SAVES(2, saved), HD__PARAMS(p)) */
#define HD__RECORD(op, y, ...) hd__record(op, y, &(hd__record_args){__VA_ARGS__})

/* Records ys[0] to ys[n_out - 1] as the outputs of one node. Records nothing if grad mode is off or
 * no input requires grad. An output that is not of a float dtype stays out of the graph. No ys[k]
 * may be NULL. Returns false with an error if hd__node_new fails. */
bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys,
                      const hd__record_args *args);

/* True if an op on x would be recorded. If only the gradient of b needs a, an op of a and b saves a
 * like this:
 *   saved = {hd__record_save_if(hd__record_wants_grad(b), a), ...} */
bool hd__record_wants_grad(const hd_tensor *x);
bool hd__record_any_wants_grad(int64_t n, hd_tensor *const *xs);
static inline hd_tensor *hd__record_save_if(bool needed, hd_tensor *x)
{
    return needed ? x : HD_NONE;
}

extern HD__TLS bool hd__record_grad_mode_on; /* this thread's grad mode */

/* Reports y, the result of op, to a trace or profile, unless y is NULL. Returns y. Functions call
 * this if they record nothing (op is then NULL) or record before they compute. For all others,
 * hd__record reports the result. */
static inline hd_tensor *hd__record_told(const hd__op *op, hd_tensor *y, int n_in,
                                         hd_tensor *const *in)
{
    if (hd__event_telling() && y) {
        hd__events->ready(op, y, n_in, in);
    }
    return y;
}

#endif
