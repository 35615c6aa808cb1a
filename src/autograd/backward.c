/* backward.c - the engine: walks the graph from outputs to leaves and adds up gradients.
 *
 * Nodes wait in a heap, the youngest first: every node is younger than its inputs, so when one
 * comes out all gradients for its outputs have arrived. What reaches leaves is kept aside until
 * the whole walk has succeeded, then added to their .grad: to all or to none. */
#include "autograd/backward.h"

#include "tensor/elementwise.h"
#include "tensor/reduce.h"

typedef hd__run run;

/* ---------------------------------------------------------------- the heap */

bool hd__run_push(hd__run *r, hd__node *n)
{
    if (!hd__grow(&r->heap, &r->cap, r->len + 1, sizeof *r->heap)) {
        return false;
    }
    int64_t i = r->len++;
    for (; i > 0 && r->heap[(i - 1) / 2]->seq < n->seq; i = (i - 1) / 2) {
        r->heap[i] = r->heap[(i - 1) / 2];
    }
    r->heap[i] = hd__node_retain(n);
    return true;
}

hd__node *hd__run_pop(hd__run *r)
{
    hd__node *first = r->heap[0], *last = r->heap[--r->len];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < r->len; i = child) {
        child += child + 1 < r->len && r->heap[child + 1]->seq > r->heap[child]->seq;
        if (r->heap[child]->seq <= last->seq) {
            break;
        }
        r->heap[i] = r->heap[child];
    }
    r->heap[i] = last;
    return first;
}

static bool add_commit(run *r, hd_tensor **slot, hd_tensor *value)
{
    if (!hd__grow(&r->commits, &r->cap_commits, r->n_commits + 1, sizeof *r->commits)) {
        return false;
    }
    r->commits[r->n_commits++] = (hd__commit){slot, value};
    return true;
}

/* ---------------------------------------------------------------- arriving gradients */

static bool has_shape_of(const hd_tensor *g, const hd__out_meta *out)
{
    bool same = g->ndim == out->ndim;
    for (int d = 0; same && d < g->ndim; d++) {
        same = g->sizes[d] == out->sizes[d];
    }
    return same;
}

/* g in the shape and dtype of the output it belongs to; in the current scope. */
static hd_tensor *conform(run *r, hd_tensor *g, const hd__out_meta *out, const char *who, int input)
{
    if (!has_shape_of(g, out)) {
        uint64_t failures = hd_error_count();
        hd_tensor *sum = hd__sum_to(r->function, g, out->ndim, out->sizes);
        if (!sum && hd_error_count() == failures) {
            hd_error_set(HD_SHAPE, "%s: %s gave a gradient of %s for input %d of %s", r->function,
                         who, HD__SHAPE(g), input, HD__SIZES(out->ndim, out->sizes));
        }
        g = sum;
    }
    return g && g->dtype != out->dtype ? hd__cast(g, out->dtype) : g;
}

/* *slot = t, which is NULL when it could not be made. */
static bool put(hd_tensor **slot, hd_tensor *t)
{
    if (t) {
        hd_tensor *before = *slot;
        *slot = hd__hold(t);
        hd__drop(before);
    }
    return t;
}

static void clear(hd_tensor **slot)
{
    hd__drop(*slot);
    *slot = NULL;
}

/* Adds g to what has arrived at the edge, and queues its node. */
static bool arrive(run *r, hd__edge e, hd_tensor *g, const char *who, int input)
{
    if (r->mark && e.node->mark != r->mark) {
        return true;
    }
    hd__out_meta *out = &e.node->outs[e.output];
    g = conform(r, g, out, who, input);
    if (!g) {
        return false;
    }
    if (!e.node->queued) {
        e.node->queued = hd__run_push(r, e.node);
        if (!e.node->queued) {
            return false;
        }
    }
    if (!out->pending) {
        return put(&out->pending, g);
    }
    if (!hd__held_once(out->pending)) {
        return put(&out->pending, hd__add(r->function, out->pending, g));
    }
    hd__add_into(out->pending, g);
    return true;
}

static hd__hook *hook_after(const hd__out_extra *extra, int64_t id)
{
    hd__hook *h = extra->hooks;
    while (h && h->id <= id) {
        h = h->next;
    }
    return h;
}

static bool run_hooks(hd__out_meta *out, const hd__out_extra *extra)
{
    int64_t last = 0; /* ids grow along the list; a hook may remove any of them */
    for (hd__hook *h; (h = hook_after(extra, last));) {
        last = h->id;
        uint64_t failures = hd_error_count();
        hd_scope *scope = hd_scope_open();
        hd_tensor *seen = scope ? hd__alias(out->pending, out->ndim, out->pending->sizes,
                                            out->pending->strides, out->pending->offset)
                                : NULL;
        hd_tensor *g = seen ? h->f(seen, h->user) : NULL;
        bool ok = g && hd_error_count() == failures;
        if (!g && hd_error_count() == failures) {
            hd_error_set(HD_USER, "hd_backward: a hook returned NULL");
        }
        if (ok && !hd__is_none(g)) {
            ok = hd__same_shape(g, seen) && g->dtype == seen->dtype;
            if (!ok) {
                hd_error_set(HD_SHAPE, "hd_backward: a hook returned %s of %s: expected %s of %s",
                             HD__SHAPE(g), hd_dtype_name(g->dtype), HD__SHAPE(seen),
                             hd_dtype_name(seen->dtype));
            } else {
                put(&out->pending, g);
            }
        }
        hd_scope_close(scope);
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* Hooks, captures and retained gradients of an output whose gradient is complete. */
static bool complete(run *r, hd__node *n, int k)
{
    hd__out_meta *out = &n->outs[k];
    hd__out_extra *extra = out->extra;
    if (!out->pending) {
        return true;
    }
    if (extra && !run_hooks(out, extra)) {
        return false;
    }
    for (int64_t i = 0; i < r->n_captures; i++) {
        hd__capture *c = &r->captures[i];
        if (c->at.node == n && c->at.output == (uint32_t)k) {
            c->value = hd__hold(out->pending);
        }
    }
    bool leaf = n->op == &hd__leaf_op;
    if (!r->accumulate || !(leaf ? n->requires_grad : extra && extra->retain_grad)) {
        return true;
    }
    if (!add_commit(r, leaf ? &n->grad : &extra->grad, hd__hold(out->pending))) {
        hd__drop(out->pending);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- one node */

static bool pass_on(run *r, hd__node *n, hd_tensor *const *dx)
{
    char name[64];
    const char *who = hd__node_name(n, name);
    for (int i = 0; i < n->n_in; i++) {
        if (!dx[i]) {
            hd_error_set(HD_USER, "%s: %s gave NULL for input %d", r->function, who, i);
            return false;
        }
        if (n->edges[i].node && !hd__is_none(dx[i]) && !arrive(r, n->edges[i], dx[i], who, i)) {
            return false;
        }
    }
    return true;
}

static bool call_backward(run *r, hd__node *n, hd_tensor **dy, hd_tensor **dx)
{
    char name[64];
    if (n->freed) {
        hd_error_set(HD_GRAD,
                     "%s: %s: its graph was freed by an earlier backward; "
                     "hd_backward_with(y, HD_NONE, true) keeps it",
                     r->function, hd__node_name(n, name));
        return false;
    }
    for (int k = 0; k < n->n_out; k++) {
        dy[k] = n->outs[k].pending;
    }
    for (int i = 0; i < n->n_in; i++) {
        dx[i] = HD_NONE;
    }
    uint64_t failures = hd_error_count();
    n->op->backward(n, dy, dx);
    return hd_error_count() == failures && pass_on(r, n, dx);
}

/* Does n's backward lead to what is asked for? A captured node itself need not run. */
static bool leads_on(const run *r, const hd__node *n)
{
    bool any = r->mark == 0 && n->op != &hd__leaf_op;
    for (int i = 0; i < n->n_in && !any; i++) {
        any = n->edges[i].node && n->edges[i].node->mark == r->mark;
    }
    return any;
}

static bool step(run *r, hd__node *n)
{
    hd_tensor *few[2 * HD__FEW], **block = few;
    bool ok = true;
    n->queued = false;
    for (int k = 0; k < n->n_out && ok; k++) {
        ok = complete(r, n, k);
    }
    if (ok && leads_on(r, n)) {
        if (n->n_in + n->n_out > 2 * HD__FEW) {
            block = hd_alloc((size_t)(n->n_in + n->n_out) * sizeof *block);
        }
        hd_scope *scope = block ? hd_scope_open() : NULL;
        ok = scope && call_backward(r, n, block, block ? block + n->n_out : NULL);
        hd_scope_close(scope);
        if (ok && !r->retain_graph) {
            hd__node_free_saved(n);
        }
        if (block != few) {
            hd_free(block);
        }
    }
    for (int k = 0; k < n->n_out; k++) {
        clear(&n->outs[k].pending);
    }
    return ok;
}

/* ---------------------------------------------------------------- a whole run */

/* Can the value be added to the .grad in place? Not where one element of either is several of the
 * other. */
static bool adds_in_place(const hd__commit *c)
{
    const hd_tensor *grad = *c->slot, *value = c->value;
    return grad && !hd__overlaps_itself(grad) &&
           (grad->storage != value->storage || hd__same_memory(grad, value));
}

/* The new value of a .grad, where it is not added to in place. */
static bool prepare(run *r, hd__commit *c)
{
    hd_tensor *made = NULL;
    if (*c->slot && !adds_in_place(c)) {
        made = hd__add(r->function, *c->slot, c->value);
    } else if (!*c->slot && !hd__held_once(c->value)) {
        made = hd__clone(c->value);
    } else {
        return true;
    }
    return put(&c->value, made);
}

static void apply(hd__commit *c)
{
    if (adds_in_place(c)) {
        hd__add_into(*c->slot, c->value);
        hd__bump(*c->slot);
        hd__drop(c->value);
        return;
    }
    hd__drop(*c->slot);
    *c->slot = c->value;
}

bool hd__run_finish(hd__run *r, bool ok)
{
    hd_scope *scope = ok && r->n_commits ? hd_scope_open() : NULL;
    for (int64_t i = 0; i < r->n_commits && ok; i++) {
        ok = scope && prepare(r, &r->commits[i]);
    }
    for (int64_t i = 0; i < r->n_commits; i++) {
        if (ok) {
            apply(&r->commits[i]);
        } else {
            hd__drop(r->commits[i].value);
        }
    }
    hd_scope_close(scope);
    hd_free(r->commits);
    while (r->len) {
        hd__node *n = hd__run_pop(r);
        n->queued = false;
        for (int k = 0; k < n->n_out; k++) {
            clear(&n->outs[k].pending);
        }
        hd__node_release(n);
    }
    hd_free(r->heap);
    return ok;
}

bool hd__run_walk(hd__run *r)
{
    bool ok = true;
    while (ok && r->len) {
        hd__node *n = hd__run_pop(r);
        ok = step(r, n);
        hd__node_release(n);
    }
    return ok;
}

/* The gradient that y starts with: the one given, or a one. */
bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad)
{
    bool fail = false;
    if (hd__is_none(grad) && y->numel != 1) {
        hd_error_set(HD_GRAD, "%s: %s: expected one element, or a gradient of that shape",
                     r->function, HD__SHAPE(y));
        return false;
    }
    if (!hd__is_none(grad) && !hd__same_shape(grad, y)) {
        hd_error_set(HD_SHAPE, "%s: a gradient of %s for %s: expected the same shape", r->function,
                     HD__SHAPE(grad), HD__SHAPE(y));
        return false;
    }
    if (!hd__is_none(grad) && !hd__float_arg(r->function, grad)) {
        return false;
    }
    if (!hd__requires_grad(y)) {
        hd_error_set(HD_GRAD, "%s: %s does not require grad and has no grad_fn", r->function,
                     HD__SHAPE(y));
        return false;
    }
    hd_tensor *g = hd__is_none(grad) ? hd_ones_like(y, y->dtype) : grad;
    hd__edge e = hd__edge_of(r->function, y, &fail);
    bool ok = g && !fail && arrive(r, e, g, "the caller", 0);
    hd__node_release(e.node);
    return ok;
}

static bool backward(const char *function, hd_tensor *y, hd_tensor *grad, bool retain_graph)
{
    run r = {.function = function, .retain_graph = retain_graph, .accumulate = true};
    bool before = hd_set_grad_mode(false);
    hd_scope *scope = hd_scope_open();
    bool ok = scope && hd__run_seed(&r, y, grad);
    hd_scope_close(scope); /* so that only the engine holds what it made itself */
    ok = hd__run_finish(&r, ok && hd__run_walk(&r));
    hd_set_grad_mode(before);
    return ok;
}

bool hd_backward(hd_tensor *loss)
{
    return hd__arg("hd_backward", "loss", loss) && backward("hd_backward", loss, HD_NONE, false);
}

bool hd_backward_with(hd_tensor *y, hd_tensor *grad, bool retain_graph)
{
    if (!hd__arg("hd_backward_with", "y", y)) {
        return false;
    }
    if (!grad) {
        return hd__null_arg("hd_backward_with", "grad");
    }
    return backward("hd_backward_with", y, grad, retain_graph);
}
