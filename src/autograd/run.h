/* run.h - the data of one run of the engine (run.c). hd_backward makes a run that writes .grad;
 * hd_grad_of makes one that captures gradients. backward.h begins and ends a run.
 *
 * A hook, or the backward of a user's op, may start an inner run. As in PyTorch, both runs may
 * reach the same leaves: the inner run sets the outer one's sum at a leaf aside and puts it back at
 * its end. It must not reach any other node where the outer run has gradients waiting
 * (HD_STATE). */
#ifndef HEED_AUTOGRAD_RUN_H
#define HEED_AUTOGRAD_RUN_H

#include "autograd/op.h"
#include "tensor/lifecycle.h"

typedef struct hd__run_commit { /* at the end of the run, value is added to *slot, a .grad */
    /* retained, so that *slot exists; NULL if an earlier commit retains it */
    hd__node *n;
    hd__node_own_grad *own;   /* held; *slot lies in it. NULL if n is a leaf */
    hd_tensor **slot, *value; /* value is held */
    bool *given;              /* true if the user gave the present *slot */
    bool in_place;            /* value is added into *slot's memory; otherwise it replaces *slot */
    bool gives;               /* value came from hd_set_backward_grad */
} hd__run_commit;

/* A gradient that hd_grad_of returns: the sum at one output of a node. A leaf's gradients are
 * summed here, in `value`. The run writes nothing to the leaf itself, because other threads may
 * compute gradients of it. */
typedef struct hd__run_capture {
    hd__edge at;      /* retained */
    int64_t input;    /* index among the caller's inputs */
    hd_tensor *value; /* held; NULL if no gradient has arrived yet */
} hd__run_capture;

typedef struct hd__run_aside { /* fields of n that an inner run puts back when it ends */
    hd__node *n;               /* retained */
    hd_tensor *pending;        /* the outer run's sum at a leaf, held; else NULL */
    uint8_t queued;            /* 0 if only the mark is put back */
    uint64_t mark;
} hd__run_aside;

typedef struct hd__run {
    const char *seed;  /* for messages: the name of the argument that the run starts from */
    uint8_t depth;     /* 1, or 2 in a run inside another one, and so on */
    bool retain_graph; /* keeps saved tensors for another run */
    bool accumulate;   /* hd_backward: writes .grad of leaves and of tensors with retain_grad */
    hd__node **heap;   /* nodes at which gradients wait, retained */
    int64_t len, cap;
    hd__run_commit *commits;
    int64_t n_commits, cap_commits;
    hd__run_capture *captures; /* owned by hd_grad_of; sorted for hd__run_captured */
    int64_t n_captures;
    /* only nodes with this mark run, those on paths to captures; 0 if all nodes run */
    uint64_t mark;
    uint64_t counted; /* mark of leaves whose edges are counted (backward_end.c), or 0 */
    hd__run_aside *asides;
    int64_t n_asides, cap_asides;
    struct hd__run *outer; /* the run inside which this one runs, or NULL */
    bool outer_grad_mode;
} hd__run;

/* The innermost run of this thread, or NULL. */
extern HD__TLS hd__run *hd__run_innermost;

/* Puts n on the heap and retains it. */
bool hd__run_push(hd__run *r, hd__node *n);
/* Takes the youngest node from the heap; the caller releases it. */
hd__node *hd__run_pop(hd__run *r);

/* Two marks that no run has used before: the result, and the result + 1. */
uint64_t hd__run_marks(void);
/* Collects all nodes, except leaves, that can be reached from the outputs into *order, the youngest
 * first, and sets *n to their number. Marks each, and the leaves if r counts them. The caller frees
 * *order. */
bool hd__run_reach(hd__run *r, int64_t n_outputs, hd_tensor *const *outputs, uint64_t mark,
                   hd__node ***order, int64_t *n);

/* Moves n's pending sum and `queued` aside until r ends. With mark_only, stores only n's mark. */
bool hd__run_set_aside(hd__run *r, hd__node *n, bool mark_only);
/* Undoes hd__run_set_aside, for all nodes. */
void hd__run_put_back(hd__run *r);

/* The first capture at this output of n, or NULL if there is none. The others follow it
 * directly. */
hd__run_capture *hd__run_captured(const hd__run *r, const hd__node *n, uint32_t output);
/* Sorts the captures by node and output, as hd__run_captured needs them. */
void hd__run_sort_captures(hd__run *r);

/* Appends a commit whose fields are zero. NULL if memory runs out. */
hd__run_commit *hd__run_add_commit(hd__run *r);

/* ---------------------------------------------------------------- gradients on their way */

/* Sets *slot to t, and holds t. False if t is NULL, because its computation failed. */
static inline bool hd__run_slot_set(hd_tensor **slot, hd_tensor *t)
{
    if (t) {
        hd_tensor *before = *slot;
        *slot = hd__tensor_hold(t);
        hd__tensor_drop(before);
    }
    return t;
}

/* g, or an alias of g without a graph. The user's code may return a recorded tensor: its graph
 * would stay alive with the gradient. It may also return the borrowed gradient that it was passed:
 * the alias has no HD__F_LENT. */
static inline hd_tensor *hd__run_detached_gradient(hd_tensor *g)
{
    if (!g->attachment && !(g->flags & HD__F_LENT)) {
        return g;
    }
    g = hd__tensor_alias_of(g);
    if (g) {
        g->flags &= (uint8_t)~HD__F_LENT;
    }
    return g;
}

#endif
