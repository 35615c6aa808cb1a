/* graph.c - reading the graph from outside: what a tensor prints of its node, and the nodes that it
 * came from, one by one.
 *
 * A public hd_node is the engine's node itself, and nothing here changes one. The functions that
 * take a tensor first give a stale view its new node, as every use of it does (hd__refresh_view in
 * history.c). */
#include "autograd/history.h"
#include "autograd/run.h"
#include "tensor/scope.h"
#include "tensor/tensor_args.h"

/* ---------------------------------------------------------------- a tensor's node */

/* The end of a tensor's repr. PyTorch prints Invalid for a view that may not be used any more. */
static void describe_node(const hd_tensor *x, char *text, size_t size)
{
    char name[64];
    if (hd__stale_in_graph(x)) {
        bool lost = x->flags & (HD__F_MULTI_VIEW | HD__F_NO_GRAD_VIEW);
        snprintf(text, size, "grad_fn=<%s>", lost ? "Invalid" : hd__as_strided_op.name);
    } else if (!hd__requires_grad(x)) {
        snprintf(text, size, "%s", "");
    } else if (!hd__attached_grad(x) || hd__leaf_node(x)) {
        snprintf(text, size, "requires_grad=True");
    } else {
        snprintf(text, size, "grad_fn=<%s>", hd__node_name(x->attachment, name));
    }
}

static void release_attachment(void *node)
{
    hd__node_release(node);
}

static hd__grad_use *grad_use_in(void *node, int64_t *version)
{
    hd__node *n = node;
    if (version) {
        *version = n->grad ? (int64_t)hd__storage_version(n->grad) : -1;
    }
    return n->op == &hd__leaf_op ? hd__leaf_use(n) : NULL;
}

static bool in_run(void)
{
    return hd__run_innermost;
}

static void leaf_taken_over(hd_tensor *x, hd_tensor *grad)
{
    hd__node *leaf = hd__leaf_node(x);
    hd__describe_output(leaf, 0, x);
    hd__drop(leaf->grad);
    leaf->grad = hd__is_none(grad) ? NULL : hd__hold(grad);
    leaf->grad_given = false;
    hd__leaf_use(leaf)->by = 0;
}

const hd__attachment_ops hd__attachment = {release_attachment, describe_node, grad_use_in, in_run,
                                           leaf_taken_over};

/* A name that was put together lives in the innermost scope. */
static const char *name_of(const hd__node *n)
{
    if (n->op != &hd__user_op) {
        return n->op->name;
    }
    char *text = hd__scope_alloc(64);
    return text ? hd__node_name(n, text) : NULL;
}

const char *hd_grad_fn(const hd_tensor *x)
{
    HD__CALL("hd_grad_fn");
    if (!hd__any_arg("x", x, false) || !hd__refresh_view(x)) {
        return NULL;
    }
    return hd__attached_grad(x) && !hd__leaf_node(x) ? name_of(x->attachment) : "";
}

const hd_node *hd_grad_node(hd_tensor *x)
{
    HD__CALL("hd_grad_node");
    if (!hd__arg("x", x) || !hd__grad_required(x) || !hd__refresh_view(x)) {
        return NULL;
    }
    return hd__attached_grad(x) ? x->attachment
                                : hd__fail(HD_GRAD,
                                           "%s has no node: it is a view taken while grad mode was "
                                           "off, or before its base required grad",
                                           HD__SHAPE(x));
}

/* ---------------------------------------------------------------- nodes */

const char *hd_node_name(const hd_node *n)
{
    HD__CALL("hd_node_name");
    return hd__given("n", n) ? name_of(n) : NULL;
}

bool hd_node_is_leaf(const hd_node *n)
{
    HD__CALL("hd_node_is_leaf");
    return hd__given("n", n) && n->op == &hd__leaf_op;
}

int hd_node_inputs(const hd_node *n)
{
    HD__CALL("hd_node_inputs");
    return hd__given("n", n) ? n->n_in : -1;
}

int hd_node_outputs(const hd_node *n)
{
    HD__CALL("hd_node_outputs");
    return hd__given("n", n) ? n->n_out : -1;
}

const hd_node *hd_node_input(const hd_node *n, int i, int *output)
{
    HD__CALL("hd_node_input");
    if (!hd__given("n", n) || !hd__index_ok("input", i, n->n_in)) {
        return NULL;
    }
    if (!hd__needs(n, i)) {
        return hd__fail(HD_GRAD, "input %d needs no gradient", i);
    }
    if (output) {
        *output = (int)n->edges[i].output;
    }
    return n->edges[i].node;
}

const int64_t *hd_node_sizes(const hd_node *n, int output, int *ndim)
{
    HD__CALL("hd_node_sizes");
    if (!hd__given("n", n) || !hd__given("ndim", ndim) ||
        !hd__index_ok("output", output, n->n_out)) {
        return NULL;
    }
    *ndim = n->outs[output].ndim;
    return n->outs[output].sizes;
}
