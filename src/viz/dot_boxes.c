/* dot_boxes.c - the boxes of calls, leaves and modules, in the clusters of their modules. */
#include <inttypes.h>

#include "viz/dot.h"

enum { MOST_INDENT = 16 };

/* ---------------------------------------------------------------- what is drawn */

const hd__graph_module *hd__dot_module(const hd__dot *d, int64_t i)
{
    return &d->g->modules[d->g->nodes[i].module];
}

/* A view that is drawn as a part of an arrow. */
bool hd__dot_is_hidden(const hd__dot *d, int64_t i)
{
    const hd__graph_node *n = &d->g->nodes[i];
    return n->layout && !n->name && i != 0 && !d->o->full;
}

bool hd__dot_is_drawn(const hd__dot *d, int64_t i)
{
    bool leaf = hd__graph_is_leaf(d->g, i);
    return hd__dot_module(d, i)->box < 0 && !hd__dot_is_hidden(d, i) &&
           (!leaf || i == 0 || d->o->parameters);
}

/* ---------------------------------------------------------------- texts */

/* dot reads backslashes and HTML's entities in a quoted string. */
void hd__dot_escape(hd__dot *d, const char *s)
{
    static const char *const escapes[] = {"\\\"", "\\\\", "&amp;", "\\n"};
    hd__viz_escape(&d->t, s, "\"\\&\n", escapes);
}

static void put_indent(hd__dot *d, int depth)
{
    hd__text_repeat(&d->t, ' ', 4 * (depth < MOST_INDENT ? depth : MOST_INDENT));
}

static void put_title(hd__dot *d, int64_t i)
{
    hd__text title = {0};
    hd__graph_title(d->g, i, hd__dot_module(d, i)->cluster, &title);
    d->t.failed = d->t.failed || title.failed;
    hd__dot_escape(d, title.s ? title.s : "");
    hd_free(title.s);
}

/* " (2, 8, 32)" */
void hd__dot_sizes(hd__dot *d, int64_t i)
{
    const hd_node *node = d->g->nodes[i].node;
    int outputs = hd_node_outputs(node);
    for (int k = 0; k < outputs && k < HD__DOT_OUTPUTS; k++) {
        int ndim = 0;
        const int64_t *sizes = hd_node_sizes(node, k, &ndim);
        hd__text_format(&d->t, "%s %s", k ? "," : "", HD__SIZES(ndim, sizes));
    }
    hd__text_puts(&d->t, outputs > HD__DOT_OUTPUTS ? ", ..." : "");
}

/* ---------------------------------------------------------------- boxes */

/* The view that is the only user of node i's result; -1: there is none. */
int64_t hd__dot_view_after(const hd__dot *d, int64_t i)
{
    const hd__graph_node *n = &d->g->nodes[i];
    bool view = n->uses == 1 && hd__dot_is_hidden(d, n->last_user);
    return view && hd__dot_module(d, n->last_user)->box < 0 ? n->last_user : -1;
}

/* "then View, Transpose (2, 4, 8, 8)": the views in the box of node i, and the shape after them. */
static void put_views_after(hd__dot *d, int64_t i)
{
    int64_t n = 0;
    for (int64_t at; (at = hd__dot_view_after(d, i)) >= 0; i = at, n++) {
        const char *op = d->g->nodes[at].op;
        if (n < HD__DOT_VIEWS) {
            hd__text_puts(&d->t, n ? ", " : "\\nthen ");
            hd__text_add(&d->t, op, (size_t)hd__graph_op_length(op));
        }
    }
    hd__text_puts(&d->t, n > HD__DOT_VIEWS ? ", ..." : "");
    if (n > 0) {
        hd__dot_sizes(d, i);
    }
}

static void put_node(hd__dot *d, int64_t i, int indent)
{
    const hd__graph_node *n = &d->g->nodes[i];
    bool leaf = hd__graph_is_leaf(d->g, i);
    put_indent(d, indent);
    hd__text_format(&d->t, "n%" PRId64 " [label=\"", i);
    put_title(d, i);
    if (d->o->full && !leaf) {
        hd__text_puts(&d->t, "\\n");
        hd__dot_escape(d, n->op);
    }
    hd__dot_sizes(d, i);
    put_views_after(d, i);
    hd__text_puts(&d->t, "\", tooltip=\"");
    hd__dot_escape(d, n->name ? n->name : n->op);
    const char *style = leaf ? HD__DOT_LEAF : i == 0 ? HD__DOT_RESULT : HD__DOT_CALL;
    hd__text_format(&d->t, "\", %s];\n", style);
}

static int64_t parameters_in(const hd__dot *d, int64_t module)
{
    int64_t n = 0;
    for (int64_t i = d->g->modules[module].first_node; i >= 0; i = d->g->nodes[i].next) {
        n += hd__graph_is_leaf(d->g, i) ? hd__graph_elements(d->g->nodes[i].node, 0) : 0;
    }
    return n;
}

static void put_module_name(hd__dot *d, int64_t module, size_t skip)
{
    const hd__graph_module *m = &d->g->modules[module];
    hd__text name = {0};
    hd__text_add(&name, m->name + skip, m->len - skip);
    d->t.failed = d->t.failed || name.failed;
    hd__dot_escape(d, name.s ? name.s : "");
    hd_free(name.s);
}

/* A module as one box: its class and name, the shape of its result, and its parameters. */
static void put_box(hd__dot *d, int64_t module, int indent)
{
    const hd__graph_module *m = &d->g->modules[module];
    int64_t around = d->g->modules[m->parent].cluster;
    int64_t parameters = parameters_in(d, module);
    put_indent(d, indent);
    hd__text_format(&d->t, "m%" PRId64 " [label=\"", module);
    if (m->class_name) {
        hd__dot_escape(d, m->class_name);
        hd__text_puts(&d->t, " ");
    }
    put_module_name(d, module, around > 0 ? d->g->modules[around].len + 1 : 0);
    hd__dot_sizes(d, m->last_node);
    hd__text_format(&d->t, "\\n%" PRId64 " parameter%s\", tooltip=\"", parameters,
                    parameters == 1 ? "" : "s");
    put_module_name(d, module, 0);
    hd__text_format(&d->t, "\", %s];\n",
                    d->g->nodes[0].module == module ? HD__DOT_RESULT : HD__DOT_BOX);
}

/* ---------------------------------------------------------------- clusters */

/* What belongs to the module, but not to a module inside it. */
static void put_nodes(hd__dot *d, int64_t module, int indent)
{
    const hd__graph_module *m = &d->g->modules[module];
    if (m->box == module) {
        put_box(d, module, indent);
    }
    for (int64_t i = m->first_node; i >= 0; i = d->g->nodes[i].next) {
        if (hd__dot_is_drawn(d, i)) {
            put_node(d, i, indent);
        }
    }
}

static void open_cluster(hd__dot *d, int64_t module, int indent)
{
    const hd__graph_module *m = &d->g->modules[module];
    put_indent(d, indent);
    hd__text_format(&d->t, "subgraph cluster_%" PRId64 " {\n", module);
    put_indent(d, indent + 1);
    hd__text_puts(&d->t, "label=\"");
    put_module_name(d, module, 0);
    if (m->class_name) {
        hd__text_puts(&d->t, ": ");
        hd__dot_escape(d, m->class_name);
    }
    hd__text_format(&d->t, "\";\n");
    put_indent(d, indent + 1);
    hd__text_format(&d->t, "fillcolor=\"%s\";\n", indent % 2 ? "#f2f2f2" : "#e6e6e6");
}

/* From every module to its children, and then back to its next sister or its parent's. */
void hd__dot_boxes(hd__dot *d)
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
