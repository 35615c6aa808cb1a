/* node.h - makes, shares and releases nodes (node.c), attaches them to tensors, and names them in
 * messages. */
#ifndef HEED_AUTOGRAD_NODE_H
#define HEED_AUTOGRAD_NODE_H

#include "autograd/op.h"
#include "base/memory/refs.h"

/* Returns a new node for one call of op, with edges to the nodes of the inputs. If args->in is
 * NULL, the caller sets the edges and calls hd__node_stamp. If ys is NULL, the caller describes the
 * outputs. `changing` is the storage whose version the call is about to raise, or NULL. Returns
 * NULL if memory runs out or an input can no longer be used (hd__graph_refresh_view). The caller
 * then still owns everything that the params own. */
hd__node *hd__node_new(const hd__op *op, const hd__record_args *args, int n_out,
                       hd_tensor *const *ys, const hd__tensor_storage *changing);
void hd__node_stamp(hd__node *n);   /* sets n->seq, after the caller has set the edges */
void hd__node_release(hd__node *n); /* n may be NULL; does not recurse */
/* Frees n's saved tensors. A second backward then fails if n had any, or if n has edges and its op
 * is `once`. */
void hd__node_free_saved(hd__node *n);

void hd__node_own_grad_drop(hd__node_own_grad *k); /* k may be NULL */

static inline hd__node *hd__node_retain(hd__node *n)
{
    if (n) {
        hd__refs_up(&n->refs);
    }
    return n;
}

/* Sets the dtype and sizes of output k to those of x. Copies all HD_MAX_DIMS sizes, because a copy
 * of a constant length is fast. */
static inline void hd__node_describe_output(hd__node *n, int k, const hd_tensor *x)
{
    n->outs[k].dtype = x->dtype;
    n->outs[k].ndim = x->ndim;
    memcpy(n->outs[k].sizes, x->sizes, sizeof x->sizes);
}

extern const hd__tensor_attachment_ops hd__graph_attachment;

/* Makes x the given output of n. Takes over one of the caller's references to n. */
static inline void hd__node_attach(hd_tensor *x, hd__node *n, uint32_t output)
{
    if (x->attachment) {
        hd__node_release(x->attachment);
    } else {
        x->attachment_ops = &hd__graph_attachment;
    }
    x->attachment = n;
    x->output = output;
}

/* ---------------------------------------------------------------- in messages */

/* Returns n's name, such as "MulBackward0". For a user's op Exp, writes "ExpBackward" into text and
 * returns text. */
const char *hd__node_name(const hd__node *n, char text[64]);
/* Writes the call `by` into text, such as "hd_log". If module `in` is not NULL, adds its name:
 * "hd_log in GPT.blocks.0". Returns text. */
const char *hd__node_call_text(const char *by, const char *in, char text[200]);
/* Writes into text the end of the message about a saved tensor of n whose storage s was changed:
 * the two calls, if both are known ("; hd_exp saved it, and hd_mul_ changed it"). Otherwise writes
 * how to turn on debug mode, or "" if debug mode is on already. Returns text. */
const char *hd__node_places(const hd__node *n, const hd__tensor_storage *s, char text[500]);

/* Returns false with HD_INDEX unless 0 <= i < n. `what` is the name of the items for the message,
 * such as "input". */
bool hd__node_index_ok(const char *what, int i, int n);

#endif
