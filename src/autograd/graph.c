/* graph.c - reading the graph from outside: the nodes that a tensor came from, one by one.
 *
 * A public hd_node is the engine's node itself; nothing here changes one. Only hd_grad_node writes,
 * to a view whose base has changed since: its node is made when somebody asks. */
#include "autograd/autograd_internal.h"

const hd_node *hd_grad_node(hd_tensor *x)
{
    if (!hd__arg("hd_grad_node", "x", x)) {
        return NULL;
    }
    if (!hd__requires_grad(x)) {
        return hd_error_set(HD_GRAD, "hd_grad_node: %s does not require grad", HD__SHAPE(x));
    }
    return hd__refresh_view("hd_grad_node", x) ? x->attachment : NULL;
}

const char *hd_node_name(const hd_node *n)
{
    if (!hd__given("hd_node_name", "n", n)) {
        return NULL;
    }
    if (n->op != &hd__user_op) {
        return n->op->name;
    }
    char *text = hd__scope_alloc("hd_node_name", 64);
    return text ? hd__node_name(n, text) : NULL;
}

bool hd_node_is_leaf(const hd_node *n)
{
    return hd__given("hd_node_is_leaf", "n", n) && n->op == &hd__leaf_op;
}

int hd_node_inputs(const hd_node *n)
{
    return hd__given("hd_node_inputs", "n", n) ? n->n_in : -1;
}

int hd_node_outputs(const hd_node *n)
{
    return hd__given("hd_node_outputs", "n", n) ? n->n_out : -1;
}

static bool in_range(const char *function, const char *what, int i, int n)
{
    if (i >= 0 && i < n) {
        return true;
    }
    hd_error_set(HD_INDEX, "%s: %s %d of %d: expected 0 to %d", function, what, i, n, n - 1);
    return false;
}

const hd_node *hd_node_input(const hd_node *n, int i, int *output)
{
    if (!hd__given("hd_node_input", "n", n) || !in_range("hd_node_input", "input", i, n->n_in)) {
        return NULL;
    }
    if (!hd__needs(n, i)) {
        return hd_error_set(HD_GRAD, "hd_node_input: input %d needs no gradient", i);
    }
    if (output) {
        *output = (int)n->edges[i].output;
    }
    return n->edges[i].node;
}

const int64_t *hd_node_sizes(const hd_node *n, int output, int *ndim)
{
    if (!hd__given("hd_node_sizes", "n", n) || !hd__given("hd_node_sizes", "ndim", ndim) ||
        !in_range("hd_node_sizes", "output", output, n->n_out)) {
        return NULL;
    }
    *ndim = n->outs[output].ndim;
    return n->outs[output].sizes;
}
