/* node.h - making, sharing and releasing nodes (node.c), and attaching them to tensors. */
#ifndef HEED_AUTOGRAD_NODE_H
#define HEED_AUTOGRAD_NODE_H

#include "autograd/op.h"
#include "base/memory/refs.h"

/* A node for one call of op, attached to nothing yet, with edges to the nodes of the inputs. Where
 * args->in is NULL the edges are empty: the caller fills them in and stamps the node. The outputs
 * are described as ys; where that is NULL, the caller describes them. `changing` is the storage
 * whose version the call is about to bump, or NULL. Returns NULL with an error on failure; what the
 * params own is then still the caller's. */
hd__node *hd__node_new(const hd__op *op, const hd__record_args *args, int n_out,
                       hd_tensor *const *ys, const hd__storage *changing);
void hd__node_stamp(hd__node *n);   /* sets seq, after the edges were written */
void hd__node_release(hd__node *n); /* takes NULL; without recursion */
void hd__node_free_saved(hd__node *n);

void hd__own_grad_drop(hd__own_grad *k); /* takes NULL */

static inline hd__node *hd__node_retain(hd__node *n)
{
    if (n) {
        hd__refs_up(&n->refs);
    }
    return n;
}

/* Output k is x, or like x. Copying all sizes, used or not, is a copy of a size that is known. */
static inline void hd__describe_output(hd__node *n, int k, const hd_tensor *x)
{
    n->outs[k].dtype = x->dtype;
    n->outs[k].ndim = x->ndim;
    memcpy(n->outs[k].sizes, x->sizes, sizeof x->sizes);
}

extern const hd__attachment_ops hd__attachment;

/* x becomes that output of n, which takes over one count of n. */
static inline void hd__attach(hd_tensor *x, hd__node *n, uint32_t output)
{
    if (x->attachment) {
        hd__node_release(x->attachment);
    } else {
        x->attachment_ops = &hd__attachment;
    }
    x->attachment = n;
    x->output = output;
}

/* ---------------------------------------------------------------- in messages */

const char *hd__node_name(const hd__node *n, char text[64]);
/* "hd_log" or "hd_log in GPT.blocks.0" */
const char *hd__call_text(const char *by, const char *in, char text[200]);
/* For a version error of what n saved in s: "; hd_exp saved it, and hd_mul_ changed it". */
const char *hd__node_places(const hd__node *n, const hd__storage *s, char text[500]);

/* Is i from 0 to n - 1? Else HD_INDEX: "hd_node_input: input 2 of 2: expected 0 to 1". */
bool hd__index_ok(const char *what, int i, int n);

#endif
