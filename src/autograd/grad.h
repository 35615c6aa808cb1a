/* grad.h - reads facts about a tensor from its node: whether it requires grad, whether it is a
 * leaf, and where its .grad is (grad.c). */
#ifndef HEED_AUTOGRAD_GRAD_H
#define HEED_AUTOGRAD_GRAD_H

#include "autograd/op.h"

/* Returns x's node if it is a leaf node; otherwise NULL. */
static inline hd__node *hd__graph_leaf_node(const hd_tensor *x)
{
    hd__node *n = x->attachment;
    return n && n->op == &hd__graph_leaf_op ? n : NULL;
}

/* Returns the struct in which a leaf node records how its .grad was written and used. The warnings
 * of src/diagnose read it. */
static inline hd__tensor_grad_use *hd__graph_leaf_use(hd__node *leaf)
{
    return leaf->params;
}

/* Returns the struct with x's hooks and, if x is not a leaf, its .grad; NULL if x has none. */
static inline hd__node_out_extra *hd__graph_extra_of(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n ? n->outs[x->output].extra : NULL;
}

/* Returns the struct with the .grad of a non-leaf x. NULL if x is a leaf or has no such struct. */
static inline hd__node_own_grad *hd__graph_own_grad_in(const hd_tensor *x)
{
    hd__node_out_extra *extra = hd__graph_extra_of(x);
    return extra ? extra->own : NULL;
}

/* True if x has a node, unless it is the node of a leaf that does not require grad. */
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
 * any time. So this function does not read x's node, but only attachment_ops, which stays set once
 * x has had a node. */
static inline bool hd__graph_stale_in_graph(const hd_tensor *x)
{
    return hd__graph_stale(x) &&
           (hd__graph_attached_grad(x->base) || (x->attachment_ops && !(x->flags & HD__F_LEAF)));
}

/* True if x requires grad. As in PyTorch, every view of a tensor that requires grad requires grad,
 * even if it was taken while grad mode was off. Such a view has no node, so no gradient goes
 * through it to its base. */
static inline bool hd__graph_requires_grad(const hd_tensor *x)
{
    /* Asks first whether x is stale. If it is, another thread may be replacing its node now, so the
     * node must not be read. */
    return hd__graph_stale_in_graph(x) || hd__graph_attached_grad(x) ||
           (x->base && hd__graph_attached_grad(x->base));
}

/* Returns true if x requires grad, and false with HD_GRAD otherwise. */
bool hd__graph_grad_required(const hd_tensor *x);

/* Does the part of x.grad = g that may fail. Makes a place for x's .grad, and sets *held to an
 * alias of g, which the caller stores or releases. If g is HD_NONE, only checks x, and *held stays
 * NULL. Returns false with an error on failure. */
bool hd__graph_hold_grad(hd_tensor *x, hd_tensor *g, hd_tensor **held);

#endif
