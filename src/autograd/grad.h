/* grad.h - facts about a tensor that its node holds: whether it requires grad, whether it is a
 * leaf, and where its .grad lies (grad.c). */
#ifndef HEED_AUTOGRAD_GRAD_H
#define HEED_AUTOGRAD_GRAD_H

#include "autograd/op.h"

/* x's leaf node, or NULL. */
static inline hd__node *hd__graph_leaf_node(const hd_tensor *x)
{
    hd__node *n = x->attachment;
    return n && n->op == &hd__graph_leaf_op ? n : NULL;
}

/* The record of how a leaf's .grad was written and used, which warnings read. */
static inline hd__tensor_grad_use *hd__graph_leaf_use(hd__node *leaf)
{
    return leaf->params;
}

/* The hooks and retained gradient of x's output in its node, or NULL. */
static inline hd__node_out_extra *hd__graph_extra_of(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n ? n->outs[x->output].extra : NULL;
}

/* The .grad of x, which is no leaf, in x's node; or NULL. */
static inline hd__node_own_grad *hd__graph_own_grad_in(const hd_tensor *x)
{
    hd__node_out_extra *extra = hd__graph_extra_of(x);
    return extra ? extra->own : NULL;
}

/* True if x has a node now that passes gradients on. */
static inline bool hd__graph_attached_grad(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n && (n->op != &hd__graph_leaf_op || n->requires_grad);
}

/* True if x is a view whose base was changed in place after x got its node. */
static inline bool hd__graph_stale(const hd_tensor *x)
{
    return x->base && atomic_load_explicit(&x->view_version, memory_order_acquire) !=
                          hd__tensor_storage_version(x);
}

/* True if x is stale and part of the graph. A view of a leaf stays in the graph when the leaf stops
 * requiring grad, because the view has a node of its own. Another thread may replace that node at
 * any time, so this reads only whether x ever got one (attachment_ops), which never changes
 * back. */
static inline bool hd__graph_stale_in_graph(const hd_tensor *x)
{
    return hd__graph_stale(x) &&
           (hd__graph_attached_grad(x->base) || (x->attachment_ops && !(x->flags & HD__F_LEAF)));
}

/* As in PyTorch, a view of a tensor that requires grad requires grad, even if the view was taken
 * while grad mode was off. Such a view has no node, and passes no gradient on. */
static inline bool hd__graph_requires_grad(const hd_tensor *x)
{
    /* Staleness first: while x is stale, another thread may be giving it a new node. */
    return hd__graph_stale_in_graph(x) || hd__graph_attached_grad(x) ||
           (x->base && hd__graph_attached_grad(x->base));
}

/* True if x requires grad; otherwise fails with HD_GRAD. */
bool hd__graph_grad_required(const hd_tensor *x);

/* The first half of x.grad = g, which may fail: makes a place for x's .grad, and sets *held to an
 * alias of g that the caller holds. *held stays NULL for HD_NONE. */
bool hd__graph_hold_grad(hd_tensor *x, hd_tensor *g, hd_tensor **held);

#endif
