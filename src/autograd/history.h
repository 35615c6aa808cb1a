/* history.h - how views and changes in place record themselves (history.c, which begins with an
 * explanation of all of this). */
#ifndef HEED_AUTOGRAD_HISTORY_H
#define HEED_AUTOGRAD_HISTORY_H

#include "autograd/grad.h"
#include "autograd/node.h"

/* Makes y, an alias of x by hd__tensor_alias, a view of x, and records it. Every view must be made
 * by this, in and out of grad mode, because its base must be known. Returns the result of
 * hd__record. */
hd_tensor *hd__record_view(const hd__op *op, hd_tensor *y, hd_tensor *x, const void *params,
                           size_t params_size);
/* The same for several views of x by one op (split, unbind). */
bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size);

/* An in-place op calls hd__graph_inplace_ok first. Then it does everything that needs memory, and
 * then calls hd__record_inplace, which bumps x's version and rewrites the history of x and its
 * base, or fails and changes nothing. The change itself comes last and cannot fail. in[0] must be
 * x; saved may hold x, which then means its new value. */
bool hd__graph_inplace_ok(hd_tensor *x, int n_in, hd_tensor *const *in);
hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *args);

/* Gives a stale view its new node if its base is part of the graph. False with an error if memory
 * runs out, for an output of split, for a view that was taken while grad mode was off, or for one
 * whose base lies elsewhere now. */
bool hd__graph_refresh_view(const hd_tensor *x);

extern const hd__op hd__graph_as_strided_op; /* of a view that was stale */

/* *e becomes the place where x's gradient goes: a retained node, or none when x requires no
 * gradient. Grad mode does not matter. False where hd__graph_refresh_view fails, with its error. */
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
