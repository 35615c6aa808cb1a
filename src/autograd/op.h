/* op.h - an op, its node in the backward graph, and what a backward function reads of the node. All
 * of autograd and of its ops see these types, so they belong to no file.
 *
 * The result of a recorded op has that op's node as its attachment, and `output` says which of the
 * node's outputs it is. A leaf that requires grad, or did so once, has a leaf node as its
 * attachment, whose op is hd__graph_leaf_op and which holds .grad. Nodes are reference counted:
 * tensors hold them, and so do the edges of later nodes. A node never holds its own output, so
 * there are no cycles. */
#ifndef HEED_AUTOGRAD_OP_H
#define HEED_AUTOGRAD_OP_H

#include "heed/autograd.h"
#include "tensor/tensor_struct.h"

typedef struct hd_ctx hd__node;

/* backward computes dx[], the gradients of the inputs, from dy[], those of the outputs. dy[k] has
 * the shape and dtype of output k; it is zero for an output that no gradient reached. dx[] comes
 * filled with HD_NONE; an entry is wanted only where hd__node_needs(n, i). A call that fails in
 * backward fails all of it, whatever dx[] holds then. dx[i] may have any shape that input i
 * broadcasts to, and any float dtype: the engine sums and casts. backward runs with grad mode off,
 * in a scope of its own. */
typedef struct hd__op {
    const char *name; /* "MulBackward0" */
    void (*backward)(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);
    void (*free)(hd__node *n); /* releases what the params own; NULL: they are plain bytes */
    /* A second backward is refused although this op saves no tensor, because PyTorch saves one. */
    bool once;
    bool fills; /* the caller may ask for infinities, so debug mode does not report them */
    bool parts; /* backward takes NULL for an output that no gradient reached; others get zeros */
    int kind;   /* tells apart the ops that share functions, mostly by the number of a loop */
} hd__op;

/* static const hd__op sin_op = HD__OP("SinBackward0", sin_backward); */
#define HD__OP(text, f) HD__OP_KIND(text, f, 0)
#define HD__OP_KIND(text, f, number)                                                               \
    {                                                                                              \
        .name = (text), .backward = (f), .kind = (number)                                          \
    }

/* Both have 16 bytes, also where pointers have 4. */
typedef struct hd__edge {
    hd__node *node; /* NULL: this input needs no gradient */
    _Alignas(8) uint32_t output;
} hd__edge;

typedef struct hd__node_saved {
    hd_tensor *t;                 /* a detached alias, held; HD_NONE: left out, or freed */
    _Alignas(8) uint32_t version; /* the version of its storage when it was saved */
} hd__node_saved;

typedef struct hd__node_out_meta { /* what the engine knows of an output, and gathers for it */
    uint8_t dtype, ndim;
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *pending; /* the sum of the gradients that arrived so far, held; or NULL */
    struct hd__node_out_extra *extra; /* hooks and retain_grad; NULL where there are none */
} hd__node_out_meta;

enum { HD__ENDED = 1, HD__ENDED_LOSS = 2 };

struct hd_ctx {
    _Alignas(16) atomic_int refs;
    bool complete;      /* everything is filled in; release calls op->free only then */
    bool freed;         /* saved tensors are gone: a second backward is an error */
    uint8_t queued;     /* the depth of the run that it waits or runs in; 0: none (backward.h) */
    bool requires_grad; /* of a leaf node; false after hd_requires_grad_(x, false) */
    bool saved_apart;   /* saved is a block of its own (users' ops) */
    bool failed;        /* of a user's op: its last backward failed */
    bool grad_given;    /* grad is from hd_set_grad: backward does not write to it */
    atomic_uchar ended; /* HD__ENDED: a backward that keeps no graph has run it, or begun here */
    const hd__op *op;
    uint64_t seq;  /* larger than that of every input, and than that of the thread's last node */
    uint64_t mark; /* of the last run that marked nodes and came by (grad_of.c, backward_end.c) */
    int32_t n_in, n_saved, n_out;
    int32_t outstanding;     /* of a leaf that a run counted: edges that it has not passed yet */
    hd__edge *edges;         /* n_in */
    hd__node_saved *saved;   /* n_saved */
    hd__node_out_meta *outs; /* n_out */
    void *params;            /* the op's own bytes, copied when it was recorded; 16-byte aligned */
    hd_tensor *grad;         /* of a leaf node: .grad, held; or NULL */
    struct hd_ctx *inner;    /* of CopySlices: the node of the op that changed the view */
    struct hd_ctx *next;     /* in the list of nodes that are being released */
    const char *made_by, *made_in; /* in debug mode: the call that recorded it; NULL: unknown */
};

typedef struct hd__node_hook {
    int64_t id;
    hd_hook f;
    void *user;
    struct hd__node_hook *next;
} hd__node_hook;

/* What a non-leaf has for its .grad. It goes with the tensor to its next node; a backward that has
 * a gradient for it holds it too. */
typedef struct hd__node_own_grad {
    atomic_int refs;
    bool retain_grad;
    bool grad_given;
    hd_tensor *grad; /* held; or NULL */
} hd__node_own_grad;

typedef struct hd__node_out_extra {
    hd__node_hook *hooks;   /* in the order of registration */
    hd__node_own_grad *own; /* held; NULL: nothing asked for a .grad yet */
} hd__node_out_extra;

/* Leaves have the first op; users' ops have the second, and their names come from their tables. */
extern const hd__op hd__graph_leaf_op;
extern const hd__op hd__graph_user_op;

/* The name of n's op, which is a user's: its params begin with a pointer to it. */
static inline const char *hd__node_user_name(const hd__node *n)
{
    return (*(const hd_op *const *)n->params)->name;
}

/* ---------------------------------------------------------------- recording */

/* One recorded call. Unset fields are zero. */
typedef struct hd__record_args {
    int64_t n_in;
    hd_tensor *const *in; /* the op's differentiable inputs; HD_NONE where one is left out */
    int n_saved;
    hd_tensor *const *saved; /* what backward needs; HD_NONE where it does not; never y: save_y */
    bool save_y;             /* saves y itself, as a detached alias, after the others */
    bool saved_is_old;       /* x of a change in place was saved as it was: backward refuses it */
    const void *params;      /* copied into the node */
    size_t params_size;
} hd__record_args;

#define HD__IN(n, xs) .n_in = (n), .in = (xs)
#define HD__SAVES(n, xs) .n_saved = (n), .saved = (xs)
#define HD__PARAMS(p) .params = &(p), .params_size = sizeof(p)

enum { HD__FEW = 16 }; /* arrays for up to so many inputs lie on the stack */

/* ---------------------------------------------------------------- in backward functions */

static inline bool hd__node_needs(const hd__node *n, int i)
{
    return n->edges[i].node;
}

/* The i-th saved tensor, owned by the node. The engine has checked all of them. */
static inline hd_tensor *hd__node_saved_get(const hd__node *n, int i)
{
    return n->saved[i].t;
}

static inline const void *hd__node_params(const hd__node *n)
{
    return n->params;
}

/* Does a gradient go to any input? None goes to a view that was taken while grad mode was off,
 * although that view says that it requires grad. */
static inline bool hd__node_any_edge(const hd__node *n)
{
    bool any = false;
    for (int i = 0; i < n->n_in && !any; i++) {
        any = n->edges[i].node;
    }
    return any;
}

/* What the graph knows of input i: its shape and dtype. Only where hd__node_needs(n, i). */
static inline const hd__node_out_meta *hd__node_input_meta(const hd__node *n, int i)
{
    return &n->edges[i].node->outs[n->edges[i].output];
}

#endif
