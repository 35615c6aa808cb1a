/* node.h - makes, shares and releases nodes (node.c), attaches them to tensors, and names them in
 * messages. */
#ifndef HEED_AUTOGRAD_NODE_H
#define HEED_AUTOGRAD_NODE_H

#include "autograd/op.h"
#include "base/memory/refs.h"

/* Returns a new node for one call of op, whose outputs are ys[0] to ys[n_out - 1]. Its edges lead
 * to the nodes of the inputs. If args->in is NULL, the edges are empty, and the caller sets them
 * and then calls hd__node_stamp. If ys is NULL, the caller describes the outputs. `changing` is the
 * storage that the call is about to change in place, or NULL: a tensor in it is saved with the
 * version after the change. Returns NULL if memory runs out, or if an input can no longer be used
 * (hd__graph_refresh_view). The caller then still owns the memory that the params own. */
hd__node *hd__node_new(const hd__op *op, const hd__record_args *args, int n_out,
                       hd_tensor *const *ys, const hd__tensor_storage *changing);
void hd__node_stamp(hd__node *n);   /* sets n->seq, which must exceed that of all inputs */
void hd__node_release(hd__node *n); /* drops one reference; n may be NULL; does not recurse */
/* Frees n's saved tensors. Sets n->freed, so that a second backward fails, if there were any or if
 * op->once is set. */
void hd__node_free_saved(hd__node *n);

void hd__node_own_grad_drop(hd__node_own_grad *k); /* drops one reference; k may be NULL */

static inline hd__node *hd__node_retain(hd__node *n)
{
    if (n) {
        hd__refs_up(&n->refs);
    }
    return n;
}

/* Sets the dtype and sizes of n's output k to those of x. Copies all HD_MAX_DIMS sizes, because a
 * copy of a constant length is fast. */
static inline void hd__node_describe_output(hd__node *n, int k, const hd_tensor *x)
{
    n->outs[k].dtype = x->dtype;
    n->outs[k].ndim = x->ndim;
    memcpy(n->outs[k].sizes, x->sizes, sizeof x->sizes);
}

extern const hd__tensor_attachment_ops hd__graph_attachment;

/* Makes x the output number `output` of n. Takes over one of the caller's references to n. */
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

/* Returns n's name, such as "MulBackward0". For a user's op Exp it is "ExpBackward", and lies in
 * text. */
const char *hd__node_name(const hd__node *n, char text[64]);
/* Writes the call `by` and the module `in`, if it is not NULL, into text, and returns text: "hd_log
 * in GPT.blocks.0". */
const char *hd__node_call_text(const char *by, const char *in, char text[200]);
/* Writes the end of the error message for a saved tensor of n that was changed in place, and
 * returns text. s is the tensor's storage. In debug mode the text is "; hd_exp saved it, and
 * hd_mul_ changed it"; otherwise it tells how to get that text. */
const char *hd__node_places(const hd__node *n, const hd__tensor_storage *s, char text[500]);

/* True if 0 <= i < n; otherwise fails with HD_INDEX. The message calls the item `what`, such as
 * "input". */
bool hd__node_index_ok(const char *what, int i, int n);

#endif
