/* dot_arrows.c - writes the arrows from inputs to results, labelled with the views between them. */
#include <inttypes.h>
#include <stdio.h>

#include "viz/graph.h"

typedef struct arrow {
    int64_t from;                /* the node where the arrow begins */
    int output;                  /* the number of the output of `from` that the arrow takes */
    int64_t views;               /* the number of views on the arrow's way that no box mentions */
    int64_t late[HD__DOT_VIEWS]; /* the last HD__DOT_VIEWS of these views, the last one first */
} arrow;

/* ---------------------------------------------------------------- where arrows lead */

/* Returns the arrow to input k of node i; `from` is -1 if the input needs no gradient. */
static arrow arrow_to(const hd__viz_graph *g, int64_t i, int k)
{
    arrow a = {.views = 0};
    int64_t seen = 0;
    a.from = hd__viz_graph_input(g, i, k, &a.output);
    while (a.from >= 0 && hd__viz_dot_is_hidden(g, a.from)) {
        if (seen < HD__DOT_VIEWS) {
            a.late[seen] = a.from;
        }
        seen++;
        a.from = hd__viz_graph_input(g, a.from, 0, &a.output);
        a.views = hd__viz_dot_view_after(g, a.from) < 0 ? seen : a.views;
    }
    return a;
}

/* Writes to name the DOT name of node i's box or, if a module's box hides the node, of that box. */
static void end_name(const hd__viz_graph *g, int64_t i, char name[24])
{
    int64_t box = g->nodes[i].box;
    snprintf(name, 24, "%c%" PRId64, box < 0 ? 'n' : 'm', box < 0 ? i : box);
}

/* True if the arrow from call `from` to call `to` leads into another cluster, and an input of `to`
 * is a leaf with a box. The leaf's box is in the cluster, one row above `to`, and the cluster must
 * be below `from`. So the arrow must be two rows long. */
static bool enters_with_leaves(const hd__viz_graph *g, int64_t from, int64_t to)
{
    const hd__viz_graph_node *n = &g->nodes[to];
    bool found = false;
    for (int k = 0; n->box < 0 && k < hd_node_inputs(n->node); k++) {
        int64_t input = hd__viz_graph_input(g, to, k, NULL);
        int64_t leaf = input >= 0 ? g->nodes[input].leaf : -1;
        found = found || (leaf >= 0 && hd__viz_dot_is_drawn(g, leaf));
    }
    return found && g->modules[g->nodes[from].module].cluster != g->modules[n->module].cluster;
}

/* ---------------------------------------------------------------- labels of arrows */

/* Writes an arrow's label: "output 1" if `several` is true, and the arrow's views, such as "View,
 * Transpose (2, 4, 8, 8)". */
static void put_label(hd__viz_graph *g, const arrow *a, bool several)
{
    hd__text_puts(&g->t, ", label=\"");
    if (several) {
        hd__text_format(&g->t, "output %d%s", a->output, a->views ? "\\n" : "");
    }
    hd__text_puts(&g->t, a->views > HD__DOT_VIEWS ? "..., " : "");
    for (int64_t v = a->views < HD__DOT_VIEWS ? a->views : HD__DOT_VIEWS; v > 0; v--) {
        const char *op = g->nodes[a->late[v - 1]].op;
        hd__text_format(&g->t, "%.*s%s", hd__viz_graph_op_length(op), op, v > 1 ? ", " : "");
    }
    if (a->views) {
        hd__viz_dot_sizes(g, a->late[0]);
    }
    hd__text_puts(&g->t, a->views ? "\", style=dashed" : "\"");
}

/* Writes the arrow to input k of node i, unless the input has no box. If the arrow begins or ends
 * at a module's box, writes it only if `seen` has no arrow between the same two boxes, and adds it
 * to `seen`. Returns false with an error if memory runs out. */
static bool put_arrow(hd__viz_graph *g, hd_dict *seen, int64_t i, int k)
{
    char from[24], to[24], both[64];
    arrow a = arrow_to(g, i, k);
    bool plain = a.from >= 0 && g->nodes[a.from].box < 0; /* begins at no module's box */
    if (a.from < 0 || (plain && !hd__viz_dot_is_drawn(g, a.from))) {
        return true;
    }
    end_name(g, a.from, from);
    end_name(g, i, to);
    snprintf(both, sizeof both, "%s -> %s", from, to);
    if (!plain || g->nodes[i].box >= 0) {
        if (strcmp(from, to) == 0 || hd_dict_kind_of(seen, both) != HD_DICT_MISSING) {
            return true;
        }
        if (!hd_dict_set_int(seen, both, 1)) {
            return false;
        }
    }
    bool several = plain && hd_node_outputs(g->nodes[a.from].node) > 1;
    bool leaf = plain && g->nodes[a.from].leaf >= 0;
    hd__text_format(&g->t, "    %s [weight=%d%s", both, leaf ? 1 : 8,
                    !leaf && enters_with_leaves(g, a.from, i) ? ", minlen=2" : "");
    if (a.views || several) {
        put_label(g, &a, several);
    }
    hd__text_puts(&g->t, "];\n");
    return true;
}

bool hd__viz_dot_arrows(hd__viz_graph *g)
{
    hd_dict *seen = hd_dict_new();
    bool ok = seen;
    for (int64_t i = 0; i < g->n && ok; i++) {
        int inputs = hd__viz_dot_is_hidden(g, i) ? 0 : hd_node_inputs(g->nodes[i].node);
        for (int k = 0; k < inputs && ok; k++) {
            ok = put_arrow(g, seen, i, k);
        }
    }
    hd_dict_free(seen);
    return ok;
}
