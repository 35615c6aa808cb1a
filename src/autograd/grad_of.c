/* grad_of.c - hd_grad_of (torch.autograd.grad): returns the gradients of outputs with respect to
 * given inputs, and writes no .grad.
 *
 * The run captures the gradients that arrive at the inputs. It runs only the nodes on a path from
 * an output to an input; a first pass marks these nodes. Nothing is written to leaves, not even a
 * mark, because other threads may use the same leaves in their graphs. */
#include <inttypes.h>

#include "autograd/backward.h"
#include "autograd/history.h"
#include "autograd/user_code.h"
#include "base/random/draws.h"
#include "tensor/list.h"
#include "tensor/tensor_args.h"

typedef hd__run run;

hd_grad_options hd_grad_defaults(void)
{
    return (hd_grad_options){.size = sizeof(hd_grad_options)};
}

/* ---------------------------------------------------------------- the nodes on a path */

/* True if n is captured: the caller has requested the gradient of one of its outputs. */
static bool is_captured(const run *r, const hd__node *n)
{
    bool is = false;
    for (int k = 0; k < n->n_out && !is; k++) {
        is = hd__run_captured(r, n, (uint32_t)k);
    }
    return is;
}

/* True if n is captured, or if one of its inputs is marked or a captured leaf. Leaves are never
 * marked. */
static bool on_path(const run *r, const hd__node *n)
{
    bool on = is_captured(r, n);
    for (int i = 0; i < n->n_in && !on; i++) {
        const hd__node *input = n->edges[i].node;
        on = input &&
             (input->op == &hd__graph_leaf_op ? is_captured(r, input) : input->mark == r->mark);
    }
    return on;
}

/* Sets r->mark, and marks all nodes from which a captured output can be reached. Only these will
 * run. Returns false with an error if memory runs out. */
static bool mark_paths(run *r, const hd_list *outputs)
{
    hd__node **order = NULL;
    int64_t n = 0;
    uint64_t seen = hd__run_marks();
    bool ok = hd__run_reach(r, outputs->len, outputs->items, seen, &order, &n);
    r->mark = seen + 1;
    /* begins with the oldest node, so that a node's inputs are marked before the node */
    for (int64_t i = n - 1; ok && i >= 0; i--) {
        order[i]->mark = on_path(r, order[i]) ? r->mark : seen;
    }
    hd_free(order);
    return ok;
}

/* ---------------------------------------------------------------- captures */

static bool find_captures(run *r, const hd_list *inputs)
{
    for (int64_t i = 0; i < inputs->len; i++) {
        hd_tensor *x = inputs->items[i];
        bool ok = hd__tensor_arg("an input", x) &&
                  (hd__graph_requires_grad(x) ||
                   hd_fail(HD_GRAD,
                           "input %" PRId64
                           ", of shape %s, does not require grad. Call hd_requires_grad_(x, true) "
                           "for it before you compute the outputs",
                           i, HD__SHAPE(x))) &&
                  hd__edge_of(x, &r->captures[i].at);
        if (!ok) {
            return false;
        }
        r->captures[i].input = i;
        r->n_captures++;
    }
    hd__run_sort_captures(r);
    return true;
}

/* ---------------------------------------------------------------- the run */

static bool seed_all(run *r, const hd_list *outputs, const hd_list *grads)
{
    if (grads && grads->len != outputs->len) {
        return hd_fail(HD_VALUE,
                       "%" PRId64 " gradients for %" PRId64 " outputs: expected one for each",
                       grads->len, outputs->len);
    }
    for (int64_t i = 0; i < outputs->len; i++) {
        if (!hd__run_seed(r, outputs->items[i], grads ? grads->items[i] : HD_NONE)) {
            return false;
        }
    }
    return true;
}

/* Sets values[i] to an alias of the gradient captured for input i. If there is none, sets values[i]
 * to HD_NONE if allow_unused is true, and returns false with HD_GRAD otherwise. */
static bool unpack(run *r, const hd_list *inputs, bool allow_unused, hd_tensor **values)
{
    for (int64_t i = 0; i < r->n_captures; i++) {
        values[r->captures[i].input] = r->captures[i].value;
    }
    for (int64_t i = 0; i < inputs->len; i++) {
        const hd_tensor *v = values[i];
        if (!v && !allow_unused) {
            return hd_fail(HD_GRAD,
                           "the outputs do not depend on input %" PRId64
                           ", of shape %s. Set allow_unused to get HD_NONE for it",
                           i, HD__SHAPE(inputs->items[i]));
        }
        values[i] = v ? hd__tensor_alias_of(v) : HD_NONE;
        if (!values[i]) {
            return false;
        }
    }
    return true;
}

/* Returns a list, in the innermost scope, with the captured gradient of each input. Returns NULL
 * with an error on failure. */
static hd_list *captured(run *r, const hd_list *inputs, bool allow_unused)
{
    hd_tensor **values = hd__mem_alloc_zeroed((size_t)inputs->len * sizeof *values);
    bool ok = values && unpack(r, inputs, allow_unused, values);
    hd_list *list = ok ? hd_list_n(inputs->len, values) : NULL;
    hd_free(values);
    return list;
}

hd_list *hd_grad_of(const hd_list *outputs, const hd_list *inputs, const hd_list *grad_outputs,
                    const hd_grad_options *o)
{
    HD__CALL("hd_grad_of");
    if (!hd__tensor_list_arg("outputs", outputs) || !hd__tensor_list_arg("inputs", inputs) ||
        (grad_outputs && !hd__tensor_list_arg("grad_outputs", grad_outputs)) ||
        (o && !HD__SIZE_OK(o, "hd_grad_defaults()")) ||
        !hd__tensor_args("outputs", outputs->len, outputs->items, false)) {
        return NULL;
    }
    run r = {.seed = "output", .retain_graph = o && o->retain_graph};
    r.captures = hd__mem_alloc_zeroed((size_t)inputs->len * sizeof *r.captures);
    if (!r.captures || !hd__run_begin(&r)) {
        hd_free(r.captures);
        return NULL;
    }
    HD__DRAWS_BEGIN(draws); /* hooks and users' ops may draw random numbers */
    hd_scope *scope = hd_scope_open();
    bool ok = scope && find_captures(&r, inputs) && mark_paths(&r, outputs) &&
              seed_all(&r, outputs, grad_outputs);
    hd_scope_close(scope);
    ok = hd__run_end(&r, ok && hd__run_walk(&r));
    hd_list *list = ok ? captured(&r, inputs, o && o->allow_unused) : NULL;
    hd__draws_end(&draws, list);
    for (int64_t i = 0; i < r.n_captures; i++) {
        hd__node_release(r.captures[i].at.node);
        hd__tensor_drop(r.captures[i].value);
    }
    hd_free(r.captures);
    return list ? list : (hd__graph_failed(), NULL);
}
