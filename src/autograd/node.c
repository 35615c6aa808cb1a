/* node.c - nodes of the graph: made, shared, freed; and what a tensor's attachment means.
 *
 * A node is one block: itself, its edges, saved tensors, outputs and the op's parameters. Releasing
 * the last holder of a long chain frees it node by node from a list, never by recursion. */
#include "autograd/autograd_internal.h"

HD__TLS bool hd__grad_mode_on = true;

static HD__TLS uint64_t last_seq; /* of this thread's nodes */

static void nothing(hd__node *n, hd_tensor *const *dy, hd_tensor **dx)
{
    (void)n, (void)dy, (void)dx;
}

const hd__op hd__leaf_op = {.name = "AccumulateGrad", .backward = nothing};

_Static_assert(sizeof(hd__node) % 16 == 0 && sizeof(hd__edge) == 16 && sizeof(hd__saved) == 16,
               "what lies behind each other in a node's block is aligned");

/* Later than the thread's last node and than every input's, whichever thread made that. */
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

static inline hd__edge edge_of(const char *who, const hd_tensor *x, bool *fail)
{
    hd__edge e = {NULL, 0};
    if (HD__UNLIKELY(hd__stale_in_graph(x)) && !hd__refresh_view(who, x)) {
        *fail = true;
    } else if (hd__attached_grad(x)) {
        e.node = hd__node_retain(x->attachment);
        e.output = x->output;
    }
    return e;
}

hd__edge hd__edge_of(const char *who, const hd_tensor *x, bool *fail)
{
    return edge_of(who, x, fail);
}

/* Field by field: clearing it as a block takes longer than all the rest of making a node. */
static void blank(hd__node *n, const hd__op *op)
{
    atomic_init(&n->refs, 1);
    n->freed = n->queued = n->requires_grad = n->borrows = n->saved_apart = false;
    n->op = op;
    n->mark = 0;
    n->grad = NULL;
    n->inner = n->next = NULL;
}

hd__node *hd__node_new(const hd__op *op, int n_in, hd_tensor *const *in, int n_saved, int n_out,
                       size_t params_size)
{
    size_t rows = ((size_t)n_in + (size_t)n_saved) * 16;
    size_t outs = ((size_t)n_out * sizeof(hd__out_meta) + 15) & ~(size_t)15;
    hd__node *n = hd_alloc(sizeof *n + rows + outs + params_size);
    if (!n) {
        return NULL;
    }
    blank(n, op);
    n->n_in = n_in;
    n->n_saved = n_saved;
    n->n_out = n_out;
    n->edges = (hd__edge *)(n + 1);
    n->saved = (hd__saved *)(n->edges + n_in);
    n->outs = (hd__out_meta *)(n->saved + n_saved);
    n->params = (char *)n->outs + outs;
    for (int i = 0; i < n_saved; i++) {
        n->saved[i].t = NULL;
    }
    for (int k = 0; k < n_out; k++) {
        n->outs[k].ndim = 0;
        n->outs[k].pending = NULL;
        n->outs[k].extra = NULL;
    }
    bool fail = false;
    for (int i = 0; i < n_in; i++) {
        bool none = !in || hd__is_none(in[i]);
        n->edges[i] = none ? (hd__edge){NULL, 0} : edge_of(op->name, in[i], &fail);
    }
    stamp(n);
    if (fail) {
        n->op = &hd__leaf_op; /* no params yet: nothing for the op to free */
        hd__node_release(n);
        return NULL;
    }
    return n;
}

/* ---------------------------------------------------------------- release */

void hd__node_free_saved(hd__node *n)
{
    for (int i = 0; i < n->n_saved; i++) {
        n->freed |= n->saved[i].t && !hd__is_none(n->saved[i].t);
        hd__drop(n->saved[i].t);
        n->saved[i].t = NULL;
    }
    if (n->inner) {
        hd__node_free_saved(n->inner);
    }
}

static void free_extra(hd__out_extra *e)
{
    if (!e) {
        return;
    }
    for (hd__hook *h = e->hooks, *next; h; h = next) {
        next = h->next;
        hd_free(h);
    }
    hd__drop(e->grad);
    hd_free(e);
}

/* Drops one holder; puts the node on the list when it was the last. */
static void drop(hd__node *n, hd__node **list)
{
    if (n && hd__refs_down(&n->refs)) {
        n->next = *list;
        *list = n;
    }
}

static void free_node(hd__node *n, hd__node **list)
{
    if (n->op->free) {
        n->op->free(n);
    }
    for (int i = 0; i < n->n_in && !n->borrows; i++) {
        drop(n->edges[i].node, list);
    }
    hd__node_free_saved(n);
    if (n->saved_apart) {
        hd_free(n->saved);
    }
    for (int k = 0; k < n->n_out; k++) {
        hd__drop(n->outs[k].pending);
        free_extra(n->outs[k].extra);
    }
    hd__drop(n->grad);
    drop(n->inner, list);
    hd_free(n);
}

void hd__node_release(hd__node *n)
{
    hd__node *list = NULL;
    drop(n, &list);
    while (list) {
        hd__node *each = list;
        list = each->next;
        free_node(each, &list);
    }
}

/* ---------------------------------------------------------------- attachment */

static void release_attachment(void *node)
{
    hd__node_release(node);
}

const char *hd__node_name(const hd__node *n, char text[64])
{
    if (n->op != &hd__user_op) {
        return n->op->name;
    }
    const hd_op *op = *(const hd_op *const *)n->params;
    snprintf(text, 64, "%sBackward", op->name);
    return text;
}

void hd__attach(hd_tensor *x, hd__node *n, uint32_t output)
{
    if (x->attachment) {
        hd__node_release(x->attachment);
    }
    x->attachment = n;
    x->attachment_ops = &hd__attachment;
    x->output = output;
}

/* What PyTorch prints for a view that may not be used any more is Invalid. */
static void describe(const hd_tensor *x, char *text, size_t size)
{
    char name[64];
    const hd__node *n = x->attachment;
    if (hd__stale_in_graph(x)) {
        bool lost = x->flags & HD__F_MULTI_VIEW;
        snprintf(text, size, "grad_fn=<%s>", lost ? "Invalid" : hd__as_strided_op.name);
    } else if (!hd__attached_grad(x)) {
        snprintf(text, size, "%s", "");
    } else if (n->op == &hd__leaf_op) {
        snprintf(text, size, "requires_grad=True");
    } else {
        snprintf(text, size, "grad_fn=<%s>", hd__node_name(n, name));
    }
}

const hd__attachment_ops hd__attachment = {release_attachment, describe};

hd__out_extra *hd__extra_of(hd_tensor *x)
{
    hd__node *n = x->attachment;
    hd__out_meta *out = &n->outs[x->output];
    if (!out->extra) {
        out->extra = hd__alloc_zeroed(sizeof *out->extra);
    }
    return out->extra;
}
