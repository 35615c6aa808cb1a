/* backward.c - the engine: walks the graph from the outputs to the leaves and sums gradients.
 *
 * Nodes wait in a heap, the youngest on top. A node is younger than the nodes of its inputs. So
 * when a node comes out of the heap, all gradients for its outputs have arrived. The leaves'
 * gradients are collected, and added to .grad after the whole walk has succeeded. If the walk
 * fails, no .grad changes.
 *
 * The file follows a gradient: it arrives at a node, then the node's backward runs; the run over
 * all nodes comes last. run.c has the heap and the other data of a run, output.c the steps that
 * follow when a gradient is complete, and commit.c the writing of .grad. */
#include <inttypes.h>

#include "autograd/backward.h"
#include "autograd/backward_end.h"
#include "autograd/commit.h"
#include "autograd/history.h"
#include "autograd/output.h"
#include "autograd/user_code.h"
#include "base/random/draws.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/elementwise.h"
#include "tensor/reduce_dims.h"
#include "tensor/tensor_args.h"

typedef hd__run run;

enum { DEPTH_MOST = 200 }; /* the largest number of runs that may be nested */

/* ---------------------------------------------------------------- a gradient arrives */

static void drop_pending(hd__node *n)
{
    for (int k = 0; k < n->n_out; k++) {
        hd__tensor_drop(n->outs[k].pending);
        n->outs[k].pending = NULL;
    }
}

/* Returns g in the shape and dtype of output `out`: sums g over the dims that broadcasting added or
 * expanded. Node `from` computed g for its input number `input`. `from` is NULL if the caller of
 * hd_backward passed g; the shape of g is then right. Returns NULL with an error if g does not
 * fit. */
static hd_tensor *fit_output(hd_tensor *g, const hd__node_out_meta *out, const hd__node *from,
                             int input)
{
    char name[64];
    if (!hd__tensor_has_sizes(g, out->ndim, out->sizes)) {
        uint64_t failures = hd_error_count();
        hd_tensor *sum = hd__reduce_sum_to(g, out->ndim, out->sizes);
        if (!sum && hd_error_count() == failures) {
            hd_fail(
                HD_SHAPE, "%s gave a gradient of %s for input %d of %s: expected the input's shape",
                hd__node_name(from, name), HD__SHAPE(g), input, HD__SIZES(out->ndim, out->sizes));
        }
        g = sum;
    }
    g = g && g->dtype != out->dtype ? hd__tensor_cast(g, out->dtype) : g;
    return g ? hd__run_detached_gradient(g) : NULL;
}

/* queue calls this if n is on the heap of an outer run, or if an outer run is computing n now. If n
 * is a leaf, sets aside the outer run's sum at n until r ends, and returns true, or false with an
 * error if memory runs out. For any other node, returns false with HD_STATE. */
HD__RARE static bool make_way(run *r, hd__node *n)
{
    char name[64];
    if (n->op == &hd__graph_leaf_op) {
        return hd__run_set_aside(r, n, false);
    }
    return hd_fail(
        HD_STATE,
        "a hook or a user's op started this backward inside another one, and both reach %s, where "
        "gradients of the outer one are waiting. Give the inner one a graph of its own",
        hd__node_name(n, name));
}

/* Puts n on the heap, because a gradient has arrived at one of its outputs. Returns false with an
 * error on failure. */
static bool queue(run *r, hd__node *n)
{
    if ((HD__UNLIKELY(n->queued) && !make_way(r, n)) || !hd__run_push(r, n)) {
        return false;
    }
    n->queued = r->depth;
    return true;
}

/* Adds g to the sum at the output to which edge e leads, and puts the output's node on the heap.
 * Adds in place only if nobody but the engine holds the sum. Ignores g if hd_grad_of needs no
 * gradient there. Returns false with an error on failure. See fit_output for `from` and `input`. */
static bool arrive(run *r, hd__edge e, hd_tensor *g, const hd__node *from, int input)
{
    hd__node_out_meta *out = &e.node->outs[e.output];
    hd_tensor **sum =
        HD__UNLIKELY(r->mark) ? hd__run_wanted_sum(r, e.node, e.output) : &out->pending;
    if (!sum) {
        return true;
    }
    g = fit_output(g, out, from, input);
    if (!g) {
        return false;
    }
    if (hd__run_left_alone(r, e.node) ? !*sum && !hd__run_push(r, e.node)
                                      : e.node->queued != r->depth && !queue(r, e.node)) {
        return false;
    }
    if (!*sum) {
        return hd__run_slot_set(sum, g);
    }
    if (!hd__tensor_held_once(*sum)) {
        return hd__run_slot_set(sum, hd__loop_add(*sum, g));
    }
    hd__loop_add_into(*sum, g);
    return true;
}

/* ---------------------------------------------------------------- a node's backward */

static void *graph_freed(const hd__node *n)
{
    char name[64];
    return hd_fail(HD_GRAD,
                   "%s: its graph was freed by an earlier backward. Call hd_backward_with(y, "
                   "HD_NONE, true) to keep a graph, or hd_detach to get a tensor without one",
                   hd__node_name(n, name));
}

HD__RARE static bool saved_changed(const hd__node *n, int i)
{
    char name[64], places[500];
    const hd_tensor *t = n->saved[i].t;
    return hd_fail(HD_GRAD,
                   "%s: its saved tensor %d of %s was changed in place: "
                   "version %" PRIu32 ", expected %" PRIu32 "%s",
                   hd__node_name(n, name), i, HD__SHAPE(t), hd__tensor_storage_version(t),
                   n->saved[i].version, hd__node_places(n, t->storage, places));
}

bool hd__run_saved_ok(const hd__node *n, int i)
{
    const hd__node_saved *s = &n->saved[i];
    if (n->freed) {
        return graph_freed(n);
    }
    hd__assert(hd__tensor_is_none(s->t) ||
               (int32_t)(hd__tensor_storage_version(s->t) - s->version) >= 0);
    return hd__tensor_is_none(s->t) || hd__tensor_storage_version(s->t) == s->version ||
           saved_changed(n, i);
}

/* Returns false with an error if a saved tensor of n was changed. If n belongs to a user's op,
 * checks nothing: the op's backward calls hd_saved, which checks the tensor that it returns. */
static bool all_saved_ok(const hd__node *n)
{
    int left = n->saved_apart ? 0 : n->n_saved;
    while (left > 0 && hd__run_saved_ok(n, left - 1)) {
        left--;
    }
    return left == 0;
}

static bool run_node(run *r, hd__node *n);

/* Runs n. A commit is a gradient that the run writes to .grad at its end. If n adds commits, the
 * first of them retains n until the end of the run. If a leaf runs inside this call, its own commit
 * retains the leaf. Returns false with an error on failure. */
static bool run_held(run *r, hd__node *n)
{
    int64_t before = r->n_commits;
    bool ok = run_node(r, n);
    if (r->n_commits > before && !r->commits[before].n) {
        r->commits[before].n = hd__node_retain(n);
    }
    return ok;
}

HD__RARE static bool run_told(run *r, hd__node *n)
{
    hd__events->node_begins(n);
    bool ok = run_held(r, n);
    hd__events->node_ends(n);
    return ok;
}

/* Called after a node has handled an edge to `leaf`. If `leaf` is NULL or not a leaf, does
 * nothing. Runs a leaf after the last of its counted edges; when the leaf comes out of the heap
 * later, nothing is left to do. Returns false with an error if the leaf's hooks fail. */
HD__RARE static bool edge_passed(run *r, hd__node *leaf)
{
    bool counts = leaf && leaf->op == &hd__graph_leaf_op && leaf->mark == r->counted;
    bool last = counts && --leaf->outstanding == 0;
    return !last || !leaf->outs[0].pending || run_held(r, leaf);
}

static bool pass_on(run *r, hd__node *n, hd_tensor *const *dx)
{
    char name[64];
    for (int i = 0; i < n->n_in; i++) {
        hd__assert(!hd__node_needs(n, i) || n->edges[i].node->seq < n->seq);
        if (!dx[i]) {
            return hd_fail(HD_USER, "%s gave NULL for input %d: expected a gradient or HD_NONE",
                           hd__node_name(n, name), i);
        }
        if (n->edges[i].node && !hd__tensor_is_none(dx[i]) &&
            !arrive(r, n->edges[i], dx[i], n, i)) {
            return false;
        }
        if (HD__UNLIKELY(r->counted) && !edge_passed(r, n->edges[i].node)) {
            return false;
        }
    }
    return true;
}

HD__RARE static void watched_backward(hd__node *n, hd_tensor **dy, hd_tensor **dx)
{
    uint64_t failures = hd_error_count();
    unsigned int before = hd__events->gradients_begin(n, dy);
    n->op->backward(n, dy, dx);
    hd__events->gradients_end(n, before, hd_error_count() == failures ? dx : NULL);
}

static bool call_backward(run *r, hd__node *n, hd_tensor **dy, hd_tensor **dx)
{
    if (n->freed) {
        return graph_freed(n);
    }
    if (!hd__node_any_edge(n)) {
        return true;
    }
    if (!all_saved_ok(n->inner ? n->inner : n)) {
        return false;
    }
    for (int k = 0; k < n->n_out; k++) {
        const hd__node_out_meta *out = &n->outs[k];
        bool there = out->pending || n->op->parts;
        dy[k] = there ? out->pending : hd_zeros_n((hd_dtype)out->dtype, out->ndim, out->sizes);
        if (!there && !dy[k]) {
            return false;
        }
    }
    for (int i = 0; i < n->n_in; i++) {
        dx[i] = HD_NONE;
    }
    uint64_t failures = hd_error_count();
    if (hd__event_watching()) {
        watched_backward(n, dy, dx);
    } else {
        n->op->backward(n, dy, dx);
    }
    bool ok = n->op == &hd__graph_user_op ? !n->failed : hd_error_count() == failures;
    return ok && pass_on(r, n, dx);
}

/* Runs n's backward in a new scope. The arrays dy[] and dx[] lie on the stack if they are short.
 * Returns false with an error on failure. */
static inline bool scoped_backward(run *r, hd__node *n)
{
    hd_tensor *few[2 * HD__FEW], **dy = few;
    if (n->n_in + n->n_out > 2 * HD__FEW) {
        dy = hd_alloc((size_t)(n->n_in + n->n_out) * sizeof *dy);
    }
    hd_scope *scope = dy ? hd_scope_open() : NULL;
    bool ok = scope && call_backward(r, n, dy, dy + n->n_out);
    if (ok) {
        hd_scope_close(scope);
    } else {
        hd__run_close_if_open(scope);
    }
    if (dy != few) {
        hd_free(dy);
    }
    return ok;
}

/* True if n is no leaf and the run needs the gradients of n's inputs. False if a run of hd_grad_of
 * needs only the gradient of n's output. */
static bool leads_on(const run *r, const hd__node *n)
{
    bool any = r->mark == 0 && n->op != &hd__graph_leaf_op;
    for (int i = 0; i < n->n_in && !any; i++) {
        any = n->edges[i].node && hd__run_wanted_sum(r, n->edges[i].node, n->edges[i].output);
    }
    return any;
}

/* Releases the sums of gradients at n's outputs, after n has run or after a failure. */
static void leave_node(const run *r, hd__node *n)
{
    if (!hd__run_left_alone(r, n)) {
        drop_pending(n);
        n->queued = 0;
    }
}

static bool run_node(run *r, hd__node *n)
{
    bool ok = true;
    for (int k = 0; k < n->n_out && ok; k++) {
        ok = hd__run_finish_output(r, n, k);
    }
    if (ok && leads_on(r, n)) {
        ok = scoped_backward(r, n);
        if (ok && !r->retain_graph) {
            hd__node_free_saved(n);
        }
    }
    leave_node(r, n);
    return ok;
}

/* ---------------------------------------------------------------- a whole run */

bool hd__run_begin(hd__run *r)
{
    r->depth = hd__run_innermost ? (uint8_t)(hd__run_innermost->depth + 1) : 1;
    if (r->depth > DEPTH_MOST) {
        return hd_fail(HD_STATE, "%d backwards run inside each other: expected fewer", DEPTH_MOST);
    }
    r->outer = hd__run_innermost;
    hd__run_innermost = r;
    r->outer_grad_mode = hd_set_grad_mode(false);
    return true;
}

static void *needs_no_grad(const hd__run *r, const hd_tensor *y)
{
    if (hd__graph_requires_grad(y)) {
        return hd_fail(HD_GRAD,
                       "%s %s is a view that was taken while grad mode was off, so no "
                       "gradient goes from it to its base",
                       r->seed, HD__SHAPE(y));
    }
    return hd_fail(HD_GRAD,
                   "%s %s does not require grad: no tensor that it was computed from requires "
                   "grad, or grad mode was off then (HD_NO_GRAD), or hd_detach made it",
                   r->seed, HD__SHAPE(y));
}

bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad)
{
    hd__edge e;
    bool none = hd__tensor_is_none(grad);
    if (none && y->numel != 1) {
        return hd_fail(HD_GRAD,
                       "%s %s has %" PRId64
                       " elements: expected 1. Reduce it by hd_sum or hd_mean, or pass a gradient "
                       "of its shape to hd_backward_with",
                       r->seed, HD__SHAPE(y), y->numel);
    }
    if (!none && !hd__tensor_same_shape(grad, y)) {
        return hd_fail(HD_SHAPE, "a gradient of %s for %s: expected the same shape",
                       HD__SHAPE(grad), HD__SHAPE(y));
    }
    if ((!none && !hd__tensor_float_arg(grad)) || !hd__edge_of(y, &e)) {
        return false;
    }
    if (!e.node) {
        return needs_no_grad(r, y);
    }
    hd_tensor *g = none ? hd_ones_like(y, (hd_dtype)y->dtype) : grad;
    bool ok = g && arrive(r, e, g, NULL, 0);
    hd__node_release(e.node);
    return ok;
}

bool hd__run_walk(hd__run *r)
{
    bool ok = true;
    while (ok && r->len) {
        hd__node *n = hd__run_pop(r);
        ok = hd__event_telling() ? run_told(r, n) : run_held(r, n);
        hd__node_release(n);
    }
    return ok;
}

bool hd__run_end(hd__run *r, bool ok)
{
    ok = hd__run_end_commits(r, ok);
    while (r->len) { /* after a success the heap is empty */
        hd__node *n = hd__run_pop(r);
        /* skips nodes that only hd__run_reach has put on the heap: they hold no sums of r */
        if (hd__run_left_alone(r, n) || n->queued == r->depth) {
            leave_node(r, n);
        }
        hd__node_release(n);
    }
    hd__run_put_back(r);
    hd__run_innermost = r->outer;
    hd_free(r->heap);
    hd_set_grad_mode(r->outer_grad_mode);
    return ok || hd__graph_failed();
}

int hd_backward_depth(void)
{
    return hd__run_innermost && hd__run_innermost->accumulate ? hd__run_innermost->depth : 0;
}

static bool backward(const char *seed, hd_tensor *y, hd_tensor *grad, bool retain_graph)
{
    run r = {.seed = seed, .retain_graph = retain_graph, .accumulate = true};
    if (!hd__tensor_arg(seed, y) || !hd__tensor_arg_or_none("grad", grad) || !hd__run_begin(&r)) {
        return hd__run_innermost ? false : hd__run_call_end(NULL, false);
    }
    /* Warnings read the loss's node after the run, and a hook may free y. */
    hd__node *loss = hd__event_advised() ? hd__node_retain(y->attachment) : NULL;
    const char *made_by = y->made_by;
    const double value = loss && y->numel == 1 ? hd__tensor_float_at(y, y->offset) : 0;
    HD__DRAWS_BEGIN(draws); /* hooks and users' ops may draw random numbers */
    hd_scope *scope = hd_scope_open();
    bool ok = scope && hd__run_count(&r, y) && hd__run_seed(&r, y, grad);
    hd_scope_close(scope); /* now only the engine holds the first gradient */
    ok = hd__run_end(&r, ok && hd__run_walk(&r));
    hd__draws_end(&draws, ok);
    if (HD__UNLIKELY(loss) && ok) {
        hd__events->backward_ended(retain_graph ? NULL : loss, made_by, value);
    }
    hd__node_release(loss);
    return ok;
}

bool hd_backward(hd_tensor *loss)
{
    HD__CALL("hd_backward");
    return backward("loss", loss, HD_NONE, false);
}

bool hd_backward_with(hd_tensor *y, hd_tensor *grad, bool retain_graph)
{
    HD__CALL("hd_backward_with");
    return backward("y", y, grad, retain_graph);
}
