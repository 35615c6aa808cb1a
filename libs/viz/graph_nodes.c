/* graph_nodes.c - reads the backward graph: numbers its nodes, orders and names them.
 *
 * The walk goes from the tensor towards the leaves, through the inputs in their order. A node gets
 * its number when it is first met. */
#include <stdio.h>

#include "viz/graph.h"

/* ---------------------------------------------------------------- numbers */

enum { ADDRESS = 32 };

static const char *address_of(const hd_node *node, char address[ADDRESS])
{
    snprintf(address, ADDRESS, "%p", (const void *)node);
    return address;
}

/* Returns the number of the node, or -1 if it has none. */
static int64_t number_of(const hd__viz_graph *g, const hd_node *node)
{
    char address[ADDRESS];
    int64_t number = -1;
    bool has = hd_dict_kind_of(g->numbers, address_of(node, address)) == HD_DICT_INT &&
               hd_dict_get_int(g->numbers, address, &number);
    return has ? number : -1;
}

/* Returns the node's number. If the node is new, adds it to g with the next number. Returns -1 with
 * an error if memory runs out. */
static int64_t meet(hd__viz_graph *g, const hd_node *node)
{
    char address[ADDRESS];
    int64_t number = number_of(g, node);
    if (number >= 0) {
        return number;
    }
    const char *op = hd_node_name(node); /* for a user's op, a text that the scope owns */
    if (!op || !hd__text_grow(&g->nodes, &g->nodes_room, g->n + 1, sizeof *g->nodes) ||
        !hd_dict_set_int(g->numbers, address_of(node, address), g->n)) {
        return -1;
    }
    g->nodes[g->n] = (hd__viz_graph_node){.node = node,
                                          .op = op,
                                          .back = -1,
                                          .leaf = -1,
                                          .user = -1,
                                          .weight = -1,
                                          .taker = -1,
                                          .below = -1};
    return g->n++;
}

/* Numbers all nodes, breadth first, and fills g->inputs. Returns false with an error if memory runs
 * out. */
static bool meet_all(hd__viz_graph *g, const hd_node *root)
{
    int64_t n_inputs = 0, room = 0;
    g->numbers = hd_dict_new();
    bool ok = g->numbers && meet(g, root) == 0;
    for (int64_t i = 0; i < g->n && ok; i++) {
        const hd_node *node = g->nodes[i].node;
        int inputs = hd_node_inputs(node);
        ok = hd__text_grow(&g->inputs, &room, n_inputs + inputs, sizeof *g->inputs);
        g->nodes[i].inputs = n_inputs;
        for (int k = 0; k < inputs && ok; k++) {
            bool needed = hd_needs_grad(node, k);
            g->inputs[n_inputs] = needed ? meet(g, hd_node_input(node, k, NULL)) : -1;
            ok = !needed || g->inputs[n_inputs] >= 0;
            n_inputs++;
        }
    }
    return ok;
}

int64_t hd__viz_graph_input(const hd__viz_graph *g, int64_t i, int k, int *output)
{
    const hd__viz_graph_node *n = &g->nodes[i];
    int64_t input = g->inputs[n->inputs + k];
    bool known = input >= 0 && (!output || hd_node_input(n->node, k, output));
    return known ? input : -1;
}

/* ---------------------------------------------------------------- order */

/* Fills g->order by a depth-first walk, so that each node comes after its inputs. Returns false
 * with an error if memory runs out. */
static bool put_in_order(hd__viz_graph *g)
{
    int64_t places = 0;
    g->order = hd__arg_alloc_items(g->n, sizeof *g->order);
    for (int64_t i = 0; g->order && i >= 0;) {
        hd__viz_graph_node *n = &g->nodes[i];
        if (n->turn == hd_node_inputs(n->node)) {
            n->placed = true;
            g->order[places++] = i;
            i = n->back;
            continue;
        }
        int64_t input = hd__viz_graph_input(g, i, n->turn++, NULL);
        if (input >= 0 && !g->nodes[input].placed) {
            g->nodes[input].back = i;
            i = input;
        }
    }
    return g->order;
}

/* ---------------------------------------------------------------- names */

/* Gives the nodes the names of their tensors in `names`, and ignores its other entries. Returns
 * false with an error if a tensor's node cannot be read. */
static bool name_nodes(hd__viz_graph *g, const hd_dict *names)
{
    for (int64_t i = 0; names && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        bool named = hd_dict_kind_of(names, name) == HD_DICT_TENSOR;
        hd_tensor *t = named ? hd_dict_get(names, name) : NULL;
        if (!t || !hd_requires_grad(t)) {
            continue;
        }
        const hd_node *node = hd_grad_node(t);
        if (!node) {
            return false;
        }
        int64_t number = number_of(g, node);
        if (number >= 0 && !g->nodes[number].name) { /* a tied parameter keeps its first name */
            g->nodes[number].name = name;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- ops and views */

int hd__viz_graph_op_length(const char *op)
{
    static const char end[] = "Backward";
    size_t n = strlen(op), word = strlen(end);
    while (n > 0 && hd__text_is_digit(op[n - 1])) {
        n--;
    }
    bool known = n > word && memcmp(op + n - word, end, word) == 0;
    return (int)(known ? n - word : strlen(op));
}

bool hd__viz_graph_op_in(const char *op, const char *names)
{
    char word[64];
    snprintf(word, sizeof word, "|%.*s|", hd__viz_graph_op_length(op), op);
    return strstr(names, word);
}

int64_t hd__viz_graph_elements(const hd_node *node, int output)
{
    int ndim = 0;
    const int64_t *sizes = hd_node_sizes(node, output, &ndim);
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) {
        n *= sizes[i];
    }
    return n;
}

/* True if the node only views or copies its one input. In PyTorch, and so in heed, two other kinds
 * of calls have the name of a view. One is a batched product, which has several inputs. The other
 * is a loss without reduction, whose result is smaller than its input. */
static bool is_layout(const hd__viz_graph_node *n)
{
    int output = 0;
    if (hd_node_inputs(n->node) != 1 || hd_node_outputs(n->node) != 1 ||
        !hd_needs_grad(n->node, 0)) {
        return false;
    }
    const hd_node *input = hd_node_input(n->node, 0, &output);
    return hd__viz_graph_elements(n->node, 0) == hd__viz_graph_elements(input, output) &&
           hd__viz_graph_op_in(n->op, "|View|UnsafeView|ReshapeAlias|Transpose|T|Permute|Squeeze|"
                                      "Unsqueeze|Alias|Clone|");
}

/* Sets `layout`, `leaf`, `uses`, `last_user` and `user` of every node. */
static void find_views(hd__viz_graph *g)
{
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        hd__viz_graph_node *n = &g->nodes[i];
        n->layout = is_layout(n);
        if (hd_node_is_leaf(n->node)) {
            n->leaf = i;
        } else if (n->layout) {
            n->leaf = g->nodes[hd__viz_graph_input(g, i, 0, NULL)].leaf;
        }
        for (int k = 0; k < hd_node_inputs(n->node); k++) {
            int64_t input = hd__viz_graph_input(g, i, k, NULL);
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

/* ---------------------------------------------------------------- reading a graph */

bool hd__viz_graph_read(hd__viz_graph *g, const hd_node *root, const hd_dict *names)
{
    if (!meet_all(g, root) || !put_in_order(g) || !name_nodes(g, names)) {
        return false;
    }
    find_views(g);
    return true;
}
