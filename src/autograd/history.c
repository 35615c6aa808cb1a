/* history.c - how views and changes in place rewrite the graph. docs/architecture.md, "Views and
 * in-place changes", has a picture of it.
 *
 * Base and view. A view is a tensor in the memory of another one: a slice, a transposed or an
 * expanded tensor. Its `base` is the tensor that it was taken from or, if that is a view itself,
 * that view's base. So a base is never a view. A view holds its base; a base does not know its
 * views.
 *
 * Versions. Each storage counts the changes in place of its elements (hd__tensor_bump). A saved
 * tensor remembers the version at which it was saved, and backward refuses it at any other version.
 * A view's view_version is the version that its node describes. If the storage has another version,
 * the view is stale: its node describes how its old elements were computed.
 *
 * If x is not a view, hd_mul_(x, w) is recorded like y = hd_mul(x, w), but x itself becomes the
 * output of the new node. The node's edges lead to the old node of x and to that of w.
 *
 * If v is a view, hd_mul_(v, w) changes the base as well. So the base becomes the output of a new
 * node, CopySlices. v becomes the output of another new node, AsStrided, which leads to CopySlices.
 * The node of hd_mul_ itself stays outside the graph: CopySlices keeps it as its `inner` node.
 * CopySlices leads to the base's old node and to that of w. Its backward copies the base's
 * gradient, gives the part that lies at v to the inner node, and writes the result over that part.
 *
 * Other views of the base do not change now; they become stale. The next use of such a view gives
 * it an AsStrided node of its own, which leads to the base's new node (hd__graph_refresh_view).
 * Several threads may use one stale view at once, so hd__graph_refresh_view takes a lock. It stores
 * the new node first and the new view_version last. So a thread that finds the view up to date also
 * finds the new node.
 *
 * .grad and the flag of hd_retain_grad belong to the tensor, so they move to its new node. Hooks
 * were registered for the old elements, so they stay with the old node.
 *
 * hd__graph_inplace_ok refuses these tensors, as PyTorch does:
 * - an expanded tensor. Several of its elements share memory, so one write would change them all;
 * - a leaf that requires grad, or a view of it, while grad mode is on. The leaf would become a
 *   result, and its .grad would belong to elements that no longer exist. A view is refused even
 *   after the leaf stopped requiring grad, because the view's node leads to the leaf;
 * - an output of split, chunk or unbind. It shares its node with the other outputs, so it alone
 *   cannot get a new one. For the same reason it can no longer be used after a change of its base;
 * - a view that was taken while grad mode was off. No node leads from it to its base, so it is
 *   unclear whether the change belongs to the graph. For the same reason it can no longer be used
 *   in the graph after a change of its base;
 * - a view of a parameter that hd_module_to has converted since. The view lies in the parameter's
 *   old memory. */

#include "autograd/history.h"
#include "autograd/record.h"
#include "autograd/user_code.h"
#include "base/start.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/reduce_dims.h"
#include "tensor/shape.h"

/* ---------------------------------------------------------------- where a view lies */

/* Where a base or a view lies in their common storage. */
typedef struct geometry {
    int ndim;
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS], offset;
} geometry;

typedef struct places { /* the params of CopySlices and AsStrided */
    geometry base, view;
} places;

static geometry geometry_of(const hd_tensor *x)
{
    geometry g = {.ndim = x->ndim, .offset = x->offset};
    memcpy(g.sizes, x->sizes, sizeof x->sizes);
    memcpy(g.strides, x->strides, sizeof x->strides);
    return g;
}

/* Returns a new tensor with g's sizes and strides, and undefined elements; NULL with an error if
 * memory runs out. Like g, it may have gaps between elements: a base has gaps if it is a detached
 * slice. */
static hd_tensor *empty_in(const geometry *g, int dtype)
{
    int64_t reach = 1;
    for (int d = 0; d < g->ndim; d++) {
        reach += g->sizes[d] > 0 ? (g->sizes[d] - 1) * g->strides[d] : 0;
    }
    hd_tensor *block = hd__tensor_empty(dtype, 1, &reach);
    return block ? hd__tensor_alias(block, g->ndim, g->sizes, g->strides, 0) : NULL;
}

/* Returns a view of `whole` with the elements that `view` has in `base`. `whole` has the sizes and
 * strides of `base`. NULL with an error if memory runs out. */
static hd_tensor *part_in(const hd_tensor *whole, const geometry *base, const geometry *view)
{
    return hd__tensor_alias(whole, view->ndim, view->sizes, view->strides,
                            view->offset - base->offset);
}

/* ---------------------------------------------------------------- taking a view */

/* Turns y, an alias of x, into a view of x's base or, if x is not a view itself, of x. */
static void set_base(hd_tensor *y, hd_tensor *x)
{
    y->base = hd__tensor_hold(x->base ? x->base : x);
    atomic_init(&y->view_version, hd__tensor_storage_version(y));
    y->flags |= (uint8_t)(x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW));
    if (!hd__record_grad_mode_on) {
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
    return HD__RECORD(op, y, HD__IN(1, &x), .params = params, .params_size = params_size);
}

bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size)
{
    for (int k = 0; k < n_out; k++) {
        set_base(ys[k], x);
        ys[k]->flags |= HD__F_MULTI_VIEW;
    }
    hd__record_args a = {HD__IN(1, &x), .params = params, .params_size = params_size};
    return hd__record_multi(op, n_out, ys, &a);
}

/* ---------------------------------------------------------------- a new node for a tensor */

/* Gives node `to` room for the .grad of its output, so that replace_node cannot fail. Returns false
 * with an error if memory runs out. retain_room does this only if x, the future output, has a
 * .grad. */
static bool room_for_grad(hd__node *to)
{
    to->outs[0].extra = hd__mem_alloc_zeroed(sizeof *to->outs[0].extra);
    return to->outs[0].extra;
}

static bool retain_room(const hd_tensor *x, hd__node *to)
{
    return !hd__graph_own_grad_in(x) || room_for_grad(to);
}

/* Makes x the output of node `to`, moves the .grad of x there, and sets x's view_version to the
 * storage's version. */
static void replace_node(hd_tensor *x, hd__node *to)
{
    if (hd__graph_own_grad_in(x)) {
        to->outs[0].extra->own = hd__graph_own_grad_in(x);
        hd__graph_extra_of(x)->own = NULL;
    }
    hd__node_attach(x, hd__node_retain(to), 0);
    atomic_store_explicit(&x->view_version, hd__tensor_storage_version(x), memory_order_release);
}

/* ---------------------------------------------------------------- views of a changed base */

/* y is a view of x: dx = dy at the elements of the view, and 0 elsewhere. If an expanded dim of y
 * repeats an element, dx has the sum of its gradients. */
static void as_strided_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const places *at = hd__node_params(n);
    geometry once = at->view;
    for (int d = 0; d < once.ndim; d++) {
        once.sizes[d] = once.strides[d] == 0 ? 1 : once.sizes[d];
    }
    hd_tensor *zeros = empty_in(&at->base, dy[0]->dtype);
    hd_tensor *part = zeros ? part_in(zeros, &at->base, &once) : NULL;
    hd_tensor *sum = hd__reduce_sum_to(dy[0], once.ndim, once.sizes);
    if (part && sum) {
        hd__tensor_fill(zeros, hd_scalar_int(0));
        hd__tensor_copy(part, sum);
        dx[0] = zeros;
    }
}

const hd__op hd__graph_as_strided_op = HD__OP("AsStridedBackward0", as_strided_backward);

/* Returns a new node AsStrided for view x. Its edge leads to output number `output` of `base`, the
 * node of x's base. `base` is NULL if x's base is a leaf that no longer requires grad. NULL with an
 * error if memory runs out. */
static hd__node *view_node(const hd_tensor *x, hd__node *base, uint32_t output)
{
    const places at = {geometry_of(x->base), geometry_of(x)};
    const hd__record_args a = {.n_in = 1, HD__PARAMS(at)};
    hd__node *n = hd__node_new(&hd__graph_as_strided_op, &a, 1, NULL, NULL);
    if (n) {
        hd__node_describe_output(n, 0, x);
        n->edges[0] = (hd__edge){hd__node_retain(base), output};
        hd__node_stamp(n);
    }
    return n;
}

/* Returns text for a message: what kind of view x is. Views of this kind cannot get a new node. */
static const char *kind_of_view(const hd_tensor *x)
{
    return x->flags & HD__F_MULTI_VIEW ? "an output of split, chunk or unbind"
                                       : "a view taken while grad mode was off";
}

/* Returns false with HD_GRAD if view x no longer lies in its base's memory, because hd_module_to
 * has moved the base, a parameter, to new memory. */
static bool in_base(const hd_tensor *x)
{
    return x->storage == x->base->storage ||
           hd_fail(HD_GRAD,
                   "%s is a view of a parameter that hd_module_to has converted since. Take the "
                   "view again",
                   HD__SHAPE(x));
}

bool hd__graph_refresh_view(const hd_tensor *x)
{
    if (!hd__graph_stale_in_graph(x)) {
        return true;
    }
    if (x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW)) {
        return hd_fail(HD_GRAD, "%s is %s, and its base was changed in place since. %s",
                       HD__SHAPE(x), kind_of_view(x),
                       x->flags & HD__F_MULTI_VIEW ? "Clone it before that change"
                                                   : "Take the view again");
    }
    if (!in_base(x)) {
        return false;
    }
    hd__node *whole = hd__graph_attached_grad(x->base) ? x->base->attachment : NULL;
    hd__node *n = view_node(x, whole, x->base->output), *old = NULL;
    if (!n || !room_for_grad(n)) {
        hd__node_release(n);
        return false;
    }
    /* Code of the program must not run while the lock is held: no handler, and no allocator. */
    pthread_mutex_lock(&hd__start_views_lock);
    if (hd__graph_stale(x)) { /* false if another thread has refreshed x since */
        old = hd__node_retain(x->attachment);
        replace_node((hd_tensor *)(uintptr_t)x, n);
    }
    pthread_mutex_unlock(&hd__start_views_lock);
    hd__node_release(old); /* after the lock is released, because this may free many nodes */
    hd__node_release(n);
    return true;
}

/* ---------------------------------------------------------------- what is refused */

static bool is_grad_leaf(const hd_tensor *x)
{
    const hd__node *n = hd__graph_leaf_node(x);
    return n && n->requires_grad;
}

/* True if x is in the graph and a view of a leaf, even if the leaf no longer requires grad. */
static bool is_view_of_leaf(const hd_tensor *x)
{
    return x->base && hd__graph_requires_grad(x) &&
           (!hd__graph_attached_grad(x->base) || hd__graph_leaf_node(x->base));
}

static bool no_grad_leaf(const char *arg, const hd_tensor *x)
{
    return (!is_grad_leaf(x) || hd_fail(HD_GRAD,
                                        "%s of %s is a leaf that requires grad. Change it under "
                                        "HD_NO_GRAD, or change a clone of it",
                                        arg, HD__SHAPE(x))) &&
           (!is_view_of_leaf(x) ||
            hd_fail(
                HD_GRAD,
                is_grad_leaf(x->base)
                    ? "%s of %s is a view of a leaf that requires grad. Change it under HD_NO_GRAD"
                    : "%s of %s is a view of a leaf and requires grad. Change it under HD_NO_GRAD",
                arg, HD__SHAPE(x)));
}

bool hd__graph_inplace_ok(hd_tensor *x, int n_in, hd_tensor *const *in)
{
    if (!hd__graph_not_lent("x", x)) {
        return false;
    }
    hd__tensor_changes(x);
    if (hd__tensor_overlaps_itself(x)) {
        return hd_fail(HD_STATE,
                       "x of %s is expanded: several elements share memory. Clone it first",
                       HD__SHAPE(x));
    }
    if (!hd__record_any_wants_grad(n_in, in)) {
        return true;
    }
    for (int i = 0; i < n_in; i++) { /* refuses inputs that can no longer be used */
        if (!hd__tensor_is_none(in[i]) && !hd__graph_refresh_view(in[i])) {
            return false;
        }
    }
    if (x->base && x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW)) {
        return hd_fail(HD_GRAD, "x of %s is %s, so it must not change in place. Clone it first",
                       HD__SHAPE(x), kind_of_view(x));
    }
    return no_grad_leaf("x", x) && (!x->base || in_base(x));
}

/* Returns false with an error if hd_data_mut, hd_set or hd_copy_from must not write to x. They call
 * this through a pointer, because src/tensor does not know autograd. */
static bool write_ok(const char *arg, hd_tensor *x)
{
    return hd__graph_not_lent(arg, x) && (!hd__record_grad_mode_on || no_grad_leaf(arg, x));
}

__attribute__((constructor)) static void install(void)
{
    hd__tensor_write_check = write_ok;
}

/* ---------------------------------------------------------------- a change in place */

/* dx[0] is the gradient of the base: a copy of dy in which the elements of the view are replaced by
 * the inner node's gradient for its input 0. It is HD_NONE if the base needs no gradient. dx[1],
 * dx[2], ... are the inner node's gradients for its other inputs. */
static void slices_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    const places *at = hd__node_params(n);
    hd_tensor *whole = empty_in(&at->base, dy[0]->dtype);
    hd_tensor *part = whole ? part_in(whole, &at->base, &at->view) : NULL;
    if (!part) {
        return;
    }
    hd__tensor_copy(whole, dy[0]);
    hd_tensor *dpart = hd__tensor_clone(part);
    if (!dpart) {
        return;
    }
    n->inner->op->backward(n->inner, &dpart, dx);
    if (dx[0] && !hd__tensor_is_none(dx[0])) { /* NULL if the inner node's backward failed */
        hd__tensor_copy(part, dx[0]);
        dx[0] = whole;
    }
}

static const hd__op slices_op = {.name = "CopySlices", .backward = slices_backward, .once = true};

/* Returns a node CopySlices for the base of view x, with the op's own node as its `inner`. Changes
 * inner's edge 0, which leads to the view's node, into an edge to the base's node. Returns NULL
 * with an error if memory runs out. */
static hd__node *slices_node(const hd_tensor *x, hd__node *inner)
{
    const hd_tensor *base = x->base;
    const places at = {geometry_of(base), geometry_of(x)};
    const hd__record_args a = {.n_in = inner->n_in, HD__PARAMS(at)};
    hd__node_release(inner->edges[0].node);
    inner->edges[0] = (hd__edge){NULL, 0};
    if (hd__graph_attached_grad(base)) {
        inner->edges[0] = (hd__edge){hd__node_retain(base->attachment), base->output};
    }
    hd__node *n = hd__node_new(&slices_op, &a, 1, NULL, NULL);
    if (!n) {
        return NULL;
    }
    for (int i = 0; i < n->n_in; i++) {
        n->edges[i] = (hd__edge){hd__node_retain(inner->edges[i].node), inner->edges[i].output};
    }
    hd__node_stamp(n);
    hd__node_describe_output(n, 0, base);
    n->inner = hd__node_retain(inner);
    return n;
}

static bool change_plain(hd_tensor *x, hd__node *n)
{
    if (!retain_room(x, n)) {
        return false;
    }
    hd__tensor_bump(x);
    replace_node(x, n);
    return true;
}

static bool change_view(hd_tensor *x, hd__node *inner)
{
    hd__node *whole = slices_node(x, inner), *part = whole ? view_node(x, whole, 0) : NULL;
    bool ok = part && retain_room(x->base, whole) && retain_room(x, part);
    if (ok) {
        hd__tensor_bump(x);
        replace_node(x->base, whole);
        replace_node(x, part);
    }
    hd__node_release(part);
    hd__node_release(whole);
    return ok;
}

hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *a)
{
    if (!hd__tensor_is_float(x->dtype) || !hd__record_any_wants_grad(a->n_in, a->in)) {
        hd__tensor_bump(x);
        return x;
    }
    hd__node *n = hd__node_new(op, a, 1, &x, a->saved_is_old ? NULL : x->storage);
    bool ok = n && (x->base ? change_view(x, n) : change_plain(x, n));
    hd__node_release(n);
    hd__assert(!ok || !hd__graph_stale(x));
    return ok ? x : NULL;
}
