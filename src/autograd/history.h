/* history.h - records views and changes in place in the graph. The first comment of history.c
 * explains the ideas. */
#ifndef HEED_AUTOGRAD_HISTORY_H
#define HEED_AUTOGRAD_HISTORY_H

#include "autograd/grad.h"
#include "autograd/node.h"

/* Makes y a view of x and records it as the result of op. y is an alias of x that hd__tensor_alias
 * has made. Every view is made here, even while grad mode is off, so that its base is known.
 * Returns NULL if y is NULL or hd__record fails. */
hd_tensor *hd__record_view(const hd__op *op, hd_tensor *y, hd_tensor *x, const void *params,
                           size_t params_size);
/* Makes each of the n_out aliases ys[] of x a view of x, and records them as the outputs of one
 * node, for split, chunk and unbind. No recorded op can change such a view in place. False if
 * hd__record_multi fails. */
bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size);

/* An in-place op takes four steps. First hd__graph_inplace_ok checks that x may be changed. Then
 * the op allocates all memory that it needs. Then it calls hd__record_inplace. Last it changes x's
 * elements, which cannot fail.
 *
 * in[] and args->in are the op's n_in inputs, and the first one must be x. hd__record_inplace
 * raises the version of x's storage, gives new nodes to x and its base, and returns x; or it
 * returns NULL and changes nothing. If x is among the saved tensors, backward expects its new
 * elements. */
bool hd__graph_inplace_ok(hd_tensor *x, int n_in, hd_tensor *const *in);
hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *args);

/* Gives x a new node if it is a view whose node is out of date, because its base was changed in
 * place. Fails if memory runs out. Fails with HD_GRAD if x cannot get a new node: if it is an
 * output of split, chunk or unbind, a view taken while grad mode was off, or a view of a parameter
 * that hd_module_to has converted since. */
bool hd__graph_refresh_view(const hd_tensor *x);

extern const hd__op hd__graph_as_strided_op; /* the op of the node that a refreshed view gets */

/* Sets *e to the node and output to which the gradient of x goes, and retains the node. Sets
 * e->node to NULL if x does not require grad. Grad mode does not matter. Fails only if
 * hd__graph_refresh_view(x) fails. */
static inline bool hd__edge_of(const hd_tensor *x, hd__edge *e)
{
    *e = (hd__edge){NULL, 0};
    if (HD__UNLIKELY(hd__graph_stale_in_graph(x)) && !hd__graph_refresh_view(x)) {
        return false;
    }
    if (hd__graph_attached_grad(x)) {
        *e = (hd__edge){hd__node_retain(x->attachment), x->output};
    }
    return true;
}

#endif
