/* record.c - writing the graph: results, views, and in-place changes with their rewriting of
 * history.
 *
 * An in-place change of a plain tensor makes it the output of a new node. Through a view, the base
 * becomes the output of a CopySlices node - the old base with a strided part replaced - and the
 * view a strided part of the new base; other views of the base find out by its version. */
#include <inttypes.h>

#include "autograd/autograd_internal.h"

bool hd__wants_grad(const hd_tensor *x)
{
    return hd__grad_mode_on && !hd__is_none(x) && hd__requires_grad(x);
}

static bool any_wants_grad(int64_t n, hd_tensor *const *xs)
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

/* The node of one call with its edges, not yet attached to anything. */
static hd__node *node_for(const hd__op *op, int n_out, const hd__record_args *a)
{
    return hd__node_new(op, (int)a->n_in, a->in, a->n_saved + a->save_y, n_out, a->params_size);
}

/* Everything else that the node keeps. Takes n over on failure. */
static hd__node *complete(hd__node *n, int n_out, hd_tensor *const *ys, const hd__record_args *a,
                          const hd__storage *changing)
{
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
    if (!y || !hd__is_float(y->dtype) || !any_wants_grad(a->n_in, a->in)) {
        return y;
    }
    hd__node *n = complete(node_for(op, 1, a), 1, &y, a, NULL);
    if (!n) {
        return NULL;
    }
    hd__attach(y, n, 0);
    return y;
}

static void set_base(hd_tensor *y, hd_tensor *x)
{
    y->base = hd__hold(x->base ? x->base : x);
    atomic_init(&y->view_version, hd__storage_version(y));
    y->flags |= (uint8_t)(x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW));
    if (!hd__grad_mode_on) {
        y->flags |= HD__F_NO_GRAD_VIEW;
    }
}

hd_tensor *hd__record_view(const hd__op *op, hd_tensor *y, hd_tensor *x, const void *params,
                           size_t params_size)
{
    if (!y) {
        return NULL;
    }
    set_base(y, x);
    hd__record_args a = {.n_in = 1, .in = &x, .params = params, .params_size = params_size};
    return hd__record(op, y, &a);
}

bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a)
{
    if (!any_wants_grad(a->n_in, a->in)) {
        return true;
    }
    hd__node *n = complete(node_for(op, n_out, a), n_out, ys, a, NULL);
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

bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size)
{
    for (int k = 0; k < n_out; k++) {
        set_base(ys[k], x);
        ys[k]->flags |= HD__F_MULTI_VIEW;
    }
    hd__record_args a = {.n_in = 1, .in = &x, .params = params, .params_size = params_size};
    return hd__record_multi(op, n_out, ys, &a);
}

/* ---------------------------------------------------------------- in place */

static bool is_grad_leaf(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n && n->op == &hd__leaf_op && n->requires_grad;
}

static bool refuse(const char *function, const hd_tensor *x, const char *what)
{
    hd_error_set(HD_GRAD, "%s: x of %s is %s", function, HD__SHAPE(x), what);
    return false;
}

static bool leaf_ok(const char *function, const hd_tensor *x)
{
    if (is_grad_leaf(x)) {
        return refuse(function, x,
                      "a leaf that requires grad: change it under HD_NO_GRAD, or a clone of it");
    }
    if (x->base && is_grad_leaf(x->base)) {
        return refuse(function, x,
                      "a view of a leaf that requires grad: change it under HD_NO_GRAD");
    }
    return true;
}

bool hd__inplace_ok(const char *function, hd_tensor *x, int n_in, hd_tensor *const *in)
{
    if (hd__overlaps_itself(x)) {
        hd_error_set(HD_STATE,
                     "%s: x of %s is expanded: several elements share memory; clone it first",
                     function, HD__SHAPE(x));
        return false;
    }
    bool unseen = x->base && x->flags & HD__F_NO_GRAD_VIEW && hd__wants_grad(x->base);
    if (!unseen && !any_wants_grad(n_in, in)) { /* unseen: the base's history would miss it */
        return true;
    }
    for (int i = 0; i < n_in; i++) { /* what may not be used is found out before the change */
        if (!hd__is_none(in[i]) && !hd__refresh_view(function, in[i])) {
            return false;
        }
    }
    if (x->base && x->flags & HD__F_MULTI_VIEW) {
        return refuse(function, x, "an output of split, chunk or unbind: clone it first");
    }
    if (x->base && x->flags & HD__F_NO_GRAD_VIEW) {
        return refuse(function, x, "a view taken while grad mode was off: clone it first");
    }
    return leaf_ok(function, x);
}

/* hd_data_mut, hd_set, hd_copy_from */
static bool write_ok(const char *function, hd_tensor *x)
{
    return !hd__grad_mode_on || leaf_ok(function, x);
}

__attribute__((constructor)) static void install(void)
{
    hd__write_check = write_ok;
}

/* dbase = dy with the part replaced by what the op passes back of it */
static void slices_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd__geometry *g = hd__params(n); /* the base's, then the view's */
    hd_tensor *whole = hd__empty_in(&g[0], dy[0]->dtype);
    hd_tensor *part = whole && hd__copy(whole, dy[0]) ? hd__part_in(whole, &g[0], &g[1]) : NULL;
    hd_tensor *dpart = part ? hd__clone(part) : NULL;
    if (!dpart) {
        dx[0] = NULL;
        return;
    }
    n->inner->op->backward(n->inner, &dpart, dx);
    if (!hd__needs(n, 0) || !dx[0]) {
        return;
    }
    if (hd__is_none(dx[0])) {
        hd__fill(part, hd_scalar_int(0));
    } else if (!hd__copy(part, dx[0])) {
        dx[0] = NULL;
        return;
    }
    dx[0] = whole;
}

static const hd__op slices_op = {.name = "CopySlices", .backward = slices_backward};

/* The base's new node, around the op's node `inner` (taken over). */
static hd__node *slices_node(const hd_tensor *x, hd__node *inner)
{
    hd_tensor *base = x->base;
    hd__node *n = hd__node_new(&slices_op, inner->n_in, NULL, 0, 1, 2 * sizeof(hd__geometry));
    if (!n) {
        hd__node_release(inner);
        return NULL;
    }
    bool fail = false;
    hd__node_release(inner->edges[0].node); /* the view's: the base's takes its place */
    inner->edges[0] = hd__edge_of(inner->op->name, base, &fail);
    memcpy(n->edges, inner->edges, (size_t)inner->n_in * sizeof *n->edges);
    hd__node_stamp(n);
    inner->borrows = true;
    n->inner = inner;
    hd__geometry g[] = {hd__geometry_of(base), hd__geometry_of(x)};
    memcpy(n->params, g, sizeof g);
    hd__describe_output(n, 0, base);
    if (fail) {
        hd__node_release(n);
        return NULL;
    }
    return n;
}

hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *a)
{
    if (!hd__is_float(x->dtype) || !any_wants_grad(a->n_in, a->in)) {
        hd__bump(x);
        return x;
    }
    hd_tensor *whole = x->base ? x->base : x;
    hd__node *n = complete(node_for(op, 1, a), 1, &x, a, x->storage), *view = NULL;
    n = n && x->base ? slices_node(x, n) : n;
    bool ok = n && hd__retain_room(whole, n);
    if (ok && x->base) {
        view = hd__view_node(op->name, x, hd__node_retain(n), 0);
        ok = view && hd__retain_room(x, view);
    }
    if (!ok) {
        hd__node_release(view);
        hd__node_release(n);
        return NULL;
    }
    hd__bump(x);
    hd__replace_node(whole, n, hd__storage_version(x));
    if (view) {
        hd__replace_node(x, view, hd__storage_version(x));
    }
    return x;
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
