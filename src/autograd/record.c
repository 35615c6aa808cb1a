/* record.c - writing the graph: the results of ops. */
#include <inttypes.h>

#include "autograd/autograd_internal.h"

bool hd__wants_grad(const hd_tensor *x)
{
    return hd__grad_mode_on && !hd__is_none(x) && hd__requires_grad(x);
}

bool hd__any_wants_grad(int64_t n, hd_tensor *const *xs)
{
    for (int64_t i = 0; i < n; i++) {
        if (hd__wants_grad(xs[i])) {
            return true;
        }
    }
    return false;
}

/* changing: the storage whose version the op is about to bump, or NULL */
static bool save(hd__saved *slot, hd_tensor *t, const hd__storage *changing)
{
    slot->t = hd__is_none(t) ? HD_NONE : hd__alias_held(t);
    slot->version = hd__is_none(t) ? 0 : hd__storage_version(t) + (t->storage == changing);
    return slot->t;
}

hd__node *hd__call_node(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a,
                        const hd__storage *changing)
{
    hd__node *n =
        hd__node_new(op, (int)a->n_in, a->in, a->n_saved + a->save_y, n_out, a->params_size);
    if (!n) {
        return NULL;
    }
    bool ok = true;
    for (int i = 0; i < n->n_saved && ok; i++) {
        ok = save(&n->saved[i], i < a->n_saved ? a->saved[i] : ys[0], changing);
    }
    if (!ok) {
        n->op = &hd__leaf_op; /* no params yet: nothing for the op to free */
        hd__node_release(n);
        return NULL;
    }
    if (a->params_size) {
        memcpy(n->params, a->params, a->params_size);
    }
    for (int k = 0; k < n_out; k++) {
        hd__describe_output(n, k, ys[k]);
    }
    return n;
}

hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *a)
{
    if (!y || !hd__is_float(y->dtype) || !hd__any_wants_grad(a->n_in, a->in)) {
        return y;
    }
    hd__node *n = hd__call_node(op, 1, &y, a, NULL);
    if (!n) {
        return NULL;
    }
    hd__attach(y, n, 0);
    return y;
}

bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a)
{
    if (!hd__any_wants_grad(a->n_in, a->in)) {
        return true;
    }
    hd__node *n = hd__call_node(op, n_out, ys, a, NULL);
    if (!n) {
        return false;
    }
    for (int k = 0; k < n_out; k++) {
        if (hd__is_float(ys[k]->dtype)) {
            hd__attach(ys[k], hd__node_retain(n), (uint32_t)k);
        }
    }
    hd__node_release(n);
    return true;
}

/* ---------------------------------------------------------------- in backward functions */

hd_tensor *hd__saved_get(hd__node *n, int i)
{
    char name[64];
    hd__saved *s = &n->saved[i];
    if (!s->t) {
        return hd_error_set(HD_GRAD,
                            "hd_backward: %s: its graph was freed by an earlier backward; "
                            "hd_backward_with(y, HD_NONE, true) keeps it",
                            hd__node_name(n, name));
    }
    if (!hd__is_none(s->t) && hd__storage_version(s->t) != s->version) {
        return hd_error_set(HD_GRAD,
                            "hd_backward: %s: its saved tensor %d of %s was changed in place: "
                            "version %" PRIu32 ", expected %" PRIu32,
                            hd__node_name(n, name), i, HD__SHAPE(s->t), hd__storage_version(s->t),
                            s->version);
    }
    return s->t;
}
