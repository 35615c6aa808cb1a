/* dot.c - writes the backward graph in Graphviz's language.
 *
 * graph.h has the graph. Here it gets boxes, arrows, clusters and a legend. A view has no box of
 * its own: it stands in the box of the call whose result only it uses, else on the arrows that lead
 * through it. */
#include <inttypes.h>
#include <stdlib.h>

#include "viz/graph.h"

enum { MOST_OUTPUTS = 4, MOST_VIEWS = 4, MOST_INDENT = 16 };

static const char leaf_style[] = "style=\"filled,rounded\", fontsize=9, fillcolor=\"#cfe5f2\"";
static const char call_style[] = "fillcolor=\"#ffffff\"";
static const char box_style[] = "peripheries=2, fillcolor=\"#e3efda\"";
static const char result_style[] = "fillcolor=\"#fbe3b3\", penwidth=2";

typedef struct arrow {
    int64_t from, to; /* what is drawn: a node's number, or n + the number of a module's box */
    int64_t at;       /* in the order of the text */
    int64_t node;     /* the call that takes the input */
    int input;        /* which one */
    bool twice;       /* another one between the same boxes is drawn */
} arrow;

typedef struct drawing {
    const hd__graph *g;
    const hd_graph_options *o;
    hd__text t;
    arrow *arrows;
    int64_t n_arrows, room;
} drawing;

/* ---------------------------------------------------------------- what is drawn */

static const hd__graph_module *module_of(const drawing *d, int64_t i)
{
    return &d->g->modules[d->g->nodes[i].module];
}

/* A view that is drawn as a part of an arrow. */
static bool is_hidden_view(const drawing *d, int64_t i)
{
    const hd__graph_node *n = &d->g->nodes[i];
    return n->layout && !n->name && i != 0 && !d->o->full;
}

static bool is_drawn(const drawing *d, int64_t i)
{
    bool leaf = hd__graph_is_leaf(d->g, i);
    return module_of(d, i)->box < 0 && !is_hidden_view(d, i) &&
           (!leaf || i == 0 || d->o->parameters);
}

/* ---------------------------------------------------------------- texts */

/* dot reads backslashes and HTML's entities in a quoted string. */
static void put_escaped(hd__text *t, const char *s)
{
    static const char *const escapes[] = {"\\\"", "\\\\", "&amp;", "\\n"};
    hd__viz_escape(t, s, "\"\\&\n", escapes);
}

static void put_indent(drawing *d, int depth)
{
    hd__text_repeat(&d->t, ' ', 4 * (depth < MOST_INDENT ? depth : MOST_INDENT));
}

static void put_title(drawing *d, int64_t i)
{
    hd__text title = {0};
    hd__graph_title(d->g, i, module_of(d, i)->cluster, &title);
    d->t.failed = d->t.failed || title.failed;
    put_escaped(&d->t, title.s ? title.s : "");
    hd_free(title.s);
}

/* " (2, 8, 32)" */
static void put_sizes(drawing *d, int64_t i)
{
    const hd_node *node = d->g->nodes[i].node;
    int outputs = hd_node_outputs(node);
    for (int k = 0; k < outputs && k < MOST_OUTPUTS; k++) {
        int ndim = 0;
        const int64_t *sizes = hd_node_sizes(node, k, &ndim);
        hd__text_format(&d->t, "%s %s", k ? "," : "", HD__SIZES(ndim, sizes));
    }
    hd__text_puts(&d->t, outputs > MOST_OUTPUTS ? ", ..." : "");
}

/* ---------------------------------------------------------------- boxes */

/* The view that is the only user of node i's result; -1: there is none. */
static int64_t view_after(const drawing *d, int64_t i)
{
    const hd__graph_node *n = &d->g->nodes[i];
    bool view = n->uses == 1 && is_hidden_view(d, n->last_user);
    return view && module_of(d, n->last_user)->box < 0 ? n->last_user : -1;
}

/* "then View, Transpose (2, 4, 8, 8)": the views in the box of node i, and the shape after them. */
static void put_views_after(drawing *d, int64_t i)
{
    int64_t n = 0;
    for (int64_t at; (at = view_after(d, i)) >= 0; i = at, n++) {
        const char *op = d->g->nodes[at].op;
        if (n < MOST_VIEWS) {
            hd__text_puts(&d->t, n ? ", " : "\\nthen ");
            hd__text_add(&d->t, op, (size_t)hd__graph_op_length(op));
        }
    }
    hd__text_puts(&d->t, n > MOST_VIEWS ? ", ..." : "");
    if (n > 0) {
        put_sizes(d, i);
    }
}

static void put_node(drawing *d, int64_t i, int indent)
{
    const hd__graph_node *n = &d->g->nodes[i];
    bool leaf = hd__graph_is_leaf(d->g, i);
    put_indent(d, indent);
    hd__text_format(&d->t, "n%" PRId64 " [label=\"", i);
    put_title(d, i);
    if (d->o->full && !leaf) {
        hd__text_puts(&d->t, "\\n");
        put_escaped(&d->t, n->op);
    }
    put_sizes(d, i);
    put_views_after(d, i);
    hd__text_puts(&d->t, "\", tooltip=\"");
    put_escaped(&d->t, n->name ? n->name : n->op);
    const char *style = leaf ? leaf_style : i == 0 ? result_style : call_style;
    hd__text_format(&d->t, "\", %s];\n", style);
}

static int64_t parameters_in(const drawing *d, int64_t module)
{
    int64_t n = 0;
    for (int64_t i = d->g->modules[module].first_node; i >= 0; i = d->g->nodes[i].next) {
        int ndim = 0;
        int64_t numel = 1;
        const int64_t *sizes = hd_node_sizes(d->g->nodes[i].node, 0, &ndim);
        for (int k = 0; k < ndim; k++) {
            numel *= sizes[k];
        }
        n += hd__graph_is_leaf(d->g, i) ? numel : 0;
    }
    return n;
}

static void put_module_name(drawing *d, int64_t module, size_t skip)
{
    const hd__graph_module *m = &d->g->modules[module];
    hd__text name = {0};
    hd__text_add(&name, m->name + skip, m->len - skip);
    d->t.failed = d->t.failed || name.failed;
    put_escaped(&d->t, name.s ? name.s : "");
    hd_free(name.s);
}

/* A module as one box: its class and name, the shape of its result, and its parameters. */
static void put_box(drawing *d, int64_t module, int indent)
{
    const hd__graph_module *m = &d->g->modules[module];
    int64_t around = d->g->modules[m->parent].cluster;
    int64_t parameters = parameters_in(d, module);
    put_indent(d, indent);
    hd__text_format(&d->t, "m%" PRId64 " [label=\"", module);
    if (m->class_name) {
        put_escaped(&d->t, m->class_name);
        hd__text_puts(&d->t, " ");
    }
    put_module_name(d, module, around > 0 ? d->g->modules[around].len + 1 : 0);
    put_sizes(d, m->last_node);
    hd__text_format(&d->t, "\\n%" PRId64 " parameter%s\", tooltip=\"", parameters,
                    parameters == 1 ? "" : "s");
    put_module_name(d, module, 0);
    hd__text_format(&d->t, "\", %s];\n",
                    d->g->nodes[0].module == module ? result_style : box_style);
}

/* ---------------------------------------------------------------- clusters */

/* What belongs to the module, but not to a module inside it. */
static void put_nodes(drawing *d, int64_t module, int indent)
{
    const hd__graph_module *m = &d->g->modules[module];
    if (m->box == module) {
        put_box(d, module, indent);
    }
    for (int64_t i = m->first_node; i >= 0; i = d->g->nodes[i].next) {
        if (is_drawn(d, i)) {
            put_node(d, i, indent);
        }
    }
}

static void open_cluster(drawing *d, int64_t module, int indent)
{
    const hd__graph_module *m = &d->g->modules[module];
    put_indent(d, indent);
    hd__text_format(&d->t, "subgraph cluster_%" PRId64 " {\n", module);
    put_indent(d, indent + 1);
    hd__text_puts(&d->t, "label=\"");
    put_module_name(d, module, 0);
    if (m->class_name) {
        hd__text_puts(&d->t, ": ");
        put_escaped(&d->t, m->class_name);
    }
    hd__text_format(&d->t, "\";\n");
    put_indent(d, indent + 1);
    hd__text_format(&d->t, "fillcolor=\"%s\";\n", indent % 2 ? "#f2f2f2" : "#e6e6e6");
}

/* From every module to its children, and then back to its next sister or its parent's. */
static void put_clusters(drawing *d)
{
    const hd__graph_module *modules = d->g->modules;
    int indent = 1;
    for (int64_t m = 0; m >= 0;) {
        if (modules[m].drawn) {
            open_cluster(d, m, indent++);
        }
        put_nodes(d, m, indent);
        if (modules[m].first_child >= 0) {
            m = modules[m].first_child;
            continue;
        }
        for (int64_t next = -1; m >= 0 && next < 0; m = next >= 0 ? next : modules[m].parent) {
            if (modules[m].drawn) {
                put_indent(d, --indent);
                hd__text_puts(&d->t, "}\n");
            }
            next = modules[m].next;
        }
    }
}

/* ---------------------------------------------------------------- arrows */

static int64_t drawn_as(const drawing *d, int64_t i)
{
    int64_t box = module_of(d, i)->box;
    return box >= 0 ? d->g->n + box : i;
}

/* The node where the arrow to input k of node i begins; *output is the number of its output. */
static int64_t arrow_start(const drawing *d, int64_t i, int k, int *output)
{
    int64_t from = hd__graph_input(d->g, i, k, output);
    while (from >= 0 && is_hidden_view(d, from) && drawn_as(d, from) != drawn_as(d, i) &&
           module_of(d, from)->box < 0) {
        from = hd__graph_input(d->g, from, 0, output);
    }
    return from;
}

static bool add_arrows(drawing *d, int64_t i)
{
    if (is_hidden_view(d, i) && module_of(d, i)->box < 0) {
        return true;
    }
    for (int k = 0; k < hd_node_inputs(d->g->nodes[i].node); k++) {
        int output;
        int64_t from = arrow_start(d, i, k, &output);
        if (from < 0 || drawn_as(d, from) == drawn_as(d, i) ||
            (module_of(d, from)->box < 0 && !is_drawn(d, from))) {
            continue;
        }
        if (!hd__grow(&d->arrows, &d->room, d->n_arrows + 1, sizeof *d->arrows)) {
            return false;
        }
        d->arrows[d->n_arrows] = (arrow){.from = drawn_as(d, from),
                                         .to = drawn_as(d, i),
                                         .at = d->n_arrows,
                                         .node = i,
                                         .input = k};
        d->n_arrows++;
    }
    return true;
}

static int by_ends(const void *a, const void *b)
{
    const arrow *x = a, *y = b;
    int64_t dx = x->from != y->from ? x->from - y->from : x->to != y->to ? x->to - y->to : 0;
    dx = dx ? dx : x->at - y->at;
    return dx < 0 ? -1 : dx > 0;
}

static int by_place(const void *a, const void *b)
{
    const arrow *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Of several arrows between the same two boxes, one of which is a module, only the first stays. */
static void drop_repeated(drawing *d)
{
    if (d->o->depth == 0 || d->n_arrows == 0) {
        return;
    }
    arrow *a = d->arrows;
    qsort(a, (size_t)d->n_arrows, sizeof *a, by_ends);
    for (int64_t i = 1; i < d->n_arrows; i++) {
        a[i].twice = a[i].from == a[i - 1].from && a[i].to == a[i - 1].to &&
                     (a[i].from >= d->g->n || a[i].to >= d->g->n);
    }
    qsort(a, (size_t)d->n_arrows, sizeof *a, by_place);
}

static void put_end(drawing *d, int64_t end)
{
    bool box = end >= d->g->n;
    hd__text_format(&d->t, "%c%" PRId64, box ? 'm' : 'n', box ? end - d->g->n : end);
}

/* How many views the arrow leads through that stand in no box. The last ones, at most MOST_VIEWS,
 * go to late[0], late[1] and so on, the very last one first. */
static int64_t views_on_arrow(const drawing *d, const arrow *a, int64_t late[MOST_VIEWS])
{
    int64_t seen = 0, n = 0, at = hd__graph_input(d->g, a->node, a->input, NULL);
    while (is_hidden_view(d, at) && module_of(d, at)->box < 0) {
        int64_t before = hd__graph_input(d->g, at, 0, NULL);
        if (seen < MOST_VIEWS) {
            late[seen] = at;
        }
        seen++;
        n = view_after(d, before) < 0 || module_of(d, before)->box >= 0 ? seen : n;
        at = before;
    }
    return n;
}

/* "output 1", "View, Transpose (2, 4, 8, 8)" or both */
static void put_arrow_label(drawing *d, bool several, int output, int64_t views,
                            const int64_t *late)
{
    if (several) {
        hd__text_format(&d->t, "output %d%s", output, views ? "\\n" : "");
    }
    hd__text_puts(&d->t, views > MOST_VIEWS ? "..., " : "");
    for (int64_t v = views < MOST_VIEWS ? views - 1 : MOST_VIEWS - 1; v >= 0; v--) {
        const char *op = d->g->nodes[late[v]].op;
        hd__text_add(&d->t, op, (size_t)hd__graph_op_length(op));
        hd__text_puts(&d->t, v ? ", " : "");
    }
    if (views > 0) {
        put_sizes(d, late[0]);
    }
}

static int64_t cluster_of(const drawing *d, int64_t end)
{
    const hd__graph_module *m = end < d->g->n ? module_of(d, end) : &d->g->modules[end - d->g->n];
    return m->box >= 0 ? d->g->modules[m->parent].cluster : m->cluster;
}

/* Data that enters a cluster leaves the row above the call free for the call's parameters, so that
 * the cluster can stand below what came before it. */
static bool enters_with_leaves(const drawing *d, const arrow *a)
{
    bool enters = cluster_of(d, a->from) != cluster_of(d, a->to) && a->to < d->g->n;
    for (int k = 0; enters && k < hd_node_inputs(d->g->nodes[a->node].node); k++) {
        int64_t input = hd__graph_input(d->g, a->node, k, NULL);
        int64_t leaf = input >= 0 ? d->g->nodes[input].leaf : -1;
        if (leaf >= 0 && is_drawn(d, leaf)) {
            return true;
        }
    }
    return false;
}

static void put_arrow(drawing *d, const arrow *a)
{
    int output = 0;
    int64_t late[MOST_VIEWS], views = views_on_arrow(d, a, late);
    int64_t from = arrow_start(d, a->node, a->input, &output);
    bool several = a->from < d->g->n && hd_node_outputs(d->g->nodes[from].node) > 1;
    bool leaf = a->from < d->g->n && d->g->nodes[from].leaf >= 0;
    hd__text_puts(&d->t, "    ");
    put_end(d, a->from);
    hd__text_puts(&d->t, " -> ");
    put_end(d, a->to);
    hd__text_format(&d->t, " [weight=%d", leaf ? 1 : 8);
    if (!leaf && enters_with_leaves(d, a)) {
        hd__text_puts(&d->t, ", minlen=2");
    }
    if (views || several) {
        hd__text_puts(&d->t, ", label=\"");
        put_arrow_label(d, several, output, views, late);
        hd__text_puts(&d->t, views ? "\", style=dashed" : "\"");
    }
    hd__text_puts(&d->t, "];\n");
}

static bool put_arrows(drawing *d)
{
    bool ok = true;
    for (int64_t i = 0; i < d->g->n && ok; i++) {
        ok = add_arrows(d, i);
    }
    drop_repeated(d);
    for (int64_t i = 0; i < d->n_arrows && ok; i++) {
        if (!d->arrows[i].twice) {
            put_arrow(d, &d->arrows[i]);
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- head and legend */

static void dot_head(drawing *d)
{
    hd__text_puts(&d->t, "digraph backward {\n"
                         "    graph [bgcolor=white, fontname=\"Helvetica\", fontsize=11, "
                         "style=\"filled,rounded\", color=\"#999999\", ranksep=0.13, labeljust=l, "
                         "nodesep=0.15];\n"
                         "    node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=11, "
                         "height=0.2, margin=\"0.08,0.03\"];\n"
                         "    edge [color=\"#555555\", fontname=\"Helvetica\", fontsize=9, "
                         "fontcolor=\"#555555\", arrowsize=0.7];\n");
    if (d->o->sideways) {
        hd__text_puts(&d->t, "    rankdir=LR;\n");
    }
    if (d->o->title && *d->o->title) {
        hd__text_puts(&d->t, "    labelloc=t;\n    label=\"");
        put_escaped(&d->t, d->o->title);
        hd__text_puts(&d->t, "\";\n");
    }
}

static bool has_clusters(const drawing *d)
{
    bool found = false;
    for (int64_t m = 1; m < d->g->n_modules; m++) {
        found = found || d->g->modules[m].drawn;
    }
    return found;
}

/* One sample of every kind of box, in a column. */
static void put_legend(drawing *d)
{
    bool clusters = has_clusters(d), boxes = d->o->depth > 0;
    hd__text_puts(&d->t, "    subgraph cluster_legend {\n"
                         "        label=\"Legend\";\n"
                         "        fillcolor=\"#ffffff\";\n");
    if (d->o->parameters) {
        hd__text_format(&d->t,
                        "        legend_leaf [label=\"parameter, or another leaf\\nthat requires "
                        "grad (its shape)\", %s];\n"
                        "        legend_leaf -> legend_call;\n",
                        leaf_style);
    }
    if (boxes) {
        hd__text_format(&d->t,
                        "        legend_box [label=\"module with all that\\nis in it (shape of\\n"
                        "its result)\", %s];\n"
                        "        legend_box -> legend_result;\n",
                        box_style);
    }
    hd__text_format(&d->t,
                    "%s"
                    "        legend_call [label=\"recorded call (shape\\nof its result)%s\", %s];\n"
                    "%s"
                    "        legend_result [label=\"where backward begins\", %s];\n"
                    "        legend_call -> %s;\n"
                    "    }\n",
                    clusters ? "        subgraph cluster_legend_module {\n"
                               "        label=\"module\";\n"
                               "        fillcolor=\"#f2f2f2\";\n"
                             : "",
                    d->o->full ? "" : "\\nthen View (its shape)", call_style,
                    clusters ? "        }\n" : "", result_style,
                    boxes ? "legend_box" : "legend_result");
}

static bool put_graph(drawing *d)
{
    dot_head(d);
    if (d->o->legend) {
        put_legend(d);
    }
    put_clusters(d);
    bool ok = put_arrows(d);
    hd__text_puts(&d->t, "}\n");
    return ok;
}

/* ---------------------------------------------------------------- public */

hd_graph_options hd_graph_defaults(void)
{
    return (hd_graph_options){.size = sizeof(hd_graph_options), .parameters = true, .legend = true};
}

static bool graph_options_ok(const char *function, const hd_graph_options *o)
{
    if (!HD__SIZE_OK(function, o, "hd_graph_defaults()")) {
        return false;
    }
    if (o->depth < 0) {
        return hd_error_set(HD_VALUE, "%s: depth %d: expected 0 or more", function, o->depth);
    }
    return true;
}

static char *graph_text(const hd_node *root, const hd_dict *names, const hd_graph_options *o)
{
    HD_SCOPE; /* for the names of users' ops */
    hd__graph g;
    drawing d = {.g = &g, .o = o};
    bool ok =
        hd__graph_read(&g, root, names) && hd__graph_group(&g, names, o->depth) && put_graph(&d);
    hd__graph_free(&g);
    hd_free(d.arrows);
    char *text = hd__text_take(&d.t);
    if (!ok) {
        hd_free(text);
        return NULL;
    }
    return text;
}

static char *graph_dot(const char *function, hd_tensor *x, const hd_dict *names,
                       const hd_graph_options *o)
{
    hd_graph_options defaults = hd_graph_defaults();
    o = o ? o : &defaults;
    if (!hd__viz_tensor_given(function, "x", x) || !graph_options_ok(function, o)) {
        return NULL;
    }
    if (!hd_requires_grad(x)) {
        return hd_error_set(HD_GRAD, "%s: %s does not require grad", function,
                            HD__SIZES(hd_ndim(x), hd_sizes(x)));
    }
    const hd_node *root = hd_grad_node(x);
    return root ? graph_text(root, names, o) : NULL;
}

static bool graph_save(const char *function, hd_tensor *x, const hd_dict *names, const char *path,
                       const hd_graph_options *o)
{
    if (!hd__viz_may_save(function, "x", x, path)) {
        return false;
    }
    char *text = graph_dot(function, x, names, o);
    bool ok = text && hd__whole_write(function, path, text, strlen(text));
    hd_free(text);
    return ok;
}

char *hd_graph_dot(hd_tensor *x, const hd_dict *names)
{
    return graph_dot("hd_graph_dot", x, names, NULL);
}

bool hd_graph_save_dot(hd_tensor *x, const hd_dict *names, const char *path)
{
    return graph_save("hd_graph_save_dot", x, names, path, NULL);
}

char *hd_graph_dot_with(hd_tensor *x, const hd_dict *names, const hd_graph_options *o)
{
    return graph_dot("hd_graph_dot_with", x, names, o);
}

bool hd_graph_save_dot_with(hd_tensor *x, const hd_dict *names, const char *path,
                            const hd_graph_options *o)
{
    return graph_save("hd_graph_save_dot_with", x, names, path, o);
}
