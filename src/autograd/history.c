/* history.c - what views and changes in place do to the graph. */
#include <pthread.h>

#include "autograd/autograd_internal.h"
#include "tensor/reduce.h"

/* ---------------------------------------------------------------- where a view lies */

hd__geometry hd__geometry_of(const hd_tensor *x)
{
    hd__geometry g = {.ndim = x->ndim, .offset = x->offset};
    memcpy(g.sizes, x->sizes, sizeof x->sizes);
    memcpy(g.strides, x->strides, sizeof x->strides);
    return g;
}

/* A base may have gaps itself: a detached slice is one. */
hd_tensor *hd__empty_in(const hd__geometry *g, int dtype)
{
    int64_t reach = 1;
    for (int d = 0; d < g->ndim; d++) {
        reach += g->sizes[d] > 0 ? (g->sizes[d] - 1) * g->strides[d] : 0;
    }
    hd_tensor *block = hd__empty("hd_backward", dtype, 1, &reach);
    return block ? hd__alias(block, g->ndim, g->sizes, g->strides, 0) : NULL;
}

hd_tensor *hd__part_in(const hd_tensor *whole, const hd__geometry *base, const hd__geometry *part)
{
    return hd__alias(whole, part->ndim, part->sizes, part->strides, part->offset - base->offset);
}

/* ---------------------------------------------------------------- views */

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

/* A view whose base was changed in place since: its value is now a strided part of the base's. */
static void as_strided_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const hd__geometry *g = hd__params(n); /* the base's, then the view's */
    hd_tensor *zeros = hd__empty_in(&g[0], dy[0]->dtype);
    if (!zeros || !hd__fill(zeros, hd_scalar_int(0))) {
        dx[0] = NULL;
        return;
    }
    hd__geometry once = g[1]; /* an expanded dim's gradients add up */
    for (int d = 0; d < once.ndim; d++) {
        once.sizes[d] = once.strides[d] == 0 ? 1 : once.sizes[d];
    }
    hd_tensor *sum = hd__sum_to("hd_backward", dy[0], once.ndim, once.sizes);
    hd_tensor *part = sum ? hd__part_in(zeros, &g[0], &once) : NULL;
    dx[0] = part && hd__copy(part, sum) ? zeros : NULL;
}

const hd__op hd__as_strided_op = {.name = "AsStridedBackward0", .backward = as_strided_backward};

hd__node *hd__view_node(const char *who, const hd_tensor *x, hd__node *base, uint32_t output)
{
    if (x->flags & HD__F_MULTI_VIEW) {
        hd__node_release(base);
        return hd_error_set(HD_GRAD,
                            "%s: %s is an output of split, chunk or unbind whose base was changed "
                            "in place since: clone it before that",
                            who, HD__SHAPE(x));
    }
    hd__node *n = hd__node_new(&hd__as_strided_op, 1, NULL, 0, 1, 2 * sizeof(hd__geometry));
    if (!n) {
        hd__node_release(base);
        return NULL;
    }
    n->edges[0] = (hd__edge){base, output};
    hd__node_stamp(n);
    hd__geometry g[] = {hd__geometry_of(x->base), hd__geometry_of(x)};
    memcpy(n->params, g, sizeof g);
    hd__describe_output(n, 0, x);
    return n;
}

static hd__out_extra *kept_grad(const hd_tensor *x)
{
    hd__node *n = x->attachment;
    hd__out_extra *e = n ? n->outs[x->output].extra : NULL;
    return e && e->retain_grad ? e : NULL;
}

bool hd__retain_room(const hd_tensor *x, hd__node *to)
{
    if (kept_grad(x)) {
        to->outs[0].extra = hd__alloc_zeroed(sizeof *to->outs[0].extra);
    }
    return !kept_grad(x) || to->outs[0].extra;
}

void hd__replace_node(hd_tensor *x, hd__node *to, uint32_t version)
{
    hd__out_extra *from = kept_grad(x);
    if (from && to->outs[0].extra) {
        to->outs[0].extra->retain_grad = true;
        to->outs[0].extra->grad = from->grad;
        from->retain_grad = false;
        from->grad = NULL;
    }
    hd__attach(x, to, 0);
    atomic_store_explicit(&x->view_version, version, memory_order_release);
}

/* Using a stale view gives it its new node; the lock is for threads that use it at once. Who finds
 * it fresh sees the node, because the version is stored behind it. */
bool hd__refresh_view(const char *who, const hd_tensor *x)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (!hd__stale_in_graph(x)) {
        return true;
    }
    hd__node *base = hd__node_retain(x->base->attachment), *other;
    hd__node *n = other = hd__view_node(who, x, base, x->base->output);
    if (!n) {
        return false;
    }
    pthread_mutex_lock(&lock);
    bool ok = !hd__stale(x) || hd__retain_room(x, n);
    if (hd__stale(x) && ok) {
        other = hd__node_retain(x->attachment); /* released behind the lock */
        hd__replace_node((hd_tensor *)(uintptr_t)x, n, hd__storage_version(x));
    }
    pthread_mutex_unlock(&lock);
    hd__node_release(other);
    return ok;
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
    if (!unseen && !hd__any_wants_grad(n_in, in)) { /* unseen: the base's history would miss it */
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
    if (!hd__is_float(x->dtype) || !hd__any_wants_grad(a->n_in, a->in)) {
        hd__bump(x);
        return x;
    }
    hd_tensor *whole = x->base ? x->base : x;
    hd__node *n = hd__call_node(op, 1, &x, a, x->storage), *view = NULL;
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
