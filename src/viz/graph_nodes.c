/* graph_nodes.c - reads the backward graph: nodes, their names, and their order.
 *
 * The walk goes from the tensor towards the leaves, through the inputs in their order. A node gets
 * its number when it is first met. */
#include "viz/graph.h"

/* ---------------------------------------------------------------- numbers */

/* The slot of the node; a free one if the node has no number yet. */
static int64_t *node_slot(const hd__graph *g, const hd_node *node)
{
    size_t at = ((uintptr_t)node >> 4) * (size_t)0x9E3779B97F4A7C15u;
    for (;; at++) {
        int64_t *slot = &g->slots[at & (size_t)(g->n_slots - 1)];
        if (!*slot || g->nodes[*slot - 1].node == node) {
            return slot;
        }
    }
}

/* Keeps the table at most half full. */
static bool grow_slots(hd__graph *g)
{
    if (2 * (g->n + 1) <= g->n_slots) {
        return true;
    }
    int64_t more = g->n_slots ? 2 * g->n_slots : 64;
    int64_t *slots = hd__alloc_items(more, sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(slots, 0, (size_t)more * sizeof *slots);
    hd_free(g->slots);
    g->slots = slots;
    g->n_slots = more;
    for (int64_t i = 0; i < g->n; i++) {
        *node_slot(g, g->nodes[i].node) = i + 1;
    }
    return true;
}

static bool meet(hd__graph *g, const hd_node *node)
{
    if (!grow_slots(g) || !hd__grow(&g->nodes, &g->nodes_room, g->n + 1, sizeof *g->nodes)) {
        return false;
    }
    int64_t *slot = node_slot(g, node);
    if (!*slot) {
        const char *op = hd_node_name(node); /* of a user's op: a text in the scope */
        if (!op) {
            return false;
        }
        g->nodes[g->n] = (hd__graph_node){.node = node,
                                          .op = op,
                                          .leaf = -1,
                                          .user = -1,
                                          .weight = -1,
                                          .taker = -1,
                                          .below = -1,
                                          .next = -1};
        *slot = ++g->n;
    }
    return true;
}

/* Breadth first: when a node's turn comes, its inputs get their numbers. */
static bool meet_all(hd__graph *g, const hd_node *root)
{
    bool ok = meet(g, root);
    for (int64_t i = 0; i < g->n && ok; i++) {
        const hd_node *node = g->nodes[i].node;
        for (int k = 0; k < hd_node_inputs(node) && ok; k++) {
            ok = !hd_needs_grad(node, k) || meet(g, hd_node_input(node, k, NULL));
        }
    }
    return ok;
}

int64_t hd__graph_input(const hd__graph *g, int64_t i, int k, int *output)
{
    const hd_node *node = g->nodes[i].node;
    return hd_needs_grad(node, k) ? *node_slot(g, hd_node_input(node, k, output)) - 1 : -1;
}

bool hd__graph_is_leaf(const hd__graph *g, int64_t i)
{
    return hd_node_is_leaf(g->nodes[i].node);
}

/* ---------------------------------------------------------------- order */

typedef struct step {
    int64_t node;
    int input; /* which of its inputs has its turn */
} step;

/* Depth first: a node gets its place after its inputs have theirs. */
static bool put_in_order(hd__graph *g)
{
    step *steps = hd__alloc_items(g->n, sizeof *steps); /* the way from the tensor to a node */
    g->order = hd__alloc_items(g->n, sizeof *g->order);
    int64_t n = 0, end = 0;
    bool ok = steps && g->order;
    if (ok) {
        steps[n++] = (step){.node = 0};
    }
    while (n > 0) {
        step *s = &steps[n - 1];
        if (s->input == hd_node_inputs(g->nodes[s->node].node)) {
            g->order[end++] = s->node;
            n--;
            continue;
        }
        int64_t input = hd__graph_input(g, s->node, s->input++, NULL);
        if (input >= 0 && !g->nodes[input].met) {
            g->nodes[input].met = true;
            steps[n++] = (step){.node = input};
        }
    }
    hd_free(steps);
    return ok;
}

/* ---------------------------------------------------------------- names */

/* Gives the nodes their names. Names of anything else are skipped. */
static bool name_nodes(hd__graph *g, const hd_dict *names)
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
        int64_t number = *node_slot(g, node);
        if (number && !g->nodes[number - 1].name) { /* a tied parameter keeps its first name */
            g->nodes[number - 1].name = name;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- views */

int64_t hd__graph_elements(const hd_node *node, int output)
{
    int ndim = 0;
    const int64_t *sizes = hd_node_sizes(node, output, &ndim);
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) {
        n *= sizes[i];
    }
    return n;
}

/* A product with a batch has the name of a view as well, as in PyTorch, but it has several inputs;
 * a loss of each position is smaller than its input. */
static bool is_layout(const hd__graph *g, int64_t i)
{
    static const char *const names[] = {"View",  "UnsafeView", "ReshapeAlias", "Transpose",
                                        "T",     "Permute",    "Squeeze",      "Unsqueeze",
                                        "Alias", "Clone"};
    const hd__graph_node *n = &g->nodes[i];
    int output = 0;
    if (hd_node_inputs(n->node) != 1 || hd_node_outputs(n->node) != 1 ||
        !hd_needs_grad(n->node, 0)) {
        return false;
    }
    const hd_node *input = hd_node_input(n->node, 0, &output);
    if (hd__graph_elements(n->node, 0) != hd__graph_elements(input, output)) {
        return false;
    }
    size_t length = (size_t)hd__graph_op_length(n->op);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (strlen(names[k]) == length && strncmp(names[k], n->op, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Finds the views, the leaves that they are views of, and who takes what. */
static void find_views(hd__graph *g)
{
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        hd__graph_node *n = &g->nodes[i];
        n->layout = is_layout(g, i);
        if (hd__graph_is_leaf(g, i)) {
            n->leaf = i;
        } else if (n->layout) {
            n->leaf = g->nodes[hd__graph_input(g, i, 0, NULL)].leaf;
        }
        for (int k = 0; k < hd_node_inputs(n->node); k++) {
            int64_t input = hd__graph_input(g, i, k, NULL);
            if (input < 0) {
                continue;
            }
            g->nodes[input].uses++;
            g->nodes[input].last_user = i;
            int64_t leaf = n->leaf < 0 ? g->nodes[input].leaf : -1;
            if (leaf >= 0 && g->nodes[leaf].user < 0) {
                g->nodes[leaf].user = i;
            }
        }
    }
}

/* ---------------------------------------------------------------- the whole */

bool hd__graph_read(hd__graph *g, const hd_node *root, const hd_dict *names)
{
    *g = (hd__graph){0};
    if (!meet_all(g, root) || !put_in_order(g) || !name_nodes(g, names)) {
        return false;
    }
    find_views(g);
    return true;
}

void hd__graph_free(hd__graph *g)
{
    hd_free(g->nodes);
    hd_free(g->modules);
    hd_free(g->order);
    hd_free(g->slots);
}
