/* graph.c - lets users read the graph: grad_fn in a printed tensor, and the functions hd_grad_node
 * and hd_node_..., which walk from node to node.
 *
 * A public hd_node is the engine's own node; no function here changes it. hd_grad_fn and
 * hd_grad_node first give x a new node if it is a view whose base was changed in place
 * (hd__graph_refresh_view in history.c). */
#include "autograd/history.h"
#include "autograd/run.h"
#include "tensor/scope.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- a tensor's node */

/* Writes the part of x's repr that is about autograd into text: grad_fn, requires_grad=True or
 * nothing. As in PyTorch, grad_fn is Invalid for a view that can no longer be used. */
static void describe_node(const hd_tensor *x, char *text, size_t size)
{
    char name[64];
    if (hd__graph_stale_in_graph(x)) {
        bool lost = x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW);
        snprintf(text, size, "grad_fn=<%s>", lost ? "Invalid" : hd__graph_as_strided_op.name);
    } else if (!hd__graph_requires_grad(x)) {
        snprintf(text, size, "%s", "");
    } else if (!hd__graph_attached_grad(x) || hd__graph_leaf_node(x)) {
        snprintf(text, size, "requires_grad=True");
    } else {
        snprintf(text, size, "grad_fn=<%s>", hd__node_name(x->attachment, name));
    }
}

static void release_attachment(void *node)
{
    hd__node_release(node);
}

static hd__tensor_grad_use *grad_use_in(void *node, int64_t *version)
{
    hd__node *n = node;
    if (version) {
        *version = n->grad ? (int64_t)hd__tensor_storage_version(n->grad) : -1;
    }
    return n->op == &hd__graph_leaf_op ? hd__graph_leaf_use(n) : NULL;
}

static bool in_run(void)
{
    return hd__run_innermost;
}

static void leaf_taken_over(hd_tensor *x, hd_tensor *grad)
{
    hd__node *leaf = hd__graph_leaf_node(x);
    hd__node_describe_output(leaf, 0, x);
    hd__tensor_drop(leaf->grad);
    leaf->grad = hd__tensor_is_none(grad) ? NULL : hd__tensor_hold(grad);
    leaf->grad_given = false;
    hd__graph_leaf_use(leaf)->by = 0;
}

const hd__tensor_attachment_ops hd__graph_attachment = {release_attachment, describe_node,
                                                        grad_use_in, in_run, leaf_taken_over};

/* Returns n's name. The text of a user's op lives in the innermost scope; NULL if memory for it
 * runs out. */
static const char *name_of(const hd__node *n)
{
    if (n->op != &hd__graph_user_op) {
        return n->op->name;
    }
    char *text = hd__scope_alloc(64);
    return text ? hd__node_name(n, text) : NULL;
}

const char *hd_grad_fn(const hd_tensor *x)
{
    HD__CALL("hd_grad_fn");
    if (!hd__tensor_any_arg("x", x, false) || !hd__graph_refresh_view(x)) {
        return NULL;
    }
    return hd__graph_attached_grad(x) && !hd__graph_leaf_node(x) ? name_of(x->attachment) : "";
}

const hd_node *hd_grad_node(hd_tensor *x)
{
    HD__CALL("hd_grad_node");
    if (!hd__tensor_arg("x", x) || !hd__graph_grad_required(x) || !hd__graph_refresh_view(x)) {
        return NULL;
    }
    return hd__graph_attached_grad(x)
               ? x->attachment
               : hd_fail(HD_GRAD,
                         "x of %s has no node: it is a view taken while grad mode was "
                         "off, or before its base required grad",
                         HD__SHAPE(x));
}

/* ---------------------------------------------------------------- nodes */

const char *hd_node_name(const hd_node *n)
{
    HD__CALL("hd_node_name");
    return hd__arg_given("n", n) ? name_of(n) : NULL;
}

bool hd_node_is_leaf(const hd_node *n)
{
    HD__CALL("hd_node_is_leaf");
    return hd__arg_given("n", n) && n->op == &hd__graph_leaf_op;
}

int hd_node_inputs(const hd_node *n)
{
    HD__CALL("hd_node_inputs");
    return hd__arg_given("n", n) ? n->n_in : -1;
}

int hd_node_outputs(const hd_node *n)
{
    HD__CALL("hd_node_outputs");
    return hd__arg_given("n", n) ? n->n_out : -1;
}

const hd_node *hd_node_input(const hd_node *n, int i, int *output)
{
    HD__CALL("hd_node_input");
    if (!hd__arg_given("n", n) || !hd__node_index_ok("input", i, n->n_in)) {
        return NULL;
    }
    if (!hd__node_needs(n, i)) {
        return hd_fail(
            HD_GRAD,
            "input %d needs no gradient, so it has no node. Check hd_needs_grad(n, i) first", i);
    }
    if (output) {
        *output = (int)n->edges[i].output;
    }
    return n->edges[i].node;
}

const int64_t *hd_node_sizes(const hd_node *n, int output, int *ndim)
{
    HD__CALL("hd_node_sizes");
    if (!hd__arg_given("n", n) || !hd__arg_given("ndim", ndim) ||
        !hd__node_index_ok("output", output, n->n_out)) {
        return NULL;
    }
    *ndim = n->outs[output].ndim;
    return n->outs[output].sizes;
}
