/* op.h - the types of the graph: an op, its node, and the functions with which a backward reads its
 * node. Every file of autograd uses them.
 *
 * The result of a recorded op is a tensor whose attachment is the op's node, and whose `output` is
 * the number of the node's output. A leaf has a leaf node as its attachment once it has required
 * grad or got a .grad from hd_set_grad. The op of a leaf node is hd__graph_leaf_op, and the node
 * holds .grad. Nodes are reference counted: tensors and the edges of later nodes hold them. A node
 * never holds its own output, so the graph has no cycles. */
#ifndef HEED_AUTOGRAD_OP_H
#define HEED_AUTOGRAD_OP_H

#include "heed/autograd.h"
#include "tensor/tensor_struct.h"

typedef struct hd_ctx hd__node;

/* backward computes the gradients dx[] of the inputs from the gradients dy[] of the outputs. dy[k]
 * has the shape and dtype of output k; its elements are 0 if no gradient reached that output. At
 * the start, every dx[i] is HD_NONE. backward sets dx[i] for each i with hd__node_needs(n, i).
 * dx[i] may have any shape that input i broadcasts to, and any float dtype: the engine sums and
 * casts. If a call inside backward fails, the whole run fails, and dx[] is ignored. backward runs
 * with grad mode off and in a scope of its own. */
typedef struct hd__op {
    const char *name; /* "MulBackward0" */
    void (*backward)(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);
    void (*free)(hd__node *n); /* frees memory that the params own; NULL if they own none */
    /* true: a second backward is an error although the op saves no tensor, because PyTorch's op
     * saves one */
    bool once;
    /* true: debug mode ignores infinities in the result, because they may be on purpose */
    bool fills;
    bool parts; /* true: dy[k] is NULL, not zeros, for an output that no gradient reached */
    /* distinguishes ops that share a backward function; mostly the number of a loop (HDK_...) */
    int kind;
} hd__op;

/* Used like this: static const hd__op sin_op = HD__OP("SinBackward0", sin_backward); */
#define HD__OP(text, f) HD__OP_KIND(text, f, 0)
#define HD__OP_KIND(text, f, number)                                                               \
    {                                                                                              \
        .name = (text), .backward = (f), .kind = (number)                                          \
    }

/* An edge leads to the node of an input. An edge and a saved tensor take 16 bytes each, even where
 * pointers have 4 bytes. */
typedef struct hd__edge {
    hd__node *node;              /* NULL if this input needs no gradient */
    _Alignas(8) uint32_t output; /* the input is this output of `node` */
} hd__edge;

typedef struct hd__node_saved {
    /* a detached alias, which the node holds; HD_NONE if backward needs no tensor here, or after
     * hd__node_free_saved */
    hd_tensor *t;
    _Alignas(8) uint32_t version; /* the version of t's storage when t was saved */
} hd__node_saved;

typedef struct hd__node_out_meta { /* one output: its shape, and its gradient during a run */
    uint8_t dtype, ndim;
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *pending; /* the sum of the gradients that have arrived, held by the node; or NULL */
    struct hd__node_out_extra *extra; /* hooks, and the .grad of a non-leaf; or NULL */
} hd__node_out_meta;

enum { HD__ENDED = 1, HD__ENDED_LOSS = 2 }; /* values of hd__node's field `ended` */

struct hd_ctx {
    _Alignas(16) atomic_int refs;
    bool complete; /* true once all fields are set; before, release does not call op->free */
    bool freed;    /* true after hd__node_free_saved, if a second backward is then an error */
    /* the depth (run.h) of the run that has this node in its heap or runs it now; 0 if none does */
    uint8_t queued;
    bool requires_grad; /* leaf node only: the `on` of the last hd_requires_grad_; false before */
    /* user's op only: `saved` is a separate block of memory, which release frees */
    bool saved_apart;
    bool failed; /* user's op only: its last backward failed */
    /* leaf node only: grad came from hd_set_grad, so backward must not write to it */
    bool grad_given;
    /* 0 before a backward without retain_graph; afterwards HD__ENDED or, if the backward began at
     * this node and warnings are on, HD__ENDED_LOSS */
    atomic_uchar ended;
    const hd__op *op;
    /* the order of creation: larger than the seq of each input and of the thread's previous node */
    uint64_t seq;
    uint64_t mark; /* the last mark that a run set here (hd__run_marks); 0 if none did */
    int32_t n_in, n_saved, n_out;
    /* leaf node only: the number of edges to it that the run has not handled yet
     * (backward_end.c) */
    int32_t outstanding;
    hd__edge *edges;         /* n_in elements */
    hd__node_saved *saved;   /* n_saved elements */
    hd__node_out_meta *outs; /* n_out elements */
    void *params;            /* a copy of the op's own arguments; 16-byte aligned */
    hd_tensor *grad;         /* leaf node only: .grad, held by the node; or NULL */
    struct hd_ctx *inner;    /* CopySlices only: the node of the op that changed the view */
    struct hd_ctx *next;     /* next node in the list that hd__node_release frees */
    /* the call and the module that recorded the node; NULL without debug mode, a trace or a
     * profile */
    const char *made_by, *made_in;
};

typedef struct hd__node_hook {
    int64_t id;
    hd_hook f;
    void *user;
    struct hd__node_hook *next;
} hd__node_hook;

/* The .grad of a tensor that is not a leaf. A change in place of the tensor moves this struct to
 * the tensor's new node. The struct is reference counted, because a run that will write the .grad
 * holds the struct, too. */
typedef struct hd__node_own_grad {
    atomic_int refs;
    bool retain_grad; /* hd_retain_grad was called */
    bool grad_given;  /* grad came from hd_set_grad */
    hd_tensor *grad;  /* held; or NULL */
} hd__node_own_grad;

typedef struct hd__node_out_extra {
    hd__node_hook *hooks;   /* in the order of registration */
    hd__node_own_grad *own; /* held here; NULL until the user asks for a .grad */
} hd__node_out_extra;

/* The op of every leaf node, and the op of every node of a user's op. */
extern const hd__op hd__graph_leaf_op;
extern const hd__op hd__graph_user_op;

/* Returns the name of the user's op of node n. n's params begin with a pointer to the hd_op. */
static inline const char *hd__node_user_name(const hd__node *n)
{
    return (*(const hd_op *const *)n->params)->name;
}

/* ---------------------------------------------------------------- recording */

/* One recorded call. Unset fields are zero. */
typedef struct hd__record_args {
    int64_t n_in;
    hd_tensor *const *in; /* the op's differentiable inputs; HD_NONE for one that is left out */
    int n_saved;
    /* the tensors that backward reads, never the result y; HD_NONE for one that it does not need */
    hd_tensor *const *saved;
    bool save_y; /* true: saves the result y as well, after the tensors of `saved` */
    /* in-place op only; true: backward needs x's elements from before the change, so backward fails
     * if x itself is in `saved` */
    bool saved_is_old;
    const void *params; /* the op's own arguments, to be copied into the node */
    size_t params_size;
} hd__record_args;

#define HD__IN(n, xs) .n_in = (n), .in = (xs)
#define HD__SAVES(n, xs) .n_saved = (n), .saved = (xs)
#define HD__PARAMS(p) .params = &(p), .params_size = sizeof(p)

enum { HD__FEW = 16 }; /* arrays of at most HD__FEW tensors lie on the stack */

/* ---------------------------------------------------------------- in backward functions */

/* True if input i needs a gradient. */
static inline bool hd__node_needs(const hd__node *n, int i)
{
    return n->edges[i].node;
}

/* Returns saved tensor i, which n owns. The engine has checked its version. */
static inline hd_tensor *hd__node_saved_get(const hd__node *n, int i)
{
    return n->saved[i].t;
}

/* Returns n's copy of the params of hd__record_args. */
static inline const void *hd__node_params(const hd__node *n)
{
    return n->params;
}

/* True if any input of n needs a gradient. An input that is a view taken while grad mode was off
 * needs none, although hd_requires_grad is true for it. */
static inline bool hd__node_any_edge(const hd__node *n)
{
    bool any = false;
    for (int i = 0; i < n->n_in && !any; i++) {
        any = n->edges[i].node;
    }
    return any;
}

/* Returns the shape and dtype of input i. The caller has checked hd__node_needs(n, i). */
static inline const hd__node_out_meta *hd__node_input_meta(const hd__node *n, int i)
{
    return &n->edges[i].node->outs[n->edges[i].output];
}

#endif
