/* dot_arrows.c - the arrows from inputs to results, with the views that they lead through. */
#include <inttypes.h>
#include <stdlib.h>

#include "viz/dot.h"

typedef struct arrow {
    int64_t from, to; /* what is drawn: a node's number, or n + the number of a module's box */
    int64_t at;       /* in the order of the text */
    int64_t node;     /* the call that takes the input */
    int input;        /* which one */
    bool twice;       /* another one between the same boxes is drawn */
} arrow;

typedef struct arrows {
    arrow *all;
    int64_t n, room;
} arrows;

/* ---------------------------------------------------------------- which arrows there are */

static int64_t drawn_as(const hd__dot *d, int64_t i)
{
    int64_t box = hd__dot_module(d, i)->box;
    return box >= 0 ? d->g->n + box : i;
}

/* The node where the arrow to input k of node i begins; *output is the number of its output. */
static int64_t arrow_start(const hd__dot *d, int64_t i, int k, int *output)
{
    int64_t from = hd__graph_input(d->g, i, k, output);
    while (from >= 0 && hd__dot_is_hidden(d, from) && drawn_as(d, from) != drawn_as(d, i) &&
           hd__dot_module(d, from)->box < 0) {
        from = hd__graph_input(d->g, from, 0, output);
    }
    return from;
}

static bool add_arrows(const hd__dot *d, arrows *w, int64_t i)
{
    if (hd__dot_is_hidden(d, i) && hd__dot_module(d, i)->box < 0) {
        return true;
    }
    for (int k = 0; k < hd_node_inputs(d->g->nodes[i].node); k++) {
        int output;
        int64_t from = arrow_start(d, i, k, &output);
        if (from < 0 || drawn_as(d, from) == drawn_as(d, i) ||
            (hd__dot_module(d, from)->box < 0 && !hd__dot_is_drawn(d, from))) {
            continue;
        }
        if (!hd__grow(&w->all, &w->room, w->n + 1, sizeof *w->all)) {
            return false;
        }
        w->all[w->n] = (arrow){
            .from = drawn_as(d, from), .to = drawn_as(d, i), .at = w->n, .node = i, .input = k};
        w->n++;
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
static void drop_repeated(const hd__dot *d, arrows *w)
{
    if (d->o->depth == 0 || w->n == 0) {
        return;
    }
    arrow *a = w->all;
    qsort(a, (size_t)w->n, sizeof *a, by_ends);
    for (int64_t i = 1; i < w->n; i++) {
        a[i].twice = a[i].from == a[i - 1].from && a[i].to == a[i - 1].to &&
                     (a[i].from >= d->g->n || a[i].to >= d->g->n);
    }
    qsort(a, (size_t)w->n, sizeof *a, by_place);
}

/* ---------------------------------------------------------------- their text */

static void put_end(hd__dot *d, int64_t end)
{
    bool box = end >= d->g->n;
    hd__text_format(&d->t, "%c%" PRId64, box ? 'm' : 'n', box ? end - d->g->n : end);
}

/* How many views the arrow leads through that stand in no box. The last ones, at most
 * HD__DOT_VIEWS, go to late[0], late[1] and so on, the very last one first. */
static int64_t views_on_arrow(const hd__dot *d, const arrow *a, int64_t late[HD__DOT_VIEWS])
{
    int64_t seen = 0, n = 0, at = hd__graph_input(d->g, a->node, a->input, NULL);
    while (hd__dot_is_hidden(d, at) && hd__dot_module(d, at)->box < 0) {
        int64_t before = hd__graph_input(d->g, at, 0, NULL);
        if (seen < HD__DOT_VIEWS) {
            late[seen] = at;
        }
        seen++;
        n = hd__dot_view_after(d, before) < 0 || hd__dot_module(d, before)->box >= 0 ? seen : n;
        at = before;
    }
    return n;
}

/* "output 1", "View, Transpose (2, 4, 8, 8)" or both */
static void put_arrow_label(hd__dot *d, bool several, int output, int64_t views,
                            const int64_t *late)
{
    if (several) {
        hd__text_format(&d->t, "output %d%s", output, views ? "\\n" : "");
    }
    hd__text_puts(&d->t, views > HD__DOT_VIEWS ? "..., " : "");
    for (int64_t v = views < HD__DOT_VIEWS ? views - 1 : HD__DOT_VIEWS - 1; v >= 0; v--) {
        const char *op = d->g->nodes[late[v]].op;
        hd__text_add(&d->t, op, (size_t)hd__graph_op_length(op));
        hd__text_puts(&d->t, v ? ", " : "");
    }
    if (views > 0) {
        hd__dot_sizes(d, late[0]);
    }
}

static int64_t cluster_of(const hd__dot *d, int64_t end)
{
    const hd__graph_module *m =
        end < d->g->n ? hd__dot_module(d, end) : &d->g->modules[end - d->g->n];
    return m->box >= 0 ? d->g->modules[m->parent].cluster : m->cluster;
}

/* Data that enters a cluster leaves the row above the call free for the call's parameters, so that
 * the cluster can stand below what came before it. */
static bool enters_with_leaves(const hd__dot *d, const arrow *a)
{
    bool enters = cluster_of(d, a->from) != cluster_of(d, a->to) && a->to < d->g->n;
    for (int k = 0; enters && k < hd_node_inputs(d->g->nodes[a->node].node); k++) {
        int64_t input = hd__graph_input(d->g, a->node, k, NULL);
        int64_t leaf = input >= 0 ? d->g->nodes[input].leaf : -1;
        if (leaf >= 0 && hd__dot_is_drawn(d, leaf)) {
            return true;
        }
    }
    return false;
}

static void put_arrow(hd__dot *d, const arrow *a)
{
    int output = 0;
    int64_t late[HD__DOT_VIEWS], views = views_on_arrow(d, a, late);
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

bool hd__dot_arrows(hd__dot *d)
{
    arrows w = {0};
    bool ok = true;
    for (int64_t i = 0; i < d->g->n && ok; i++) {
        ok = add_arrows(d, &w, i);
    }
    drop_repeated(d, &w);
    for (int64_t i = 0; i < w.n && ok; i++) {
        if (!w.all[i].twice) {
            put_arrow(d, &w.all[i]);
        }
    }
    hd_free(w.all);
    return ok;
}
