/* record.c - records the result of an op as the output of a new node.
 *
 * Every op that computes a new tensor calls hd__record or hd__record_multi last. Views and changes
 * in place call history.c instead, which also changes the nodes of other tensors. node.c makes the
 * nodes. */
#include "autograd/grad.h"
#include "autograd/node.h"
#include "autograd/record.h"

HD__TLS bool hd__record_grad_mode_on = true;

bool hd__record_wants_grad(const hd_tensor *x)
{
    return hd__record_grad_mode_on && !hd__tensor_is_none(x) && hd__graph_requires_grad(x);
}

bool hd__record_any_wants_grad(int64_t n, hd_tensor *const *xs)
{
    bool any = false;
    for (int64_t i = 0; i < n && !any; i++) {
        any = hd__record_wants_grad(xs[i]);
    }
    return any;
}

hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *a)
{
    if (hd__event_listening() && y) {
        hd__events->recorded(op, 1, &y, a);
    }
    if (!y || !hd__tensor_is_float(y->dtype) || !hd__record_any_wants_grad(a->n_in, a->in)) {
        return y;
    }
    hd__node *n = hd__node_new(op, a, 1, &y, NULL);
    if (!n) {
        return NULL;
    }
    hd__node_attach(y, n, 0);
    return y;
}

bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a)
{
    if (hd__event_listening()) {
        hd__events->recorded(op, n_out, ys, a);
    }
    if (!hd__record_any_wants_grad(a->n_in, a->in)) {
        return true;
    }
    hd__node *n = hd__node_new(op, a, n_out, ys, NULL);
    if (!n) {
        return false;
    }
    for (int k = 0; k < n_out; k++) {
        if (hd__tensor_is_float(ys[k]->dtype)) {
            hd__node_attach(ys[k], hd__node_retain(n), (uint32_t)k);
        }
    }
    hd__node_release(n);
    return true;
}
