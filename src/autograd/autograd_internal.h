/* autograd_internal.h - the nodes of the backward graph, and how ops record themselves in it.
 *
 * The result of a recorded op has that op's node as its attachment, and `output` says which of the
 * node's outputs it is. A leaf that requires grad, or did so once, has a leaf node as its
 * attachment, whose op is hd__leaf_op and which holds .grad. Nodes are reference counted: tensors
 * hold them, and so do the edges of later nodes. A node never holds its own output, so there are no
 * cycles. */
#ifndef HEED_AUTOGRAD_INTERNAL_H
#define HEED_AUTOGRAD_INTERNAL_H

#include "base/memory/refs.h"
#include "base/random/bernoulli.h"
#include "base/random/generator.h"
#include "base/random/rng.h"
#include "base/threads/pool.h"
#include "heed/autograd.h"
#include "tensor/access.h"
#include "tensor/copy.h"
#include "tensor/lifecycle.h"
#include "tensor/list.h"
#include "tensor/shape.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

typedef struct hd_ctx hd__node;

/* backward computes dx[], the gradients of the inputs, from dy[], those of the outputs. dy[k] has
 * the shape and dtype of output k; it is zero for an output that no gradient reached. dx[] comes
 * filled with HD_NONE; an entry is wanted only where hd__needs(n, i). A call that fails in backward
 * fails all of it, whatever dx[] holds then. dx[i] may have any shape that input i broadcasts to,
 * and any float dtype: the engine sums and casts. backward runs with grad mode off, in a scope of
 * its own. */
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

typedef struct hd__saved {
    hd_tensor *t;                 /* a detached alias, held; HD_NONE: left out, or freed */
    _Alignas(8) uint32_t version; /* the version of its storage when it was saved */
} hd__saved;

typedef struct hd__out_meta { /* what the engine knows of an output, and gathers for it */
    uint8_t dtype, ndim;
    int64_t sizes[HD_MAX_DIMS];
    hd_tensor *pending;          /* the sum of the gradients that arrived so far, held; or NULL */
    struct hd__out_extra *extra; /* hooks and retain_grad; NULL where there are none */
} hd__out_meta;

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
    uint64_t mark; /* of the last run that marked nodes and came by (grad_of.c, end.c) */
    int32_t n_in, n_saved, n_out;
    int32_t outstanding;  /* of a leaf that a run counted: edges that it has not passed yet */
    hd__edge *edges;      /* n_in */
    hd__saved *saved;     /* n_saved */
    hd__out_meta *outs;   /* n_out */
    void *params;         /* the op's own bytes, copied when it was recorded; 16-byte aligned */
    hd_tensor *grad;      /* of a leaf node: .grad, held; or NULL */
    struct hd_ctx *inner; /* of CopySlices: the node of the op that changed the view */
    struct hd_ctx *next;  /* in the list of nodes that are being released */
    const char *made_by, *made_in; /* in debug mode: the call that recorded it; NULL: unknown */
};

typedef struct hd__hook {
    int64_t id;
    hd_hook f;
    void *user;
    struct hd__hook *next;
} hd__hook;

/* What a non-leaf has for its .grad. It goes with the tensor to its next node; a backward that has
 * a gradient for it holds it too. */
typedef struct hd__own_grad {
    atomic_int refs;
    bool retain_grad;
    bool grad_given;
    hd_tensor *grad; /* held; or NULL */
} hd__own_grad;

typedef struct hd__out_extra {
    hd__hook *hooks;   /* in the order of registration */
    hd__own_grad *own; /* held; NULL: nothing asked for a .grad yet */
} hd__out_extra;

/* ---------------------------------------------------------------- recording (record.c) */

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

/* Writes the graph: y is the result of op on in[]. Returns y, untouched when grad mode is off or no
 * input needs a gradient; NULL when y is NULL or memory runs out. The caller has refused NULL
 * inputs before it computed. A y of an integer dtype stays unrecorded. */
hd_tensor *hd__record(const hd__op *op, hd_tensor *y, const hd__record_args *args);
/* HD__RECORD(&op, y, HD__IN(1, &x), HD__SAVES(2, saved), HD__PARAMS(p)) */
#define HD__RECORD(op, y, ...) hd__record(op, y, &(hd__record_args){__VA_ARGS__})

/* The same for an op with several outputs. */
bool hd__record_multi(const hd__op *op, int n_out, hd_tensor *const *ys,
                      const hd__record_args *args);

/* Would an op on x record? For saving only what is needed:
 *   saved = {hd__save_if(hd__wants_grad(b), a), ...} */
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

/* Is the i-th saved tensor as it was? If it was changed in place, HD_GRAD says so. */
bool hd__saved_ok(const hd__node *n, int i);

/* The i-th saved tensor, owned by the node. The engine has checked all of them. */
static inline hd_tensor *hd__saved_get(const hd__node *n, int i)
{
    return n->saved[i].t;
}

static inline const void *hd__params(const hd__node *n)
{
    return n->params;
}

/* Does a gradient go to any input? None goes to a view that was taken while grad mode was off,
 * although that view says that it requires grad. */
static inline bool hd__any_edge(const hd__node *n)
{
    bool any = false;
    for (int i = 0; i < n->n_in && !any; i++) {
        any = n->edges[i].node;
    }
    return any;
}

/* What the graph knows of input i: its shape and dtype. Only where hd__needs(n, i). */
static inline const hd__out_meta *hd__input_meta(const hd__node *n, int i)
{
    return &n->edges[i].node->outs[n->edges[i].output];
}

/* ---------------------------------------------------------------- the user's code (guest.c) */

/* A call of the user's code by the engine: of a hook, or of the forward or backward of a user's op.
 * It may do what it likes with errors, scopes and grad mode: hd__guest_left looks at all of them.
 * The gradients that it is given must stay as they are, because other gradients and the caller's
 * tensors may lie in the same memory. So until the call has returned, changes in place refuse what
 * lies there; and they refuse for ever the tensors that were given, and aliases of them
 * (HD__F_LENT), which the user's code may keep. */
typedef struct hd__guest {
    const char *call;               /* hd__call around it */
    const hd__node *n;              /* the node whose gradients are lent */
    int64_t hook;                   /* the hook's id; 0: n's own function */
    int n_lent;                     /* gradients */
    hd_tensor *const *lent;         /* held */
    bool grad_mode;                 /* what it is set to again */
    hd_scope *scope;                /* the innermost one before the call, and */
    uint64_t serial;                /* its number */
    uint64_t failures;              /* before the call, not cleared */
    const struct hd__guest *around; /* a guest that this one was called from */
} hd__guest;

extern HD__TLS const hd__guest *hd__guests; /* those that are running on this thread */

/* Fill in what messages and lending need first. A guest that enters must leave. */
void hd__guest_enter(hd__guest *g);
/* Did nothing fail in g's call, or did it clear what failed, and are the scopes as they were?
 * Otherwise an error stands, and what the call gave must not be looked at. */
bool hd__guest_left(hd__guest *g);

/* g as the user's code gets it, in the innermost scope. */
hd_tensor *hd__lend(const hd_tensor *g);

/* Does x share no memory with a gradient that is lent, and is it none that was? Otherwise HD_GRAD
 * names who has it. */
bool hd__lent_fail(const char *arg, const hd_tensor *x);
static inline bool hd__not_lent(const char *arg, const hd_tensor *x)
{
    return !HD__UNLIKELY(hd__guests || x->flags & HD__F_LENT) || hd__lent_fail(arg, x);
}

/* What a call that failed returns: false. If its error was cleared, another one is set. */
bool hd__failed(void);

/* The part of x.grad = g that can fail (grad.c). *held becomes an alias of g, held by the caller,
 * or NULL for HD_NONE, and x gets a place for it. */
bool hd__hold_grad(hd_tensor *x, hd_tensor *g, hd_tensor **held);

/* ---------------------------------------------------------------- kinds of nodes */

/* Leaves have the first op; users' ops have the second, and their names come from their tables. */
extern const hd__op hd__leaf_op;
extern const hd__op hd__user_op;

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

/* ---------------------------------------------------------------- views and changes in place */

/* history.c, which begins with an explanation of all of this. */

/* Makes y, an alias of x by hd__alias, a view of x, and records it. Every view must be made by
 * this, in and out of grad mode, because its base must be known. Returns what hd__record does. */
hd_tensor *hd__record_view(const hd__op *op, hd_tensor *y, hd_tensor *x, const void *params,
                           size_t params_size);
/* The same for several views of x by one op (split, unbind). */
bool hd__record_multi_view(const hd__op *op, int n_out, hd_tensor *const *ys, hd_tensor *x,
                           const void *params, size_t params_size);

/* An in-place op calls hd__inplace_ok first. Then it does everything that needs memory, and then
 * calls hd__record_inplace, which bumps x's version and rewrites the history of x and its base, or
 * fails and changes nothing. The change itself comes last and cannot fail. in[0] must be x; saved
 * may hold x, which then means its new value. */
bool hd__inplace_ok(hd_tensor *x, int n_in, hd_tensor *const *in);
hd_tensor *hd__record_inplace(const hd__op *op, hd_tensor *x, const hd__record_args *args);

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

/* Does x require grad? Otherwise sets HD_GRAD (graph.c). */
bool hd__grad_required(const hd_tensor *x);

/* As in PyTorch, a view of what requires grad says that it does, even if it was taken while grad
 * mode was off. Such a view has no node, and no gradient comes from it. */
static inline bool hd__requires_grad(const hd_tensor *x)
{
    /* While x is stale, another thread may give it a new node (hd__refresh_view). */
    return hd__stale_in_graph(x) || hd__attached_grad(x) || (x->base && hd__attached_grad(x->base));
}

/* Gives a stale view its new node if its base is part of the graph. False with an error if memory
 * runs out, for an output of split, for a view that was taken while grad mode was off, or for one
 * whose base lies elsewhere now. */
bool hd__refresh_view(const hd_tensor *x);

extern const hd__op hd__as_strided_op; /* of a view that was stale */

/* ---------------------------------------------------------------- nodes (node.c) */

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
const char *hd__node_name(const hd__node *n, char text[64]);

void hd__own_grad_drop(hd__own_grad *k); /* takes NULL */

/* The name of n's op, which is a user's: its params begin with a pointer to it. */
static inline const char *hd__user_name(const hd__node *n)
{
    return (*(const hd_op *const *)n->params)->name;
}

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

/* *e becomes the place where x's gradient goes: a retained node, or none when x requires no
 * gradient. Grad mode does not matter. False where hd__refresh_view fails, with its error. */
static inline bool hd__edge_of(const hd_tensor *x, hd__edge *e)
{
    *e = (hd__edge){NULL, 0};
    if (HD__UNLIKELY(hd__stale_in_graph(x)) && !hd__refresh_view(x)) {
        return false;
    }
    if (hd__attached_grad(x)) {
        *e = (hd__edge){hd__node_retain(x->attachment), x->output};
    }
    return true;
}

/* ---------------------------------------------------------------- being told of (graph.c) */

/* y, the result of a call that records nothing (op NULL), or had recorded before it computed, is
 * ready, or NULL. Returns y. */
static inline hd_tensor *hd__told(const hd__op *op, hd_tensor *y, int n_in, hd_tensor *const *in)
{
    if (hd__telling() && y) {
        hd__events->ready(op, y, n_in, in);
    }
    return y;
}

/* "hd_log" or "hd_log in GPT.blocks.0" */
const char *hd__call_text(const char *by, const char *in, char text[200]);
/* For a version error of what n saved in s: "; hd_exp saved it, and hd_mul_ changed it". */
const char *hd__node_places(const hd__node *n, const hd__storage *s, char text[500]);

extern HD__TLS bool hd__grad_mode_on;

/* ---------------------------------------------------------------- odds and ends */

/* Is i from 0 to n - 1? Else HD_INDEX: "hd_node_input: input 2 of 2: expected 0 to 1". */
bool hd__index_ok(const char *what, int i, int n);

enum { HD__FEW = 16 }; /* arrays for up to so many inputs lie on the stack */

#endif
