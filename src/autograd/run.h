/* run.h - a run of the engine, of hd_backward or of hd_grad_of, which captures gradients: what it
 * holds (run.c). backward.h begins and ends one.
 *
 * A hook, or the backward of a user's op, may start another run. Both may share leaves, as in
 * PyTorch: what the outer run has gathered at a leaf is set aside until the inner one has ended.
 * Any other node where the outer run has gradients waits for these, so the inner run must not come
 * to it (HD_STATE). */
#ifndef HEED_AUTOGRAD_RUN_H
#define HEED_AUTOGRAD_RUN_H

#include "autograd/op.h"
#include "tensor/lifecycle.h"

typedef struct hd__commit { /* value, held, is on its way to a .grad, *slot */
    hd__node *n;            /* retained, so that *slot stays; NULL: an earlier commit has it */
    hd__own_grad *own;      /* of a non-leaf, held: *slot is in it; else NULL */
    hd_tensor **slot, *value;
    bool *given;   /* is what *slot has the caller's? */
    bool in_place; /* value is added to *slot; else it takes its place */
    bool gives;    /* value is the caller's, of hd_set_backward_grad */
} hd__commit;

/* For hd_grad_of: what arrives at an output of a node. A leaf's gradients add up here, in `value`,
 * and the run writes nothing to the leaf itself: other threads may compute gradients of it. */
typedef struct hd__capture {
    hd__edge at;      /* retained */
    int64_t input;    /* which of the caller's inputs this is */
    hd_tensor *value; /* held; NULL: nothing has arrived yet */
} hd__capture;

typedef struct hd__aside { /* what an inner run puts back into n, retained, when it ends */
    hd__node *n;
    hd_tensor *pending; /* of a leaf where the outer run has a gradient, held; else NULL */
    uint8_t queued;     /* 0 where only the mark is put back */
    uint64_t mark;
} hd__aside;

typedef struct hd__run {
    const char *seed;  /* what the function calls the tensor that it begins with */
    uint8_t depth;     /* 1; 2 in a run that was called from another one, and so on */
    bool retain_graph; /* saved tensors stay for another run */
    bool accumulate;   /* leaves, and tensors with retain_grad, get their .grad */
    hd__node **heap;   /* the nodes that gradients wait at, retained */
    int64_t len, cap;
    hd__commit *commits;
    int64_t n_commits, cap_commits;
    hd__capture *captures; /* the caller's, sorted (hd__run_captured) */
    int64_t n_captures;
    uint64_t mark;    /* only nodes with this mark run: those on a path to a capture; 0: all run */
    uint64_t counted; /* of leaves whose edges were counted (backward_end.c); 0: of none */
    hd__aside *asides;
    int64_t n_asides, cap_asides;
    struct hd__run *outer; /* the run that this one was called from; or NULL */
    bool outer_grad_mode;
} hd__run;

extern HD__TLS hd__run
    *hd__run_innermost; /* of the runs that this thread is in; NULL: it is in none */

/* The heap: push retains the node; pop hands that count out with the youngest node. */
bool hd__run_push(hd__run *r, hd__node *n);
hd__node *hd__run_pop(hd__run *r);

/* Marks for nodes, which no run has used: the one that is returned, and the next one. */
uint64_t hd__run_marks(void);
/* Every node that can be reached from the outputs, but for leaves, once each, the youngest first,
 * into *order, of which there are *n. They get the mark, and so do leaves that r counts. */
bool hd__run_reach(hd__run *r, int64_t n_outputs, hd_tensor *const *outputs, uint64_t mark,
                   hd__node ***order, int64_t *n);

/* Keeps what n has now, pending and queued or (mark_only) its mark alone, until r ends. */
bool hd__run_set_aside(hd__run *r, hd__node *n, bool mark_only);
void hd__run_put_back(hd__run *r); /* that */

/* The first of the captures at this output of n, which stand side by side; NULL: there is none. */
hd__capture *hd__run_captured(const hd__run *r, const hd__node *n, uint32_t output);
/* Sorts the captures by node and output, for that. */
void hd__run_sort_captures(hd__run *r);

/* One more value on its way to a .grad, whose fields are zero; NULL if memory runs out. */
hd__commit *hd__run_add_commit(hd__run *r);

/* ---------------------------------------------------------------- gradients on their way */

/* *slot = t, held; t is NULL when it could not be made. */
static inline bool hd__slot_set(hd_tensor **slot, hd_tensor *t)
{
    if (t) {
        hd_tensor *before = *slot;
        *slot = hd__hold(t);
        hd__drop(before);
    }
    return t;
}

/* A gradient that the user's code recorded would keep its graph, and that may hold the gradient. So
 * this gives an alias without a graph. What was lent to the user's code, and comes back, is a
 * gradient like any other. */
static inline hd_tensor *hd__detached_gradient(hd_tensor *g)
{
    if (!g->attachment && !(g->flags & HD__F_LENT)) {
        return g;
    }
    g = hd__alias_of(g);
    if (g) {
        g->flags &= (uint8_t)~HD__F_LENT;
    }
    return g;
}

#endif
