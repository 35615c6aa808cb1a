/* output.c - the steps that follow when the gradient of an output is complete. First the output's
 * hooks run. Then hd_grad_of captures the gradient, or hd_backward makes a commit, if the output is
 * a leaf or a tensor with hd_retain_grad. */
#include "autograd/commit.h"
#include "autograd/output.h"
#include "autograd/user_code.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- hooks */

/* Returns the first hook in the list whose id is larger than `id`, or NULL. The ids increase along
 * the list. Going by ids lets a hook remove itself or any other hook. */
static hd__node_hook *hook_after(const hd__node_out_extra *extra, int64_t id)
{
    hd__node_hook *h = extra->hooks;
    while (h && h->id <= id) {
        h = h->next;
    }
    return h;
}

/* Calls hook h with an alias of the gradient *sum, and sets *sum to the hook's result, unless it is
 * HD_NONE. The call may free h and the alias. Returns false with an error if h fails or its result
 * does not fit. */
static bool call_hook(const hd__node *n, hd_tensor **sum, const hd__node_hook *h)
{
    hd_tensor *p = *sum;
    hd_tensor *seen = hd__graph_lend(p);
    if (!seen) {
        return false;
    }
    hd__graph_guest guest = {.n = n, .hook = h->id, .n_lent = 1, .lent = &p};
    hd__graph_guest_enter(&guest);
    hd_tensor *g = h->f(seen, h->user);
    if (!hd__graph_guest_left(&guest)) {
        return false;
    }
    if (!g) {
        return hd_fail(HD_USER, "a hook returned NULL: expected a gradient, or HD_NONE to keep the "
                                "one it was given");
    }
    if (!hd__tensor_arg_or_none("the result of a hook", g) || hd__tensor_is_none(g)) {
        return g == HD_NONE;
    }
    return ((hd__tensor_same_shape(g, p) && g->dtype == p->dtype) ||
            hd_fail(HD_SHAPE, "a hook returned %s of %s: expected %s of %s", HD__SHAPE(g),
                    hd_dtype_name(g->dtype), HD__SHAPE(p), hd_dtype_name(p->dtype))) &&
           hd__run_slot_set(sum, hd__run_detached_gradient(g));
}

HD__RARE void hd__run_close_if_open(hd_scope *scope)
{
    if (hd__scopes_above(scope, 0) >= 0) {
        hd_scope_close(scope);
    }
}

HD__RARE static bool run_hooks(const hd__node *n, hd_tensor **sum, const hd__node_out_extra *extra)
{
    bool ok = true;
    int64_t last = 0;
    for (hd__node_hook *h; ok && (h = hook_after(extra, last));) {
        last = h->id;
        hd_scope *scope = hd_scope_open();
        ok = scope && call_hook(n, sum, h);
        hd__run_close_if_open(scope);
    }
    return ok;
}

/* ---------------------------------------------------------------- the output */

HD__RARE hd_tensor **hd__run_wanted_sum(const hd__run *r, hd__node *n, uint32_t output)
{
    if (hd__run_left_alone(r, n)) {
        hd__run_capture *c = hd__run_captured(r, n, output);
        return c ? &c->value : NULL;
    }
    return n->mark == r->mark ? &n->outs[output].pending : NULL;
}

/* Stores *at, the gradient of n's output k, in each capture of this output. There are several if
 * the caller of hd_grad_of requested the gradient several times. For a leaf, `at` is the address of
 * the first capture's value, so this capture is skipped. */
static void capture(hd__run *r, const hd__node *n, int k, hd_tensor *const *at)
{
    hd__run_capture *c = hd__run_captured(r, n, (uint32_t)k), *end = r->captures + r->n_captures;
    for (; c && c < end && c->at.node == n && c->at.output == (uint32_t)k; c++) {
        if (&c->value != at) {
            c->value = hd__tensor_hold(*at);
        }
    }
}

bool hd__run_finish_output(hd__run *r, hd__node *n, int k)
{
    hd__node_out_meta *out = &n->outs[k];
    hd__node_out_extra *extra = out->extra;
    hd_tensor **sum = HD__UNLIKELY(r->mark) ? hd__run_wanted_sum(r, n, (uint32_t)k) : &out->pending;
    if (!sum || !*sum) {
        return true;
    }
    if (extra && !run_hooks(n, sum, extra)) {
        return false;
    }
    if (r->n_captures) {
        capture(r, n, k, sum);
    }
    bool leaf = n->op == &hd__graph_leaf_op;
    bool kept = extra && extra->own && extra->own->retain_grad;
    bool wanted = r->accumulate && (leaf ? n->requires_grad : kept);
    return !wanted || hd__run_commit_output(r, n, k, leaf);
}
