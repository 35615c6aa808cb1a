/* autograd_internal.h - nodes of the backward graph, and the one function that writes them.
 *
 * A tensor that is the result of a recorded op has attachment = its node and output = which of the
 * node's outputs it is. A leaf that requires grad (or ever did) has attachment = a leaf node, whose
 * op is hd__leaf_op and which holds .grad. Nodes are reference counted: by tensors and by the edges
 * of later nodes; a node never holds its own output, so there are no cycles. */
#ifndef HEED_AUTOGRAD_INTERNAL_H
#define HEED_AUTOGRAD_INTERNAL_H

#include "heed/autograd.h"
#include "tensor/tensor_internal.h"

typedef struct hd_ctx hd__node;

/* dy[k]: the gradient of output k, of its shape and dtype (of a single-output op never NULL; of
 * others NULL where none arrived). dx[] comes filled with HD_NONE; give an entry only where
 * hd__needs(n, i); a NULL left there fails backward. dx may be of any shape that broadcasting of
 * input i gives, and of any float dtype: the engine sums and casts. Runs with grad mode off, in a
 * scope of its own. */
typedef struct hd__op {
    const char *name; /* "MulBackward0" */
    void (*backward)(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);
    void (*free)(hd__node *n); /* releases what params hold besides bytes; or NULL */
} hd__op;

typedef struct hd__edge {
    hd__node *node; /* NULL: this input needs no gradient */
    uint32_t output;
} hd__edge;

typedef struct hd__saved {
    hd_tensor *t;     /* a detached alias, held; NULL: freed; HD_NONE: left out */
    uint32_t version; /* the storage's, when it was saved */
} hd__saved;

typedef struct hd__out_meta { /* what the engine knows of an output, and gathers for it */
    uint8_t dtype, ndim;
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *pending;          /* the sum of the gradients that arrived so far, held */
    struct hd__out_extra *extra; /* hooks, retain_grad; NULL mostly */
} hd__out_meta;

struct hd_ctx {
    _Alignas(16) atomic_int refs;
    bool freed;         /* saved tensors are gone: a second backward is an error */
    bool queued;        /* the engine's: gradients are pending */
    bool requires_grad; /* leaf nodes: false after requires_grad_(x, false) */
    bool borrows;       /* edges are another node's: not released with this one */
    bool saved_apart;   /* saved is a block of its own (users' ops) */
    const hd__op *op;
    uint64_t seq;  /* larger than every input's, and than the thread's last */
    uint64_t mark; /* the engine's: the run that last saw this node */
    int32_t n_in, n_saved, n_out;
    hd__edge *edges;      /* n_in */
    hd__saved *saved;     /* n_saved */
    hd__out_meta *outs;   /* n_out */
    void *params;         /* the op's own bytes, copied at record; 16-byte aligned */
    hd_tensor *grad;      /* leaf nodes: .grad, held; or NULL */
    struct hd_ctx *inner; /* CopySlices: the op's own node, which borrows this one's edges */
    struct hd_ctx *next;  /* in the list of nodes that are being released */
};

typedef struct hd__hook {
    int64_t id;
    hd_hook f;
    void *user;
    struct hd__hook *next;
} hd__hook;

typedef struct hd__out_extra {
    hd__hook *hooks; /* in the order of registration */
    bool retain_grad;
    hd_tensor *grad; /* of a non-leaf with retain_grad, held; or NULL */
} hd__out_extra;

/* ---------------------------------------------------------------- recording */

/* One recorded call. Unset fields are zero. */
typedef struct hd__record_args {
    int64_t n_in;
    hd_tensor *const *in; /* the op's differentiable inputs; HD_NONE allowed */
    int n_saved;
    hd_tensor *const
        *saved;         /* what backward needs, HD_NONE where not; never y itself: see y_saved */
    bool save_y;        /* saves y (a detached alias of it) behind the others */
    const void *params; /* copied */
    size_t params_size;
} hd__record_args;

/* Writes the graph: y is the result of op on in[]. Returns y, untouched when grad mode is off or no
 * input needs a gradient; NULL when y is NULL or memory runs out (NULL inputs are the caller's to
 * refuse before it computes). A y of an integer dtype stays unrecorded. */
hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *args);

/* For views: y is an alias of x made by hd__alias; sets y's base and records. Call it always, as
 * the base must be known in and out of grad mode. */
hd_tensor *hd__record_view(const hd__op *op, hd_tensor *y, hd_tensor *x, const void *params,
                           size_t params_size);

/* For ops with several outputs. */
bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys,
                      const hd__record_args *args);

/* The same for views of x (split, unbind). */
bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size);

/* In-place ops: first hd__inplace_ok, then everything that needs memory, then hd__record_inplace,
 * which bumps the version and rewrites x's history (and its base's) or fails and changes nothing;
 * last the change itself, which cannot fail. in[0] must be x. saved may hold x (as it will be). */
bool hd__inplace_ok(const char *function, hd_tensor *x, int n_in, hd_tensor *const *in);
hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *args);

/* Would an op on these record? For saving only what is needed:
 *   saved = {hd__wants_grad(b) ? a : HD_NONE, ...} */
bool hd__wants_grad(const hd_tensor *x);
bool hd__any_wants_grad(int64_t n, hd_tensor *const *xs);
static inline hd_tensor *hd__save_if(bool needed, hd_tensor *x)
{
    return needed ? x : HD_NONE;
}

/* ---------------------------------------------------------------- in backward functions */

static inline bool hd__needs(const hd__node *n, int i)
{
    return n->edges[i].node;
}
/* The i-th saved tensor: owned by the node; NULL with HD_GRAD set if it was changed in place. */
hd_tensor *hd__saved_get(hd__node *n, int i);
static inline const void *hd__params(const hd__node *n)
{
    return n->params;
}

/* What the graph knows of input i: its shape and dtype. Only where hd__needs(n, i). */
static inline const hd__out_meta *hd__input_meta(const hd__node *n, int i)
{
    return &n->edges[i].node->outs[n->edges[i].output];
}

/* ---------------------------------------------------------------- nodes */

extern const hd__op hd__leaf_op;
extern const hd__op hd__as_strided_op; /* of a view whose base was changed in place */
extern const hd__attachment_ops hd__attachment;

/* A node with room for everything; the edges of `in` are filled in (retained; NULL: empty). */
hd__node *hd__node_new(const hd__op *op, int n_in, hd_tensor *const *in, int n_saved, int n_out,
                       size_t params_size);
/* The node of one call with all that it keeps, not yet attached to anything; NULL: an error.
 * changing: the storage whose version the op is about to bump, or NULL. */
hd__node *hd__call_node(const hd__op *op, int n_out, hd_tensor *const *ys, const hd__record_args *a,
                        const hd__storage *changing);
void hd__node_stamp(hd__node *n);   /* its seq, after its edges were written */
void hd__node_release(hd__node *n); /* takes NULL; without recursion */
static inline hd__node *hd__node_retain(hd__node *n)
{
    if (n) {
        hd__refs_up(&n->refs);
    }
    return n;
}

/* Output k is x, or like x. All sizes are copied, meant or not: as one block of a known size. */
static inline void hd__describe_output(hd__node *n, int k, const hd_tensor *x)
{
    n->outs[k].dtype = x->dtype;
    n->outs[k].ndim = x->ndim;
    memcpy(n->outs[k].sizes, x->sizes, sizeof x->sizes);
}

/* Was x's base changed in place since x's node was made? (A view taken while grad mode was off
 * stays outside the graph, whatever its base becomes.) */
static inline bool hd__stale(const hd_tensor *x)
{
    return x->base && !(x->flags & HD__F_NO_GRAD_VIEW) &&
           atomic_load_explicit(&x->view_version, memory_order_acquire) != hd__storage_version(x);
}

static inline bool hd__attached_grad(const hd_tensor *x)
{
    const hd__node *n = x->attachment;
    return n && (n->op != &hd__leaf_op || n->requires_grad);
}

static inline bool hd__stale_in_graph(const hd_tensor *x)
{
    return hd__stale(x) && hd__attached_grad(x->base);
}

static inline bool hd__requires_grad(const hd_tensor *x)
{
    return hd__stale_in_graph(x) || hd__attached_grad(x);
}

/* Where x's gradient goes: a retained node, or {NULL, 0} when x requires none. *fail becomes true,
 * with an error that names who, without memory or for an output of split whose base was changed.
 * Does not look at grad mode. */
hd__edge hd__edge_of(const char *who, const hd_tensor *x, bool *fail);
/* Gives a view whose base was changed in place since its new node, if it is part of the graph. */
bool hd__refresh_view(const char *who, const hd_tensor *x);
/* A view's node on that of its base (taken over); NULL: an error that names who. */
hd__node *hd__view_node(const char *who, const hd_tensor *x, hd__node *base, uint32_t output);
/* retain_grad follows x to its new node; other hooks stay with the old value. First the memory. */
bool hd__retain_room(const hd_tensor *x, hd__node *to);
void hd__replace_node(hd_tensor *x, hd__node *to, uint32_t version); /* takes over to */
/* The extra of x's output, made if it is not there yet; NULL: out of memory. */
hd__out_extra *hd__extra_of(hd_tensor *x);
void hd__attach(hd_tensor *x, hd__node *n, uint32_t output); /* takes over one count of n */
void hd__node_free_saved(hd__node *n);
const char *hd__node_name(const hd__node *n, char text[64]);

/* Where a base or a view lies in their common storage; for gradients through strided parts. */
typedef struct hd__geometry {
    int ndim;
    int64_t sizes[HD_MAX_DIMS], strides[HD_MAX_DIMS], offset;
} hd__geometry;

hd__geometry hd__geometry_of(const hd_tensor *x);
/* Undefined values laid out as g; and what lies in `whole`, laid out as base, where part does. */
hd_tensor *hd__empty_in(const hd__geometry *g, int dtype);
hd_tensor *hd__part_in(const hd_tensor *whole, const hd__geometry *base, const hd__geometry *part);

/* x[index...]; errors name `function`. */
hd_tensor *hd__getitem(const char *function, hd_tensor *x, int n, const int64_t *index);

extern const hd__op hd__user_op; /* users' ops: the name comes from their table */
extern HD__TLS bool hd__grad_mode_on;

/* For the benefit of arrays on the stack: more inputs than this go to the heap. */
enum { HD__FEW = 16 };

#endif
