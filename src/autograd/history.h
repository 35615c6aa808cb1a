/* history.h - records views and changes in place in the graph. The first comment of history.c
 * explains the ideas. */
#ifndef HEED_AUTOGRAD_HISTORY_H
#define HEED_AUTOGRAD_HISTORY_H

#include "autograd/grad.h"
#include "autograd/node.h"

/* Turns y, which hd__tensor_alias made from x, into a view of x, and records it. Every view is made
 * here, even while grad mode is off, so that its base is known. Returns y, or NULL if y is NULL or
 * hd__node_new fails. */
hd_tensor *hd__record_view(const hd__op *op, hd_tensor *y, hd_tensor *x, const void *params,
                           size_t params_size);
/* Turns the n_out aliases ys[] of x into views of x, and records them as the outputs of one node
 * (split, chunk, unbind). No recorded op can change such a view in place. Returns false with an
 * error if hd__node_new fails. */
bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size);

/* An in-place op takes four steps. It calls hd__graph_inplace_ok, which returns false with an error
 * if x must not be changed. It allocates all memory. It calls hd__record_inplace, which raises x's
 * version and gives new nodes to x and its base; on failure, it returns NULL with an error and has
 * changed nothing. Last, the op changes x's elements, which cannot fail. in[0] must be x. If x is
 * among the saved tensors, backward expects x's new elements. */
bool hd__graph_inplace_ok(hd_tensor *x, int n_in, hd_tensor *const *in);
hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *args);

/* Gives x a new node if it is a stale view in the graph. Returns false with HD_GRAD if x can get no
 * node: an output of split, chunk or unbind, a view taken while grad mode was off, or a view of a
 * parameter that hd_module_to has converted since. */
bool hd__graph_refresh_view(const hd_tensor *x);

extern const hd__op hd__graph_as_strided_op; /* the op of a refreshed view's node */

/* Sets *e to the node and output to which x's gradient goes, and retains the node for the caller.
 * The node is NULL if x requires no grad. Grad mode does not matter. Returns false with an error
 * only if hd__graph_refresh_view does. */
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
