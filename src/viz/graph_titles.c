/* graph_titles.c - what a reader calls a node: the kind of call and the name of what it computes
 * with, "Linear W_query".
 *
 * As in PyTorch, the last step of a call gives it its grad_fn: a product of batches is called
 * UnsafeViewBackward0. The number of inputs tells such a call from a view. */
#include "viz/graph.h"

int hd__graph_op_length(const char *op)
{
    static const char end[] = "Backward";
    size_t n = strlen(op), word = strlen(end);
    while (n > 0 && op[n - 1] >= '0' && op[n - 1] <= '9') {
        n--;
    }
    bool known = n > word && memcmp(op + n - word, end, word) == 0;
    return (int)(known ? n - word : strlen(op));
}

static bool op_is(const char *op, const char *name)
{
    return strlen(name) == (size_t)hd__graph_op_length(op) && strncmp(op, name, strlen(name)) == 0;
}

/* ---------------------------------------------------------------- kinds */

/* How many dims input k of node i has; -1 if it needs no gradient. */
static int input_dims(const hd__graph *g, int64_t i, int k)
{
    int output = 0, ndim = -1;
    int64_t input = hd__graph_input(g, i, k, &output);
    if (input >= 0) {
        hd_node_sizes(g->nodes[input].node, output, &ndim);
    }
    return ndim;
}

/* hd_linear and hd_scaled_dot_product_attention have three inputs, hd_matmul has two. */
static const char *product_kind(const hd__graph *g, int64_t i)
{
    const hd__graph_node *n = &g->nodes[i];
    if (hd_node_inputs(n->node) == 3) {
        int second = input_dims(g, i, 1), third = input_dims(g, i, 2);
        return third > 1 || second > 2     ? "Attention"
               : second == 2 || third == 1 ? "Linear"
                                           : "Matmul";
    }
    int64_t right = hd__graph_input(g, i, 1, NULL);
    bool turned = right >= 0 && g->nodes[right].layout && g->nodes[right].leaf >= 0;
    return turned && input_dims(g, i, 1) == 2 ? "Linear" : "Matmul"; /* x W^T */
}

static bool is_product(const hd__graph *g, int64_t i)
{
    static const char *const names[] = {"Mm",      "Addmm", "Mv",    "Dot",      "UnsafeView",
                                        "Squeeze", "View",  "Clone", "Transpose"};
    const char *op = g->nodes[i].op;
    int inputs = hd_node_inputs(g->nodes[i].node);
    bool found = op_is(op, "Add") && inputs == 3;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        found = found || (inputs >= 2 && op_is(op, names[k]));
    }
    return found;
}

static void put_kind(const hd__graph *g, int64_t i, hd__text *t)
{
    const char *op = g->nodes[i].op;
    if (is_product(g, i)) {
        hd__text_puts(t, product_kind(g, i));
    } else if (op_is(op, "NativeLayerNorm")) {
        hd__text_puts(t, "LayerNorm");
    } else if (op_is(op, "ScaledDotProductFlashAttentionForCpu")) {
        hd__text_puts(t, "Attention");
    } else {
        hd__text_add(t, op, (size_t)hd__graph_op_length(op));
    }
}

/* ---------------------------------------------------------------- titles */

/* The part of a dotted name of len bytes that follows the name of the cluster. */
static void put_rest(const hd__graph *g, const char *name, size_t len, int64_t cluster, hd__text *t)
{
    size_t skip = cluster > 0 ? g->modules[cluster].len + 1 : 0;
    hd__text_add(t, name + skip, len - skip);
}

void hd__graph_title(const hd__graph *g, int64_t i, int64_t cluster, hd__text *t)
{
    const hd__graph_node *n = &g->nodes[i];
    const hd__graph_module *m = &g->modules[n->module];
    if (hd__graph_is_leaf(g, i)) {
        if (n->name) {
            put_rest(g, n->name, strlen(n->name), cluster, t);
        } else {
            hd__text_puts(t, "leaf");
        }
        return;
    }
    /* A module lends its only call its name and class. With several calls it is a cluster. */
    bool whole = n->weight >= 0 && !n->name && n->module > 0 && n->module != cluster &&
                 g->nodes[n->weight].module == n->module;
    if (whole && m->class_name) {
        hd__text_puts(t, m->class_name);
    } else {
        put_kind(g, i, t);
    }
    const char *name = n->name ? n->name : n->weight >= 0 ? g->nodes[n->weight].name : NULL;
    if (name) {
        hd__text_puts(t, " ");
        put_rest(g, name, whole ? m->len : strlen(name), cluster, t);
    }
}
