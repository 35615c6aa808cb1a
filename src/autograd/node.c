/* node.c - makes, shares and releases nodes of the graph.
 *
 * A node is one block of memory: the struct, then its edges, saved tensors, outputs and params. A
 * node that is freed may drop the last references to the nodes of its inputs. A loop frees those
 * nodes from a list, without recursion, so a graph may have any depth. */
#include "autograd/history.h"
#include "autograd/node.h"
#include "tensor/lifecycle.h"

_Static_assert(sizeof(hd__node) % 16 == 0 && sizeof(hd__edge) == 16 && sizeof(hd__node_saved) == 16,
               "every part of a node's block begins at a multiple of 16 bytes");

static HD__TLS uint64_t last_seq; /* the seq of this thread's last node */

/* ---------------------------------------------------------------- making */

/* Gives n a seq above that of this thread's last node and that of every input. An input may come
 * from another thread. */
static inline void stamp(hd__node *n)
{
    uint64_t seq = last_seq + 1;
    for (int i = 0; i < n->n_in; i++) {
        const hd__node *input = n->edges[i].node;
        seq = input && input->seq >= seq ? input->seq + 1 : seq;
    }
    n->seq = last_seq = seq;
}

void hd__node_stamp(hd__node *n)
{
    stamp(n);
}

/* Returns a node with empty edges, saved tensors and outputs, so that the caller can release it at
 * any time; NULL with an error if memory runs out. Sets each field by itself, because clearing the
 * whole block would take longer than all other work for a node. */
static inline hd__node *empty_node(const hd__op *op, int n_in, int n_saved, int n_out,
                                   size_t params_size)
{
    size_t rows = ((size_t)n_in + (size_t)n_saved) * 16;
    size_t outs = ((size_t)n_out * sizeof(hd__node_out_meta) + 15) & ~(size_t)15;
    hd__node *n = hd_alloc(sizeof *n + rows + outs + params_size);
    if (!n) {
        return NULL;
    }
    atomic_init(&n->refs, 1);
    n->complete = n->freed = n->requires_grad = false;
    n->saved_apart = n->failed = n->grad_given = false;
    n->queued = 0;
    atomic_init(&n->ended, 0);
    n->op = op;
    n->mark = 0;
    n->grad = NULL;
    n->inner = n->next = NULL;
    n->made_by = NULL;
    n->n_in = n_in;
    n->n_saved = n_saved;
    n->n_out = n_out;
    n->edges = (hd__edge *)(n + 1);
    n->saved = (hd__node_saved *)(n->edges + n_in);
    n->outs = (hd__node_out_meta *)(n->saved + n_saved);
    n->params = (char *)n->outs + outs;
    for (int i = 0; i < n_in; i++) {
        n->edges[i] = (hd__edge){NULL, 0};
    }
    for (int i = 0; i < n_saved; i++) {
        n->saved[i].t = HD_NONE;
    }
    for (int k = 0; k < n_out; k++) {
        n->outs[k].ndim = 0;
        n->outs[k].pending = NULL;
        n->outs[k].extra = NULL;
    }
    return n;
}

static inline bool save_tensor(hd__node_saved *slot, hd_tensor *t,
                               const hd__tensor_storage *changing)
{
    slot->t = hd__tensor_is_none(t) ? HD_NONE : hd__tensor_alias_held(t);
    slot->version =
        hd__tensor_is_none(t) ? 0 : hd__tensor_storage_version(t) + (t->storage == changing);
    return slot->t;
}

hd__node *hd__node_new(const hd__op *op, const hd__record_args *a, int n_out, hd_tensor *const *ys,
                       const hd__tensor_storage *changing)
{
    hd__node *n = empty_node(op, (int)a->n_in, a->n_saved + a->save_y, n_out, a->params_size);
    if (!n) {
        return NULL;
    }
    bool ok = true;
    for (int i = 0; a->in && i < n->n_in && ok; i++) {
        ok = hd__tensor_is_none(a->in[i]) || hd__edge_of(a->in[i], &n->edges[i]);
    }
    stamp(n);
    for (int i = 0; i < n->n_saved && ok; i++) {
        ok = save_tensor(&n->saved[i], i < a->n_saved ? a->saved[i] : ys[0], changing);
    }
    if (!ok) {
        hd__node_release(n);
        return NULL;
    }
    if (a->params_size) {
        memcpy(n->params, a->params, a->params_size);
    }
    for (int k = 0; ys && k < n_out; k++) {
        hd__node_describe_output(n, k, ys[k]);
    }
    n->complete = true;
    if (ys && hd__event_listening()) {
        n->made_by = hd__call;
        n->made_in = hd__debug_module;
    }
    return n;
}

/* ---------------------------------------------------------------- in messages */

const char *hd__node_name(const hd__node *n, char text[64])
{
    if (n->op != &hd__graph_user_op) {
        return n->op->name;
    }
    snprintf(text, 64, "%sBackward", hd__node_user_name(n));
    return text;
}

const char *hd__node_call_text(const char *by, const char *in, char text[200])
{
    snprintf(text, 200, "%s%s%.150s", by, in ? " in " : "", in ? in : "");
    return text;
}

const char *hd__node_places(const hd__node *n, const hd__tensor_storage *s, char text[500])
{
    char saved[200], changed[200];
    const char *by = s->release ? s->changed_by : NULL;
    text[0] = '\0';
    if (n->made_by && by) {
        snprintf(text, 500, "; %s saved it, and %s changed it",
                 hd__node_call_text(n->made_by, n->made_in, saved),
                 hd__node_call_text(by, s->changed_in, changed));
    } else if (!hd__event_watching()) {
        snprintf(
            text, 500,
            ". Call hd_set_debug(true) at the start to see the calls that saved and changed it");
    }
    return text;
}

bool hd__node_index_ok(const char *what, int i, int n)
{
    return (i >= 0 && i < n) ||
           hd_fail(HD_INDEX, "%s %d of a node that has %d: expected 0 to %d", what, i, n, n - 1);
}

/* ---------------------------------------------------------------- release */

void hd__node_free_saved(hd__node *n)
{
    atomic_store_explicit(&n->ended, HD__ENDED, memory_order_relaxed);
    n->freed |= n->op->once && hd__node_any_edge(n);
    for (int i = 0; i < n->n_saved; i++) {
        n->freed |= !hd__tensor_is_none(n->saved[i].t);
        hd__tensor_drop(n->saved[i].t);
        n->saved[i].t = HD_NONE;
    }
    if (n->inner) {
        hd__node_free_saved(n->inner);
    }
}

void hd__node_own_grad_drop(hd__node_own_grad *k)
{
    if (k && hd__refs_down(&k->refs)) {
        hd__tensor_drop(k->grad);
        hd_free(k);
    }
}

static void free_extra(hd__node_out_extra *e)
{
    if (!e) {
        return;
    }
    for (hd__node_hook *h = e->hooks, *next; h; h = next) {
        next = h->next;
        hd_free(h);
    }
    hd__node_own_grad_drop(e->own);
    hd_free(e);
}

/* Drops one reference to n, which may be NULL. If it was the last one, puts n on the list of nodes
 * to be freed. */
static void give_up(hd__node *n, hd__node **list)
{
    if (n && hd__refs_down(&n->refs)) {
        n->next = *list;
        *list = n;
    }
}

static void free_node(hd__node *n, hd__node **list)
{
    if (n->complete && n->op->free) {
        n->op->free(n);
    }
    for (int i = 0; i < n->n_in; i++) {
        give_up(n->edges[i].node, list);
    }
    hd__node_free_saved(n);
    if (n->saved_apart) {
        hd_free(n->saved);
    }
    for (int k = 0; k < n->n_out; k++) {
        hd__tensor_drop(n->outs[k].pending);
        free_extra(n->outs[k].extra);
    }
    hd__tensor_drop(n->grad);
    give_up(n->inner, list);
    hd_free(n);
}

void hd__node_release(hd__node *n)
{
    hd__node *list = NULL;
    give_up(n, &list);
    while (list) {
        hd__node *each = list;
        list = each->next;
        free_node(each, &list);
    }
}

/* ---------------------------------------------------------------- debuggers */

const hd_debug_node_layout_table hd_debug_node_layout = {
    .size = sizeof(hd_debug_node_layout_table),
    .op = offsetof(hd__node, op),
    .op_name = offsetof(hd__op, name),
    .params = offsetof(hd__node, params),
    .user_name = offsetof(hd_op, name),
    .requires_grad = offsetof(hd__node, requires_grad),
    .grad = offsetof(hd__node, grad),
    .n_in = offsetof(hd__node, n_in),
    .n_out = offsetof(hd__node, n_out),
    .edges = offsetof(hd__node, edges),
    .edge_size = sizeof(hd__edge),
    .edge_node = offsetof(hd__edge, node),
    .outs = offsetof(hd__node, outs),
    .out_size = sizeof(hd__node_out_meta),
    .out_ndim = offsetof(hd__node_out_meta, ndim),
    .out_sizes = offsetof(hd__node_out_meta, sizes),
};
