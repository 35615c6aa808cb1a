/* dot_boxes.c - writes the boxes of calls, leaves and modules, in the clusters of their modules.
 *
 * A call's title is its kind and the name of its weight, such as "Linear W_query". The kind comes
 * from the call's grad_fn, which is that of its last step, as in PyTorch. So a batched product has
 * UnsafeViewBackward0, like a view, but it has several inputs. */
#include <inttypes.h>

#include "viz/graph.h"

enum { MOST_INDENT = 16 };

/* ---------------------------------------------------------------- drawn and hidden nodes */

bool hd__viz_dot_is_hidden(const hd__viz_graph *g, int64_t i)
{
    const hd__viz_graph_node *n = &g->nodes[i];
    return n->layout && !n->name && i != 0 && !g->o->full && n->box < 0;
}

bool hd__viz_dot_is_drawn(const hd__viz_graph *g, int64_t i)
{
    const hd__viz_graph_node *n = &g->nodes[i];
    return n->box < 0 && !hd__viz_dot_is_hidden(g, i) &&
           (n->leaf != i || i == 0 || g->o->parameters);
}

int64_t hd__viz_dot_view_after(const hd__viz_graph *g, int64_t i)
{
    const hd__viz_graph_node *n = &g->nodes[i];
    bool view = n->box < 0 && n->uses == 1 && hd__viz_dot_is_hidden(g, n->last_user);
    return view ? n->last_user : -1;
}

/* ---------------------------------------------------------------- texts */

/* In a quoted string, the program dot interprets backslashes and HTML entities, so both are
 * escaped. */
void hd__viz_dot_escape(hd__viz_graph *g, const char *s, size_t n)
{
    static const char *const escapes[] = {"\\\"", "\\\\", "&amp;", "\\n"};
    hd__viz_escape(&g->t, s, n, "\"\\&\n", escapes);
}

static void put_indent(hd__viz_graph *g, int depth)
{
    hd__text_format(&g->t, "%*s", 4 * (depth < MOST_INDENT ? depth : MOST_INDENT), "");
}

void hd__viz_dot_sizes(hd__viz_graph *g, int64_t i)
{
    const hd_node *node = g->nodes[i].node;
    int outputs = hd_node_outputs(node);
    for (int k = 0; k < outputs && k < HD__DOT_OUTPUTS; k++) {
        int ndim = 0;
        const int64_t *sizes = hd_node_sizes(node, k, &ndim);
        hd__text_format(&g->t, "%s %s", k ? "," : "", HD__SIZES(ndim, sizes));
    }
    hd__text_puts(&g->t, outputs > HD__DOT_OUTPUTS ? ", ..." : "");
}

/* Writes a dotted name of len bytes. Leaves out the beginning, which is the name of the cluster and
 * a dot; cluster 0 has no name. */
static void put_rest(hd__viz_graph *g, const char *name, size_t len, int64_t cluster)
{
    size_t skip = cluster > 0 ? g->modules[cluster].len + 1 : 0;
    hd__viz_dot_escape(g, name + skip, len - skip);
}

/* ---------------------------------------------------------------- kinds of calls */

/* Returns the number of dims of input k of node i, or -1 if the input needs no gradient. */
static int input_dims(const hd__viz_graph *g, int64_t i, int k)
{
    int output = 0, ndim = -1;
    int64_t input = hd__viz_graph_input(g, i, k, &output);
    if (input >= 0) {
        hd_node_sizes(g->nodes[input].node, output, &ndim);
    }
    return ndim;
}

/* Returns the kind of product that node i is, by its inputs and their dims. hd_linear and
 * hd_scaled_dot_product_attention have three inputs, and hd_matmul has two. */
static const char *product_kind(const hd__viz_graph *g, int64_t i)
{
    int second = input_dims(g, i, 1);
    if (hd_node_inputs(g->nodes[i].node) == 3) {
        int third = input_dims(g, i, 2);
        return third > 1 || second > 2     ? "Attention"
               : second == 2 || third == 1 ? "Linear"
                                           : "Matmul";
    }
    int64_t right = hd__viz_graph_input(g, i, 1, NULL);
    bool turned = right >= 0 && g->nodes[right].layout && g->nodes[right].leaf >= 0;
    return turned && second == 2 ? "Linear" : "Matmul"; /* x @ W^T */
}

static void put_kind(hd__viz_graph *g, int64_t i)
{
    const char *op = g->nodes[i].op, *kind = NULL;
    int inputs = hd_node_inputs(g->nodes[i].node);
    if ((inputs == 3 && hd__viz_graph_op_in(op, "|Add|")) ||
        (inputs >= 2 &&
         hd__viz_graph_op_in(op, "|Mm|Addmm|Mv|Dot|UnsafeView|Squeeze|View|Clone|Transpose|"))) {
        kind = product_kind(g, i);
    } else if (hd__viz_graph_op_in(op, "|NativeLayerNorm|")) {
        kind = "LayerNorm";
    } else if (hd__viz_graph_op_in(op, "|ScaledDotProductFlashAttentionForCpu|")) {
        kind = "Attention";
    }
    hd__viz_dot_escape(g, kind ? kind : op,
                       kind ? strlen(kind) : (size_t)hd__viz_graph_op_length(op));
}

/* Writes the title of node i, such as "Linear W_query", "Softmax" or "att.out_proj.weight". A name
 * in it leaves out the name of the cluster around the box. */
static void put_title(hd__viz_graph *g, int64_t i)
{
    const hd__viz_graph_node *n = &g->nodes[i];
    const hd__viz_graph_module *m = &g->modules[n->module];
    if (n->leaf == i) {
        const char *name = n->name ? n->name : "leaf";
        put_rest(g, name, strlen(name), n->name ? m->cluster : 0);
        return;
    }
    /* If this is the only call of its module, the title is the module's class and name. (A module
     * of several calls is a cluster.) */
    bool whole = n->weight >= 0 && !n->name && n->module > 0 && n->module != m->cluster &&
                 g->nodes[n->weight].module == n->module;
    if (whole && m->class_name) {
        hd__viz_dot_escape(g, m->class_name, strlen(m->class_name));
    } else {
        put_kind(g, i);
    }
    const char *name = n->name ? n->name : n->weight >= 0 ? g->nodes[n->weight].name : NULL;
    if (name) {
        hd__text_puts(&g->t, " ");
        put_rest(g, name, whole ? m->len : strlen(name), m->cluster);
    }
}

/* ---------------------------------------------------------------- boxes */

/* Writes the views after node i that its box mentions, and the shape of the last one, such as "then
 * View, Transpose (2, 8, 4)". Writes nothing if there are none. */
static void put_views_after(hd__viz_graph *g, int64_t i)
{
    int64_t n = 0;
    for (int64_t at; (at = hd__viz_dot_view_after(g, i)) >= 0; i = at, n++) {
        const char *op = g->nodes[at].op;
        if (n < HD__DOT_VIEWS) {
            hd__text_format(&g->t, "%s%.*s", n ? ", " : "\\nthen ", hd__viz_graph_op_length(op),
                            op);
        }
    }
    hd__text_puts(&g->t, n > HD__DOT_VIEWS ? ", ..." : "");
    if (n > 0) {
        hd__viz_dot_sizes(g, i);
    }
}

static void put_node(hd__viz_graph *g, int64_t i, int indent)
{
    const hd__viz_graph_node *n = &g->nodes[i];
    const char *tip = n->name ? n->name : n->op;
    put_indent(g, indent);
    hd__text_format(&g->t, "n%" PRId64 " [label=\"", i);
    put_title(g, i);
    if (g->o->full && n->leaf != i) {
        hd__text_puts(&g->t, "\\n");
        hd__viz_dot_escape(g, n->op, strlen(n->op));
    }
    hd__viz_dot_sizes(g, i);
    put_views_after(g, i);
    hd__text_puts(&g->t, "\", tooltip=\"");
    hd__viz_dot_escape(g, tip, strlen(tip));
    hd__text_format(&g->t, "\", %s];\n",
                    n->leaf == i ? HD__DOT_LEAF
                    : i == 0     ? HD__DOT_RESULT
                                 : HD__DOT_CALL);
}

/* Writes a module as one box, with its class, its name, the shape of its result, and the number of
 * elements of its parameters. */
static void put_box(hd__viz_graph *g, int64_t module, int indent)
{
    const hd__viz_graph_module *m = &g->modules[module];
    int64_t last = 0, parameters = 0;
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        if (g->nodes[i].module == module) {
            parameters += g->nodes[i].leaf == i ? hd__viz_graph_elements(g->nodes[i].node, 0) : 0;
            last = i;
        }
    }
    put_indent(g, indent);
    hd__text_format(&g->t, "m%" PRId64 " [label=\"", module);
    if (m->class_name) {
        hd__viz_dot_escape(g, m->class_name, strlen(m->class_name));
        hd__text_puts(&g->t, " ");
    }
    put_rest(g, m->name, m->len, m->cluster);
    hd__viz_dot_sizes(g, last);
    hd__text_format(&g->t, "\\n%" PRId64 " parameter%s\", tooltip=\"", parameters,
                    parameters == 1 ? "" : "s");
    hd__viz_dot_escape(g, m->name, m->len);
    hd__text_format(&g->t, "\", %s];\n",
                    g->nodes[0].module == module ? HD__DOT_RESULT : HD__DOT_BOX);
}

/* ---------------------------------------------------------------- clusters */

static void open_cluster(hd__viz_graph *g, int64_t module, int indent)
{
    const hd__viz_graph_module *m = &g->modules[module];
    put_indent(g, indent);
    hd__text_format(&g->t, "subgraph cluster_%" PRId64 " {\n", module);
    put_indent(g, indent + 1);
    hd__text_puts(&g->t, "label=\"");
    hd__viz_dot_escape(g, m->name, m->len);
    if (m->class_name) {
        hd__text_puts(&g->t, ": ");
        hd__viz_dot_escape(g, m->class_name, strlen(m->class_name));
    }
    hd__text_puts(&g->t, "\";\n");
    put_indent(g, indent + 1);
    hd__text_format(&g->t, "fillcolor=\"%s\";\n", indent % 2 ? "#f2f2f2" : "#e6e6e6");
}

/* If the module is drawn as a cluster, opens the cluster. Then writes the boxes that are directly
 * in the module. Returns the indentation for the module's children. */
static int put_module(hd__viz_graph *g, int64_t module, int indent)
{
    const hd__viz_graph_module *m = &g->modules[module];
    if (m->drawn) {
        open_cluster(g, module, indent++);
    }
    if (m->box == module) {
        put_box(g, module, indent);
    }
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        if (g->nodes[i].module == module && hd__viz_dot_is_drawn(g, i)) {
            put_node(g, i, indent);
        }
    }
    return indent;
}

/* Walks the tree of modules without recursion: from each module to its children, in the order of
 * their numbers, and then back to its parent. */
void hd__viz_dot_boxes(hd__viz_graph *g)
{
    int64_t m = 0, child = 1;
    int indent = put_module(g, 0, 1);
    while (m >= 0) {
        if (child == g->n_modules) {
            if (g->modules[m].drawn) {
                put_indent(g, --indent);
                hd__text_puts(&g->t, "}\n");
            }
            child = m;
            m = g->modules[m].parent;
        } else if (g->modules[child].parent == m) {
            m = child;
            indent = put_module(g, m, indent);
        }
        child++;
    }
}
