/* backward_end.c - hd_on_backward_end: registers a function that is called at the end of each
 * backward. If one is registered, a leaf's hooks run as soon as its gradient is complete.
 *
 * Training on several machines (heed-mpi) needs the function and the early hooks. A hook sends each
 * leaf's gradient while backward still runs. The registered function waits until the last transfer
 * has ended, before any .grad is written.
 *
 * A leaf's gradient is complete when the run has handled the last edge that leads to the leaf. The
 * heap does not show this moment: a leaf comes out of the heap only after all younger nodes, even
 * after nodes that do not lead to the leaf. So the edges to each leaf are counted before the walk.
 * The counting does not change the order in which the gradients are added, so no bit of the sums
 * changes. */
#include "autograd/backward_end.h"
#include "autograd/grad.h"
#include "autograd/node.h"
#include "tensor/tensor_args.h"

typedef hd__run run;

static HD__TLS struct {
    hd_backward_end f; /* NULL if none is registered */
    void *user;
    /* while f is called: the run that is ending, or NULL if hd_backward failed before it began a
     * run; at all other times: NULL */
    run *at;
} end;

bool hd_on_backward_end(hd_backward_end f, void *user)
{
    HD__CALL("hd_on_backward_end");
    if (f && end.f) {
        return hd_fail(
            HD_STATE,
            "this thread has a function already. Call hd_on_backward_end(NULL, NULL) first");
    }
    end.f = f;
    end.user = user;
    return true;
}

/* Calls the registered function, and returns its result. */
static bool call_end(bool ok)
{
    HD__CALLS_BACK;
    return end.f(ok, end.user);
}

bool hd__run_call_end(run *r, bool ok)
{
    if (!HD__UNLIKELY(end.f) || (r && (!r->accumulate || r->depth > 1))) {
        return ok;
    }
    end.at = r;
    hd_scope *scope = hd_scope_open();
    uint64_t failures = hd_error_count();
    bool mode = hd_set_grad_mode(false);
    bool well = call_end(ok && scope);
    hd_set_grad_mode(mode);
    hd_scope_close(scope);
    end.at = NULL;
    if (ok && scope && !well && hd_error_count() == failures) {
        hd_fail(HD_STATE,
                "the function passed to hd_on_backward_end returned false without an error");
    }
    return ok && scope && well;
}

/* ---------------------------------------------------------------- replacing a gradient */

/* Returns r's commit that will write the .grad of leaf node x, or NULL if there is none. */
static hd__run_commit *commit_to(run *r, const hd__node *x)
{
    hd__run_commit *c = r->commits, *past = c + r->n_commits;
    while (c < past && c->slot != &x->grad) {
        c++;
    }
    return c < past ? c : NULL;
}

bool hd_set_backward_grad(hd_tensor *x, hd_tensor *g)
{
    HD__CALL("hd_set_backward_grad");
    hd_tensor *held = NULL;
    if (!hd__tensor_arg("x", x) || !hd__tensor_arg("g", g)) {
        return false;
    }
    if (!end.at) {
        return hd_fail(
            HD_STATE,
            "no backward is ending. Call it in the function passed to hd_on_backward_end");
    }
    hd__node *n = hd__graph_leaf_node(x);
    if (!n || !n->requires_grad) {
        return hd_fail(HD_GRAD, "x of %s: expected a leaf that requires grad", HD__SHAPE(x));
    }
    hd__run_commit *c = hd__graph_hold_grad(x, g, &held) ? commit_to(end.at, n) : NULL;
    if (held && !c && (c = hd__run_add_commit(end.at))) {
        *c = (hd__run_commit){.n = hd__node_retain(n), .slot = &n->grad, .given = &n->grad_given};
    }
    if (!c) {
        hd__tensor_drop(held);
        return false;
    }
    hd__tensor_drop(c->value);
    c->value = held;
    c->in_place = false;
    c->gives = true;
    return true;
}

/* ---------------------------------------------------------------- the edges of leaves */

bool hd__run_count(run *r, hd_tensor *y)
{
    hd__node **order = NULL;
    int64_t n = 0;
    if (!HD__UNLIKELY(end.f) || r->depth > 1) {
        return true;
    }
    r->counted = hd__run_marks();
    bool ok = hd__run_reach(r, 1, &y, r->counted, &order, &n);
    hd_free(order);
    return ok;
}
