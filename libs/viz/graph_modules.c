/* graph_modules.c - finds the module that every node of the graph belongs to.
 *
 * The dotted names of the caller's dictionary make a tree of modules. A call that takes a named
 * leaf, or a view of it, belongs to the leaf's module: "att.W_query" for "att.W_query.weight". For
 * the other calls heed guesses the module, because the graph does not record modules.
 *
 * A module is assumed to have one result. Then this result is on all paths of its calls (graph.h).
 * The first node that is on all these paths is the module's end. A node between the calls and the
 * end is in the module: the softmax between W_query and out_proj, or the sum x + f(norm(x)) in a
 * block with calls after it. A node after the end may be the caller's, and is drawn outside: the
 * ReLU that ends a Sequential, or the loss.
 *
 * If every leaf of a module goes into several calls, the module was perhaps called several times,
 * and the nodes between its calls may be the caller's, as they are in a list. Then only the calls
 * that take its leaves are in it. */
#include "viz/graph.h"

/* ---------------------------------------------------------------- the tree of modules */

static bool add_module(hd__viz_graph *g, int64_t parent, const char *name, size_t len)
{
    if (!hd__text_grow(&g->modules, &g->modules_room, g->n_modules + 1, sizeof *g->modules)) {
        return false;
    }
    hd__viz_graph_module *m = &g->modules[g->n_modules];
    *m = (hd__viz_graph_module){.name = name, .len = len, .parent = parent, .end = -1, .box = -1};
    if (parent >= 0) {
        const hd__viz_graph_module *above = &g->modules[parent];
        m->depth = above->depth + 1;
        m->box = above->box >= 0 ? above->box : m->depth == g->o->depth ? g->n_modules : -1;
    }
    g->n_modules++;
    return true;
}

/* Returns the module whose dotted name is the len bytes at `name`, or -1. Tries the last module
 * first, because nodes of one module mostly follow each other. */
static int64_t module_named(const hd__viz_graph *g, const char *name, size_t len)
{
    int64_t m = g->n_modules - 1;
    while (m >= 0 && (g->modules[m].len != len || memcmp(g->modules[m].name, name, len) != 0)) {
        m--;
    }
    return m;
}

/* Returns the innermost module that contains both a and b. A child's number is larger than its
 * parent's. */
static int64_t common(const hd__viz_graph *g, int64_t a, int64_t b)
{
    while (a != b) {
        if (a > b) {
            a = g->modules[a].parent;
        } else {
            b = g->modules[b].parent;
        }
    }
    return a;
}

/* Makes module 0, and a module for each part of a node's name that ends before a dot: "att" and
 * "att.W_query" for the name "att.W_query.weight". Sets `module` of each named node. Returns false
 * with an error if memory runs out. */
static bool make_modules(hd__viz_graph *g)
{
    bool ok = add_module(g, -1, "", 0);
    for (int64_t at = 0; at < g->n; at++) {
        hd__viz_graph_node *n = &g->nodes[g->order[at]];
        const char *dot = n->name ? strchr(n->name, '.') : NULL;
        for (; dot && ok; dot = strchr(dot + 1, '.')) {
            size_t len = (size_t)(dot - n->name);
            int64_t m = module_named(g, n->name, len);
            ok = m >= 0 || add_module(g, n->module, n->name, len);
            n->module = m >= 0 ? m : g->n_modules - 1;
        }
    }
    return ok;
}

/* Sets the class names of modules: an entry of `names` that is a string has a module's name and, as
 * its value, the module's class. */
static void read_classes(hd__viz_graph *g, const hd_dict *names)
{
    for (int64_t i = 0; names && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        if (hd_dict_kind_of(names, name) == HD_DICT_STRING) {
            int64_t m = module_named(g, name, strlen(name));
            if (m > 0) {
                g->modules[m].class_name = hd_dict_get_string(names, name);
            }
        }
    }
}

/* Sets `list` of each module that is a list of modules, which is not called itself. A module with a
 * class is a list if the class is "ModuleList". A module without a class counts as a list if the
 * names of all its children are numbers. */
static void find_lists(hd__viz_graph *g)
{
    for (int64_t k = g->n_modules - 1; k > 0; k--) {
        hd__viz_graph_module *m = &g->modules[k], *above = &g->modules[m->parent];
        m->list =
            m->class_name ? strcmp(m->class_name, "ModuleList") == 0 : m->numbered && !m->named;
        if (m->parent > 0) {
            size_t begin = above->len + 1;
            bool number = strspn(m->name + begin, "0123456789") >= m->len - begin;
            above->numbered = above->numbered || number;
            above->named = above->named || !number;
        }
    }
}

/* ---------------------------------------------------------------- ways to the tensor
 *
 * From each node, a chain of steps to `below` leads down to the tensor. Every node also has a
 * `jump`, a node further down its chain, so that a walk down a chain of n nodes takes about log n
 * steps. The jump of a node leads to `below` or, if the next two jumps from `below` have the same
 * length, to the end of the second of these jumps. */

/* Returns the first node on i's chain whose depth is at most `depth`, which may be i itself. */
static int64_t go_down(const hd__viz_graph *g, int64_t i, int64_t depth)
{
    while (g->nodes[i].depth > depth) {
        int64_t jump = g->nodes[i].jump;
        i = g->nodes[jump].depth >= depth ? jump : g->nodes[i].below;
    }
    return i;
}

/* Returns the first node that is on all paths from a and from b to the tensor. If a is -1, returns
 * b, and if b is -1, returns a. */
static int64_t meeting(const hd__viz_graph *g, int64_t a, int64_t b)
{
    if (a < 0 || b < 0) {
        return a < 0 ? b : a;
    }
    a = go_down(g, a, g->nodes[b].depth);
    b = go_down(g, b, g->nodes[a].depth);
    while (a != b) {
        bool far = g->nodes[a].jump != g->nodes[b].jump;
        a = far ? g->nodes[a].jump : g->nodes[a].below;
        b = far ? g->nodes[b].jump : g->nodes[b].below;
    }
    return a;
}

static void set_jump(hd__viz_graph *g, hd__viz_graph_node *n)
{
    const hd__viz_graph_node *below = &g->nodes[n->below], *next = &g->nodes[below->jump];
    bool far = below->depth - next->depth == next->depth - g->nodes[next->jump].depth;
    n->depth = below->depth + 1;
    n->jump = far ? next->jump : n->below;
}

/* Sets `below`, `depth` and `jump` of all nodes. Begins at the tensor, so that each node comes
 * after its users. Node 0 is its own `below`. */
static void find_ways(hd__viz_graph *g)
{
    g->nodes[0].below = 0;
    for (int64_t at = g->n - 1; at >= 0; at--) {
        int64_t i = g->order[at];
        if (i != 0) {
            set_jump(g, &g->nodes[i]);
        }
        for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
            int64_t input = hd__viz_graph_input(g, i, k, NULL);
            if (input >= 0) {
                g->nodes[input].below = meeting(g, g->nodes[input].below, i);
            }
        }
    }
}

/* ---------------------------------------------------------------- calls and their leaves */

static bool embeds(const hd__viz_graph *g, int64_t i)
{
    return strcmp(g->nodes[i].op, "EmbeddingBackward0") == 0;
}

/* Returns the named leaf that input k of call i is, or is a view of; -1 if there is none. If a
 * Linear shares its weight with an embedding, also returns -1 for the Linear, because the Linear is
 * not in the embedding's module. */
static int64_t named_leaf(const hd__viz_graph *g, int64_t i, int k)
{
    int64_t input = hd__viz_graph_input(g, i, k, NULL);
    int64_t leaf = input >= 0 && g->nodes[i].leaf < 0 ? g->nodes[input].leaf : -1;
    bool is = leaf >= 0 && g->nodes[leaf].name && (!embeds(g, g->nodes[leaf].user) || embeds(g, i));
    return is ? leaf : -1;
}

/* True if call i takes data, which is any input that is no named leaf. A call of named leaves
 * alone, such as the square of a weight in a loss, does not show where a module ends. An embedding
 * always takes data, the token ids, which need no gradient. */
static bool takes_data(const hd__viz_graph *g, int64_t i)
{
    bool data = embeds(g, i);
    for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
        data = data || named_leaf(g, i, k) < 0;
    }
    return data;
}

/* Puts each call that takes named leaves into the innermost module that contains all of them. Sets
 * `weight` of the call, and `taker` and `takers` of the leaves. */
static void take_leaves(hd__viz_graph *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        hd__viz_graph_node *n = &g->nodes[i];
        bool data = takes_data(g, i);
        for (int k = 0; k < hd_node_inputs(n->node); k++) {
            int64_t leaf = named_leaf(g, i, k);
            if (leaf < 0) {
                continue;
            }
            hd__viz_graph_node *l = &g->nodes[leaf];
            if (data && l->taker != i) {
                l->taker = i;
                l->takers++;
            }
            if (!n->name) {
                n->module = n->weight < 0 ? l->module : common(g, n->module, l->module);
            }
            n->weight = n->weight < 0 ? leaf : n->weight;
        }
    }
}

static void find_ends(hd__viz_graph *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        const hd__viz_graph_node *n = &g->nodes[i];
        hd__viz_graph_module *m = &g->modules[n->module];
        m->once = m->once || n->takers == 1;
        if (n->weight >= 0 && takes_data(g, i)) {
            m->end = meeting(g, m->end, i);
        }
    }
    for (int64_t k = g->n_modules - 1; k > 0; k--) {
        const hd__viz_graph_module *m = &g->modules[k];
        hd__viz_graph_module *parent = &g->modules[m->parent];
        parent->end = meeting(g, parent->end, m->end);
        parent->once = parent->once || m->once;
    }
}

/* ---------------------------------------------------------------- the modules of the nodes */

/* True if module m, which contains node i, has its end after i. False if m is a list or was perhaps
 * called several times. */
static bool goes_on(const hd__viz_graph *g, int64_t m, int64_t i)
{
    const hd__viz_graph_module *module = &g->modules[m];
    int64_t end = module->once && !module->list ? module->end : -1;
    return end >= 0 && end != i && go_down(g, i, g->nodes[end].depth) == end;
}

/* Returns the innermost module that contains an input of call i and whose end comes after that
 * input; module 0 if there is none. */
static int64_t inputs_module(const hd__viz_graph *g, int64_t i)
{
    int64_t module = 0;
    for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
        int64_t input = hd__viz_graph_input(g, i, k, NULL);
        if (input < 0 || g->nodes[input].leaf >= 0) { /* the input is no result of a call */
            continue;
        }
        int64_t m = g->nodes[input].module;
        while (m > 0 && !goes_on(g, m, input)) {
            m = g->modules[m].parent;
        }
        int64_t both = common(g, module, m);
        module = both == module ? m : both == m ? module : both;
    }
    return module;
}

static void place_nodes(hd__viz_graph *g)
{
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        hd__viz_graph_node *n = &g->nodes[i];
        if (n->leaf >= 0 && !n->name) { /* a view of a leaf may have a name of its own */
            n->module = g->nodes[n->leaf].module;
        } else if (n->weight < 0 && !n->name) {
            n->module = inputs_module(g, i);
        }
    }
}

/* ---------------------------------------------------------------- boxes and clusters */

/* Moves each node that a module's box hides to this module, and counts the calls in each module. */
static void count_calls(hd__viz_graph *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        hd__viz_graph_node *n = &g->nodes[i];
        n->box = g->modules[n->module].box;
        n->module = n->box >= 0 ? n->box : n->module;
        g->modules[n->module].calls += n->leaf < 0 && !n->layout;
    }
}

/* Sets `drawn` and `cluster` of all modules. A module is drawn as a cluster if it is no list, has a
 * call in it, and has at least one more call or cluster. So a Linear, which has one call, is not a
 * cluster. */
static void find_clusters(hd__viz_graph *g)
{
    for (int64_t k = g->n_modules - 1; k > 0; k--) {
        hd__viz_graph_module *m = &g->modules[k], *parent = &g->modules[m->parent];
        if (m->box >= 0) {
            parent->clusters += m->box == k;
            continue;
        }
        m->drawn = !m->list && m->calls > 0 && m->calls + m->clusters > 1;
        g->clusters = g->clusters || m->drawn;
        parent->calls += m->drawn ? 0 : m->calls;
        parent->clusters += m->drawn ? 1 : m->clusters;
    }
    for (int64_t k = 1; k < g->n_modules; k++) {
        hd__viz_graph_module *m = &g->modules[k];
        m->cluster = m->drawn ? k : g->modules[m->parent].cluster;
    }
}

/* ---------------------------------------------------------------- grouping a graph */

bool hd__viz_graph_group(hd__viz_graph *g, const hd_dict *names)
{
    if (!make_modules(g)) {
        return false;
    }
    read_classes(g, names);
    find_lists(g);
    find_ways(g);
    take_leaves(g);
    find_ends(g);
    place_nodes(g);
    count_calls(g);
    find_clusters(g);
    return true;
}
