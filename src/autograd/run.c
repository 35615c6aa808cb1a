/* run.c - the data of a run: the heap of waiting nodes, the fields of nodes that an inner run puts
 * back, the search for reachable nodes, captures and commits. */
#include <stdlib.h>

#include "autograd/history.h"
#include "autograd/run.h"

typedef hd__run run;

HD__TLS run *hd__run_innermost;

/* ---------------------------------------------------------------- the heap */

bool hd__run_push(hd__run *r, hd__node *n)
{
    if (!hd__text_grow(&r->heap, &r->cap, r->len + 1, sizeof *r->heap)) {
        return false;
    }
    int64_t i = r->len++;
    for (; i > 0 && r->heap[(i - 1) / 2]->seq < n->seq; i = (i - 1) / 2) {
        r->heap[i] = r->heap[(i - 1) / 2];
    }
    r->heap[i] = hd__node_retain(n);
    return true;
}

hd__node *hd__run_pop(hd__run *r)
{
    hd__node *first = r->heap[0], *last = r->heap[--r->len];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < r->len; i = child) {
        child += child + 1 < r->len && r->heap[child + 1]->seq > r->heap[child]->seq;
        if (r->heap[child]->seq <= last->seq) {
            break;
        }
        r->heap[i] = r->heap[child];
    }
    r->heap[i] = last;
    hd__assert(r->len == 0 || r->heap[0]->seq <= first->seq);
    return first;
}

/* ---------------------------------------------------------------- a run inside another one */

bool hd__run_set_aside(run *r, hd__node *n, bool mark_only)
{
    if (!hd__text_grow(&r->asides, &r->cap_asides, r->n_asides + 1, sizeof *r->asides)) {
        return false;
    }
    hd__run_aside *a = &r->asides[r->n_asides++];
    *a = (hd__run_aside){.n = hd__node_retain(n), .mark = n->mark};
    if (!mark_only) {
        a->pending = n->outs[0].pending;
        a->queued = n->queued;
        n->outs[0].pending = NULL;
        n->queued = 0;
    }
    return true;
}

/* Goes from the last entry of r->asides to the first. If a node has two entries, the first one has
 * the older values, which must be written last. */
void hd__run_put_back(run *r)
{
    while (r->n_asides) {
        hd__run_aside *a = &r->asides[--r->n_asides];
        a->n->mark = a->mark;
        if (a->queued) {
            a->n->queued = a->queued;
            a->n->outs[0].pending = a->pending;
        }
        hd__node_release(a->n);
    }
    hd_free(r->asides);
}

/* ---------------------------------------------------------------- nodes below the outputs */

static atomic_ullong last_mark;

uint64_t hd__run_marks(void)
{
    return atomic_fetch_add(&last_mark, 2) + 1;
}

/* Marks n and puts it on the heap, unless n is NULL, a leaf, or marked already. If n is a leaf and
 * r->counted is set, marks n and counts one more edge to it. Returns false with an error if memory
 * runs out. */
static bool queue_once(run *r, hd__node *n, uint64_t mark)
{
    bool leaf = n && n->op == &hd__graph_leaf_op;
    if (leaf && r->counted) {
        n->outstanding = n->mark == mark ? n->outstanding + 1 : 1;
        n->mark = mark;
    }
    if (!n || leaf || n->mark == mark) {
        return true;
    }
    if (r->depth > 1 && !hd__run_set_aside(r, n, true)) { /* an outer run may need n's old mark */
        return false;
    }
    n->mark = mark;
    return hd__run_push(r, n);
}

bool hd__run_reach(run *r, int64_t n_outputs, hd_tensor *const *outputs, uint64_t mark,
                   hd__node ***order, int64_t *n)
{
    int64_t cap = 0;
    bool ok = true;
    for (int64_t i = 0; i < n_outputs && ok; i++) {
        hd__edge e;
        ok = hd__edge_of(outputs[i], &e) && queue_once(r, e.node, mark);
        hd__node_release(e.node);
    }
    while (ok && r->len) {
        hd__node *each = hd__run_pop(r);
        for (int i = 0; i < each->n_in && ok; i++) {
            ok = queue_once(r, each->edges[i].node, mark);
        }
        ok = ok && hd__text_grow(order, &cap, *n + 1, sizeof **order);
        if (ok) {
            (*order)[(*n)++] = each;
        }
        hd__node_release(each); /* it lives on, because the outputs hold the graph */
    }
    return ok;
}

/* ---------------------------------------------------------------- captures */

static int by_output(const void *a, const void *b)
{
    const hd__edge *x = &((const hd__run_capture *)a)->at, *y = &((const hd__run_capture *)b)->at;
    uintptr_t p = (uintptr_t)x->node, q = (uintptr_t)y->node;
    return p != q ? (p > q) - (p < q) : (x->output > y->output) - (x->output < y->output);
}

hd__run_capture *hd__run_captured(const run *r, const hd__node *n, uint32_t output)
{
    const hd__run_capture wanted = {.at = {(hd__node *)(uintptr_t)n, output}};
    int64_t first = 0, end = r->n_captures;
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (by_output(&r->captures[middle], &wanted) < 0) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    bool found = first < r->n_captures && by_output(&r->captures[first], &wanted) == 0;
    return found ? &r->captures[first] : NULL;
}

void hd__run_sort_captures(run *r)
{
    qsort(r->captures, (size_t)r->n_captures, sizeof *r->captures, by_output);
}

/* ---------------------------------------------------------------- commits */

hd__run_commit *hd__run_add_commit(hd__run *r)
{
    if (!hd__text_grow(&r->commits, &r->cap_commits, r->n_commits + 1, sizeof *r->commits)) {
        return NULL;
    }
    hd__run_commit *c = &r->commits[r->n_commits++];
    *c = (hd__run_commit){0};
    return c;
}
