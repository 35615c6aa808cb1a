/* grad.h - what the node of a tensor says of it: does it require grad, is it a leaf, and where is
 * its .grad? (grad.c) */
#ifndef HEED_AUTOGRAD_GRAD_H
#define HEED_AUTOGRAD_GRAD_H

#include "autograd/op.h"

/* x's leaf node; NULL when x has none. */
static inline hd__node *hd__leaf_node(const hd_tensor *x)
{
    hd__node *n = x->attachment;
    return n && n->op == &hd__leaf_op ? n : NULL;
}

/* What warnings need to know of a leaf node's .grad. */
static inline hd__grad_use *hd__leaf_use(hd__node *leaf)
{
    return leaf->params;
}

/* The extra of x's output; or NULL. */
static inline hd__out_extra *hd__extra_of(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n ? n->outs[x->output].extra : NULL;
}

/* What the node of x, no leaf, has for x's .grad; or NULL. */
static inline hd__own_grad *hd__own_grad_in(const hd_tensor *x)
{
    hd__out_extra *extra = hd__extra_of(x);
    return extra ? extra->own : NULL;
}

/* Does the node that x has now pass gradients on? */
static inline bool hd__attached_grad(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n && (n->op != &hd__leaf_op || n->requires_grad);
}

/* Was x's base changed in place after x got its node? */
static inline bool hd__stale(const hd_tensor *x)
{
    return x->base &&
           atomic_load_explicit(&x->view_version, memory_order_acquire) != hd__storage_version(x);
}

/* Is x stale, and part of the graph? A view of a leaf stays in the graph when the leaf stops
 * requiring grad: it has a node of its own. Another thread may replace that node at any time, so
 * this asks what no thread changes: whether x ever got one. */
static inline bool hd__stale_in_graph(const hd_tensor *x)
{
    return hd__stale(x) &&
           (hd__attached_grad(x->base) || (x->attachment_ops && !(x->flags & HD__F_LEAF)));
}

/* As in PyTorch, a view of what requires grad says that it does, even if it was taken while grad
 * mode was off. Such a view has no node, and no gradient comes from it. */
static inline bool hd__requires_grad(const hd_tensor *x)
{
    /* While x is stale, another thread may give it a new node (hd__refresh_view). */
    return hd__stale_in_graph(x) || hd__attached_grad(x) || (x->base && hd__attached_grad(x->base));
}

/* Does x require grad? Otherwise sets HD_GRAD. */
bool hd__grad_required(const hd_tensor *x);

/* The part of x.grad = g that can fail. *held becomes an alias of g, held by the caller, or NULL
 * for HD_NONE, and x gets a place for it. */
bool hd__hold_grad(hd_tensor *x, hd_tensor *g, hd_tensor **held);

#endif
