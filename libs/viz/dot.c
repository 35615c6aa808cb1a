/* dot.c - hd_graph_dot and its variants, which write the backward graph of a tensor in DOT,
 * Graphviz's language. */
#include "viz/graph.h"

/* ---------------------------------------------------------------- head and legend */

static void dot_head(hd__viz_graph *g)
{
    hd__text_puts(&g->t, "digraph backward {\n"
                         "    graph [bgcolor=white, fontname=\"Helvetica\", fontsize=11, "
                         "style=\"filled,rounded\", color=\"#999999\", ranksep=0.13, labeljust=l, "
                         "nodesep=0.15];\n"
                         "    node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=11, "
                         "height=0.2, margin=\"0.08,0.03\"];\n"
                         "    edge [color=\"#555555\", fontname=\"Helvetica\", fontsize=9, "
                         "fontcolor=\"#555555\", arrowsize=0.7];\n");
    if (g->o->sideways) {
        hd__text_puts(&g->t, "    rankdir=LR;\n");
    }
    if (g->o->title && *g->o->title) {
        hd__text_puts(&g->t, "    labelloc=t;\n    label=\"");
        hd__viz_dot_escape(g, g->o->title, strlen(g->o->title));
        hd__text_puts(&g->t, "\";\n");
    }
}

/* Writes the legend, a column with one box of every kind. */
static void put_legend(hd__viz_graph *g)
{
    bool clusters = g->clusters, boxes = g->o->depth > 0;
    hd__text_puts(&g->t, "    subgraph cluster_legend {\n"
                         "        label=\"Legend\";\n"
                         "        fillcolor=\"#ffffff\";\n");
    if (g->o->parameters) {
        hd__text_format(&g->t,
                        "        legend_leaf [label=\"parameter, or another leaf\\nthat requires "
                        "grad (its shape)\", %s];\n"
                        "        legend_leaf -> legend_call;\n",
                        HD__DOT_LEAF);
    }
    if (boxes) {
        hd__text_format(&g->t,
                        "        legend_box [label=\"module with all that\\nis in it (shape of\\n"
                        "its result)\", %s];\n"
                        "        legend_box -> legend_result;\n",
                        HD__DOT_BOX);
    }
    hd__text_format(
        &g->t,
        "%s        legend_call [label=\"recorded call (shape\\nof its result)%s\", %s];\n"
        "%s        legend_result [label=\"where backward begins\", %s];\n"
        "        legend_call -> %s;\n"
        "    }\n",
        clusters ? "        subgraph cluster_legend_module {\n"
                   "        label=\"module\";\n"
                   "        fillcolor=\"#f2f2f2\";\n"
                 : "",
        g->o->full ? "" : "\\nthen View (its shape)", HD__DOT_CALL, clusters ? "        }\n" : "",
        HD__DOT_RESULT, boxes ? "legend_box" : "legend_result");
}

static bool put_graph(hd__viz_graph *g)
{
    dot_head(g);
    if (g->o->legend) {
        put_legend(g);
    }
    hd__viz_dot_boxes(g);
    bool ok = hd__viz_dot_arrows(g);
    hd__text_puts(&g->t, "}\n");
    return ok;
}

/* ---------------------------------------------------------------- public */

hd_graph_options hd_graph_defaults(void)
{
    return (hd_graph_options){.size = sizeof(hd_graph_options), .parameters = true, .legend = true};
}

static bool graph_options_ok(const hd_graph_options *o)
{
    return HD__SIZE_OK(o, "hd_graph_defaults()") &&
           (o->depth >= 0 || hd_fail(HD_VALUE, "depth %d: expected 0 or more", o->depth));
}

static char *graph_text(const hd_node *root, const hd_dict *names, const hd_graph_options *o)
{
    hd_scope *names_of_ops = hd_scope_open(); /* owns the names of the user's ops */
    if (!names_of_ops) {
        return NULL;
    }
    hd__viz_graph g = {.o = o};
    bool ok =
        hd__viz_graph_read(&g, root, names) && hd__viz_graph_group(&g, names) && put_graph(&g);
    hd_free(g.nodes);
    hd_free(g.modules);
    hd_free(g.inputs);
    hd_free(g.order);
    hd_dict_free(g.numbers);
    hd_scope_close(names_of_ops);
    g.t.failed = g.t.failed || !ok;
    return hd__text_take(&g.t);
}

char *hd_graph_dot_with(hd_tensor *x, const hd_dict *names, const hd_graph_options *o)
{
    HD__CALL("hd_graph_dot_with");
    hd_graph_options defaults = hd_graph_defaults();
    o = o ? o : &defaults;
    if (!HD__SIBLING_OK() || !hd__tensor_given("x", x, false) || !graph_options_ok(o)) {
        return NULL;
    }
    if (!hd_requires_grad(x)) {
        return hd_fail(HD_GRAD, "x %s does not require grad, so it has no graph",
                       HD__SIZES(hd_ndim(x), hd_sizes(x)));
    }
    const hd_node *root = hd_grad_node(x);
    return root ? graph_text(root, names, o) : NULL;
}

bool hd_graph_save_dot_with(hd_tensor *x, const hd_dict *names, const char *path,
                            const hd_graph_options *o)
{
    HD__CALL("hd_graph_save_dot_with");
    if (!hd__arg_given("x", x) || !hd__arg_given("path", path) || !hd__arg_may_save()) {
        return false;
    }
    char *text = hd_graph_dot_with(x, names, o);
    bool ok = text && hd__file_whole_write(path, text, strlen(text));
    hd_free(text);
    return ok;
}

char *hd_graph_dot(hd_tensor *x, const hd_dict *names)
{
    HD__CALL("hd_graph_dot");
    return hd_graph_dot_with(x, names, NULL);
}

bool hd_graph_save_dot(hd_tensor *x, const hd_dict *names, const char *path)
{
    HD__CALL("hd_graph_save_dot");
    return hd_graph_save_dot_with(x, names, path, NULL);
}
