/* dot.c - the backward graph in Graphviz's language.
 *
 * The walk goes from the tensor towards the leaves, through the inputs in their order, without
 * recursion. A node gets its number when it is first met, so the text does not depend on addresses.
 */
#include <inttypes.h>

#include "viz/viz_internal.h"

typedef struct seen {
    const hd_node *node;
    const char *name; /* the name of a leaf in the dictionary, or NULL */
} seen;

typedef struct walk {
    seen *nodes; /* in the order of their numbers */
    int64_t n, room;
    int64_t *slots; /* open-addressed: number + 1 by the node's address; 0: free */
    int64_t n_slots;
} walk;

/* ---------------------------------------------------------------- the nodes met so far */

/* The slot of the node; a free one if the node has no number yet. */
static int64_t *node_slot(const walk *w, const hd_node *node)
{
    size_t at = ((uintptr_t)node >> 4) * (size_t)0x9E3779B97F4A7C15u;
    for (;; at++) {
        int64_t *slot = &w->slots[at & (size_t)(w->n_slots - 1)];
        if (!*slot || w->nodes[*slot - 1].node == node) {
            return slot;
        }
    }
}

/* Keeps the table at most half full. */
static bool grow_slots(walk *w)
{
    if (2 * (w->n + 1) <= w->n_slots) {
        return true;
    }
    int64_t more = w->n_slots ? 2 * w->n_slots : 64;
    int64_t *slots = hd_alloc((size_t)more * sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(slots, 0, (size_t)more * sizeof *slots);
    hd_free(w->slots);
    w->slots = slots;
    w->n_slots = more;
    for (int64_t i = 0; i < w->n; i++) {
        *node_slot(w, w->nodes[i].node) = i + 1;
    }
    return true;
}

static bool meet(walk *w, const hd_node *node)
{
    if (!grow_slots(w) || !hd__grow(&w->nodes, &w->room, w->n + 1, sizeof *w->nodes)) {
        return false;
    }
    int64_t *slot = node_slot(w, node);
    if (!*slot) {
        w->nodes[w->n] = (seen){.node = node};
        *slot = ++w->n;
    }
    return true;
}

/* Breadth first: when a node's turn comes, its inputs get their numbers. */
static bool meet_all(walk *w, const hd_node *root)
{
    bool ok = meet(w, root);
    for (int64_t i = 0; i < w->n && ok; i++) {
        const hd_node *node = w->nodes[i].node;
        for (int k = 0; k < hd_node_inputs(node) && ok; k++) {
            ok = !hd_needs_grad(node, k) || meet(w, hd_node_input(node, k, NULL));
        }
    }
    return ok;
}

/* Gives the graph's leaves their names. Names of anything else are skipped. */
static bool name_leaves(walk *w, const hd_dict *names)
{
    for (int64_t i = 0; names && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        if (hd_dict_kind_of(names, name) != HD_DICT_TENSOR) {
            continue;
        }
        hd_tensor *t = hd_dict_get(names, name);
        if (!t || !hd_requires_grad(t)) {
            continue;
        }
        const hd_node *node = hd_grad_node(t);
        if (!node) {
            return false;
        }
        int64_t number = *node_slot(w, node);
        if (number && !w->nodes[number - 1].name) { /* a tied parameter keeps its first name */
            w->nodes[number - 1].name = name;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- text */

static void put_node(hd__text *t, const walk *w, int64_t i)
{
    /* dot reads backslashes and HTML's entities in a quoted string */
    static const char *const escapes[] = {"\\\"", "\\\\", "&amp;", "\\n"};
    HD_SCOPE; /* for the name of a user's op */
    const hd_node *node = w->nodes[i].node;
    bool leaf = hd_node_is_leaf(node);
    const char *name = w->nodes[i].name ? w->nodes[i].name : leaf ? "leaf" : hd_node_name(node);
    hd__text_format(t, "    n%" PRId64 " [label=\"", i);
    hd__viz_escape(t, name ? name : "", "\"\\&\n", escapes, false);
    int outputs = hd_node_outputs(node);
    for (int k = 0; k < outputs && k < 4; k++) {
        int ndim = 0;
        const int64_t *sizes = hd_node_sizes(node, k, &ndim);
        hd__text_format(t, "\\n%s", HD__SIZES(ndim, sizes));
    }
    hd__text_puts(t, outputs > 4 ? "\\n..." : "");
    hd__text_puts(t, leaf ? "\", fillcolor=\"#cfe5f2\"];\n" : i ? "\"];\n" : "\", penwidth=2];\n");
}

/* Draws an arrow from every input. If the input has several outputs, the arrow shows which one. */
static void put_edges(hd__text *t, const walk *w, int64_t i)
{
    const hd_node *node = w->nodes[i].node;
    for (int k = 0; k < hd_node_inputs(node); k++) {
        int output = 0;
        if (!hd_needs_grad(node, k)) {
            continue;
        }
        const hd_node *input = hd_node_input(node, k, &output);
        hd__text_format(t, "    n%" PRId64 " -> n%" PRId64, *node_slot(w, input) - 1, i);
        if (hd_node_outputs(input) > 1) {
            hd__text_format(t, " [label=\"%d\"]", output);
        }
        hd__text_puts(t, ";\n");
    }
}

static char *put_graph(const walk *w)
{
    hd__text t = {0};
    hd__text_puts(&t, "digraph backward {\n"
                      "    node [shape=box, style=filled, fillcolor=\"#f4f4f4\", "
                      "fontname=\"Helvetica\", fontsize=11];\n"
                      "    edge [color=\"#555555\", fontname=\"Helvetica\", fontsize=9];\n");
    for (int64_t i = 0; i < w->n; i++) {
        put_node(&t, w, i);
    }
    for (int64_t i = 0; i < w->n; i++) {
        put_edges(&t, w, i);
    }
    hd__text_puts(&t, "}\n");
    return hd__text_take(&t);
}

/* ---------------------------------------------------------------- public */

static char *graph_dot(const char *function, hd_tensor *x, const hd_dict *names)
{
    if (!hd__viz_tensor_given(function, "x", x)) {
        return NULL;
    }
    if (!hd_requires_grad(x)) {
        return hd_error_set(HD_GRAD, "%s: %s does not require grad", function,
                            HD__SIZES(hd_ndim(x), hd_sizes(x)));
    }
    const hd_node *root = hd_grad_node(x);
    if (!root) {
        return NULL;
    }
    walk w = {0};
    char *text = meet_all(&w, root) && name_leaves(&w, names) ? put_graph(&w) : NULL;
    hd_free(w.nodes);
    hd_free(w.slots);
    return text;
}

char *hd_graph_dot(hd_tensor *x, const hd_dict *names)
{
    return graph_dot("hd_graph_dot", x, names);
}

bool hd_graph_save_dot(hd_tensor *x, const hd_dict *names, const char *path)
{
    if (!hd__viz_may_save("hd_graph_save_dot", "x", x, path)) {
        return false;
    }
    char *text = graph_dot("hd_graph_save_dot", x, names);
    bool ok = text && hd__whole_write("hd_graph_save_dot", path, text, strlen(text));
    hd_free(text);
    return ok;
}
