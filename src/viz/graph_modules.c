/* graph_modules.c - finds the module that every node of the graph belongs to.
 *
 * The dotted names of the caller's dictionary make a tree of modules. A call that takes a named
 * leaf, or a view of it, belongs to the leaf's module: "att.W_query" of "att.W_query.weight". Any
 * other call belongs to the longest name that its branches have in common. The branches of a call
 * begin after `above`, the nearest call that every way to it goes through. So the sum of
 * x + f(norm(x)) belongs to the module of norm and f, wherever x was made.
 *
 * If all leaves of a module go into one call, as in Linear, the module around it computes on with
 * the result: that module is the call's scope. If they go into several calls, the scope is the
 * module itself. */
#include "viz/graph.h"

/* ---------------------------------------------------------------- the tree of modules */

static bool add_module(hd__graph *g, int64_t parent, const char *name, size_t len)
{
    if (!hd__grow(&g->modules, &g->modules_room, g->n_modules + 1, sizeof *g->modules)) {
        return false;
    }
    int64_t m = g->n_modules++;
    hd__graph_module *above = parent >= 0 ? &g->modules[parent] : NULL;
    g->modules[m] = (hd__graph_module){.name = name,
                                       .len = len,
                                       .depth = above ? above->depth + 1 : 0,
                                       .parent = parent,
                                       .first_child = -1,
                                       .last_child = -1,
                                       .next = -1,
                                       .first_node = -1,
                                       .last_node = -1,
                                       .user = -1,
                                       .box = -1};
    if (above && above->last_child >= 0) {
        g->modules[above->last_child].next = m;
    } else if (above) {
        above->first_child = m;
    }
    if (above) {
        above->last_child = m;
    }
    return true;
}

static bool is_named(const hd__graph_module *m, const char *name, size_t len)
{
    return m->len == len && memcmp(m->name, name, len) == 0;
}

/* The child of `parent` with this dotted name; -1: there is none. Names mostly come in their
 * modules' order, so the last child is asked first. */
static int64_t child_named(const hd__graph *g, int64_t parent, const char *name, size_t len)
{
    int64_t last = g->modules[parent].last_child;
    if (last >= 0 && is_named(&g->modules[last], name, len)) {
        return last;
    }
    for (int64_t m = g->modules[parent].first_child; m >= 0; m = g->modules[m].next) {
        if (is_named(&g->modules[m], name, len)) {
            return m;
        }
    }
    return -1;
}

/* The module with the dotted name of len bytes, which is made if `make`; -1: there is none, or
 * memory ran out. */
static int64_t find_module(hd__graph *g, const char *name, size_t len, bool make)
{
    int64_t m = 0;
    for (size_t end = 0; m >= 0 && end < len; end++) {
        const char *dot = memchr(name + end, '.', len - end);
        end = dot ? (size_t)(dot - name) : len;
        int64_t child = child_named(g, m, name, end);
        if (child < 0 && make && add_module(g, m, name, end)) {
            child = g->n_modules - 1;
        }
        m = child;
    }
    return m;
}

/* The module that both are in; -1 stands for no module yet. */
static int64_t common(const hd__graph *g, int64_t a, int64_t b)
{
    if (a < 0 || b < 0) {
        return a < 0 ? b : a;
    }
    while (a != b) {
        bool up_a = g->modules[a].depth >= g->modules[b].depth;
        a = up_a ? g->modules[a].parent : a;
        b = up_a ? b : g->modules[b].parent;
    }
    return a;
}

static bool make_modules(hd__graph *g)
{
    bool ok = add_module(g, -1, "", 0);
    for (int64_t at = 0; at < g->n && ok; at++) {
        hd__graph_node *n = &g->nodes[g->order[at]];
        const char *dot = n->name ? strrchr(n->name, '.') : NULL;
        n->module = dot ? find_module(g, n->name, (size_t)(dot - n->name), true) : 0;
        ok = n->module >= 0;
    }
    return ok;
}

/* A string of the dictionary is the class of the module that has its name. */
static void read_classes(hd__graph *g, const hd_dict *names)
{
    for (int64_t i = 0; names && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        if (hd_dict_kind_of(names, name) == HD_DICT_STRING) {
            int64_t m = find_module(g, name, strlen(name), false);
            if (m > 0) {
                g->modules[m].class_name = hd_dict_get_string(names, name);
            }
        }
    }
}

/* ---------------------------------------------------------------- calls and their leaves */

/* The named leaf that input k of call i is, or is a view of; -1: it is none. The weight of an
 * embedding may be tied to a Linear, which does not belong to the embedding. */
static int64_t named_leaf(const hd__graph *g, int64_t i, int k)
{
    int64_t input = hd__graph_input(g, i, k, NULL);
    int64_t leaf = input >= 0 && g->nodes[i].leaf < 0 ? g->nodes[input].leaf : -1;
    if (leaf < 0 || !g->nodes[leaf].name) {
        return -1;
    }
    static const char embedding[] = "EmbeddingBackward0";
    bool embeds = strcmp(g->nodes[g->nodes[leaf].user].op, embedding) == 0;
    return embeds && strcmp(g->nodes[i].op, embedding) != 0 ? -1 : leaf;
}

/* Marks the modules whose leaves go into several calls. */
static void find_several(hd__graph *g)
{
    for (int64_t i = 0; i < g->n; i++) {
        for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
            int64_t leaf = named_leaf(g, i, k);
            if (leaf >= 0) {
                hd__graph_module *m = &g->modules[g->nodes[leaf].module];
                m->several = m->several || (m->user >= 0 && m->user != i);
                m->user = i;
            }
        }
    }
}

/* The module of the named leaves that call i takes; -1: it takes none. */
static int64_t leaves_module(hd__graph *g, int64_t i)
{
    int64_t module = -1;
    for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
        int64_t leaf = named_leaf(g, i, k);
        if (leaf >= 0) {
            g->nodes[i].weight = g->nodes[i].weight >= 0 ? g->nodes[i].weight : leaf;
            module = common(g, module, g->nodes[leaf].module);
        }
    }
    return module;
}

/* ---------------------------------------------------------------- the modules of the nodes */

/* Is input k of node i something that was computed? Leaves and their views are not. */
static bool is_computed(const hd__graph *g, int64_t i, int k, int64_t *input)
{
    *input = hd__graph_input(g, i, k, NULL);
    return *input >= 0 && g->nodes[*input].leaf < 0;
}

/* ---------------------------------------------------------------- ways up
 *
 * The calls above a call, each the nearest that every way goes through, are a way up to the data.
 * Every call also has a jump to a call far up, so that a way of n calls takes about log n steps:
 * two jumps of the same length are followed by one that is as long as both. */

static int64_t depth_of(const hd__graph *g, int64_t i)
{
    return i >= 0 ? g->nodes[i].depth : 0;
}

static int64_t above_of(const hd__graph *g, int64_t i)
{
    return i >= 0 ? g->nodes[i].above : -1;
}

static int64_t jump_of(const hd__graph *g, int64_t i)
{
    return i >= 0 ? g->nodes[i].jump : -1;
}

/* From call i up to where the depth is `depth`. *module gets the module that it had and the scopes
 * of the calls on the way have in common. */
static int64_t go_up(const hd__graph *g, int64_t i, int64_t depth, int64_t *module)
{
    while (depth_of(g, i) > depth) {
        bool far = depth_of(g, g->nodes[i].jump) >= depth;
        *module = common(g, *module, far ? g->nodes[i].jumped : g->nodes[i].scope);
        i = far ? g->nodes[i].jump : g->nodes[i].above;
    }
    return i;
}

/* The first call that is on the way up from both. */
static int64_t meeting(const hd__graph *g, int64_t a, int64_t b)
{
    int64_t unused = 0, depth = depth_of(g, a) < depth_of(g, b) ? depth_of(g, a) : depth_of(g, b);
    a = go_up(g, a, depth, &unused);
    b = go_up(g, b, depth, &unused);
    while (a != b) {
        bool far = jump_of(g, a) != jump_of(g, b);
        a = far ? jump_of(g, a) : above_of(g, a);
        b = far ? jump_of(g, b) : above_of(g, b);
    }
    return a;
}

/* The nearest call that every way from the data to node i goes through. */
static int64_t find_above(const hd__graph *g, int64_t i)
{
    int64_t above = -1, input;
    bool first = true;
    for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
        if (is_computed(g, i, k, &input)) {
            above = first ? input : meeting(g, above, input);
            first = false;
        }
    }
    return above;
}

static void set_jump(hd__graph *g, int64_t i)
{
    hd__graph_node *n = &g->nodes[i];
    int64_t above = n->above, next = jump_of(g, above), last = jump_of(g, next);
    n->depth = depth_of(g, above) + 1;
    n->jump = above;
    n->jumped = n->scope;
    if (above >= 0 && next >= 0 &&
        depth_of(g, above) - depth_of(g, next) == depth_of(g, next) - depth_of(g, last)) {
        n->jump = last;
        n->jumped = common(g, n->scope, common(g, g->nodes[above].jumped, g->nodes[next].jumped));
    }
}

/* The module that all branches of node i are in. */
static int64_t branches_module(const hd__graph *g, int64_t i)
{
    int64_t above = g->nodes[i].above, module = -1, input;
    for (int k = 0; k < hd_node_inputs(g->nodes[i].node); k++) {
        if (is_computed(g, i, k, &input)) {
            go_up(g, input, depth_of(g, above), &module);
        }
    }
    return module >= 0 ? module : above >= 0 ? g->nodes[above].scope : 0;
}

static void place_call(hd__graph *g, int64_t i)
{
    hd__graph_node *n = &g->nodes[i];
    n->above = find_above(g, i);
    int64_t module = leaves_module(g, i);
    if (n->name) {
        n->scope = n->module;
    } else if (module >= 0) {
        bool whole = module == g->nodes[n->weight].module && !g->modules[module].several;
        n->module = module;
        n->scope = whole && module > 0 ? g->modules[module].parent : module;
    } else {
        n->module = n->scope = branches_module(g, i);
    }
    set_jump(g, i);
}

static void place_nodes(hd__graph *g)
{
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        hd__graph_node *n = &g->nodes[i];
        if (n->leaf >= 0) { /* a leaf, or a view of one, which may have a name of its own */
            n->module = n->name ? n->module : g->nodes[n->leaf].module;
            n->scope = n->module;
        } else {
            place_call(g, i);
        }
    }
}

/* ---------------------------------------------------------------- boxes and clusters */

static void find_boxes(hd__graph *g, int depth)
{
    for (int64_t m = 1; m < g->n_modules; m++) {
        hd__graph_module *module = &g->modules[m];
        int64_t around = g->modules[module->parent].box;
        module->box = around >= 0 ? around : module->depth == depth ? m : -1;
    }
}

/* Hangs every node on its module, or on the module whose box hides it, and counts the calls. */
static void hang_nodes(hd__graph *g)
{
    for (int64_t at = 0; at < g->n; at++) {
        int64_t i = g->order[at];
        hd__graph_node *n = &g->nodes[i];
        n->module = g->modules[n->module].box >= 0 ? g->modules[n->module].box : n->module;
        hd__graph_module *m = &g->modules[n->module];
        if (m->last_node >= 0) {
            g->nodes[m->last_node].next = i;
        } else {
            m->first_node = i;
        }
        m->last_node = i;
        m->calls += n->leaf < 0 && !n->layout;
    }
}

/* A module is a cluster if at least two things stand in it and one of them is a call. So neither a
 * Linear nor a list of blocks is one. A child's number is larger than its parent's. */
static void find_clusters(hd__graph *g)
{
    for (int64_t k = g->n_modules - 1; k > 0; k--) {
        hd__graph_module *m = &g->modules[k], *parent = &g->modules[m->parent];
        if (m->box >= 0) {
            parent->clusters += m->box == k;
            continue;
        }
        m->drawn = m->calls > 0 && m->calls + m->clusters > 1;
        parent->calls += m->drawn ? 0 : m->calls;
        parent->clusters += m->drawn ? 1 : m->clusters;
    }
    for (int64_t k = 1; k < g->n_modules; k++) {
        hd__graph_module *m = &g->modules[k];
        m->cluster = m->drawn ? k : g->modules[m->parent].cluster;
    }
}

/* ---------------------------------------------------------------- the whole */

bool hd__graph_group(hd__graph *g, const hd_dict *names, int depth)
{
    if (!make_modules(g)) {
        return false;
    }
    read_classes(g, names);
    find_several(g);
    place_nodes(g);
    find_boxes(g, depth);
    hang_nodes(g);
    find_clusters(g);
    return true;
}
