/* backward.h - one run of the engine: of hd_backward, or of hd_grad_of, which captures gradients.
 *
 * A run begins, is given its first gradients, walks the graph, and ends:
 *   ok = hd__run_begin(&r);
 *   ok = ok && hd__run_seed(&r, y, grad);             for each y, in one scope
 *   ok = hd__run_end(&r, ok && hd__run_walk(&r));     if it began
 *
 * A hook, or the backward of a user's op, may start another run. Both may share leaves, as in
 * PyTorch: what the outer run has gathered at a leaf is set aside until the inner one has ended.
 * Any other node where the outer run has gradients waits for these, so the inner run must not come
 * to it (HD_STATE). */
#ifndef HEED_AUTOGRAD_BACKWARD_H
#define HEED_AUTOGRAD_BACKWARD_H

#include "autograd/autograd_internal.h"

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

/* The heap: push retains the node; pop hands that count out with the youngest node. */
bool hd__run_push(hd__run *r, hd__node *n);
hd__node *hd__run_pop(hd__run *r);

/* The first of the captures at this output of n, which stand side by side; NULL: there is none. */
hd__capture *hd__run_captured(const hd__run *r, const hd__node *n, uint32_t output);

extern HD__TLS hd__run
    *hd__run_innermost; /* of the runs that this thread is in; NULL: it is in none */
bool hd__run_begin(hd__run *r);
/* Marks for nodes, which no run has used: the one that is returned, and the next one. */
uint64_t hd__run_marks(void);
/* Every node that can be reached from the outputs, but for leaves, once each, the youngest first,
 * into *order, of which there are *n. They get the mark, and so do leaves that r counts. */
bool hd__run_reach(hd__run *r, int64_t n_outputs, hd_tensor *const *outputs, uint64_t mark,
                   hd__node ***order, int64_t *n);
/* Keeps what n has now, pending and queued or (mark_only) its mark alone, until r ends. */
bool hd__run_set_aside(hd__run *r, hd__node *n, bool mark_only);
/* The gradient that y starts with: grad, or a one for HD_NONE. Made in the current scope. */
bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad);
bool hd__run_walk(hd__run *r);
/* ok: nothing has failed so far. Then the leaves get their gradients, all of them or, on failure,
 * none. Frees what the run holds. */
bool hd__run_end(hd__run *r, bool ok);

/* ---------------------------------------------------------------- the end (backward_end.c) */

/* The run is about to write y's gradients to leaves. Counts the edges that lead to each leaf, if
 * this thread has a function for the end of backwards: only that can gain from hooks of leaves that
 * run early. */
bool hd__run_count(hd__run *r, hd_tensor *y);
/* Calls that function. r NULL: the call had failed before its run began. Returns whether all is
 * well. */
bool hd__run_call_end(hd__run *r, bool ok);

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
hd_tensor *hd__detached_gradient(hd_tensor *g);

/* For hd_grad_of: where the gradients for that output of n add up. NULL: nothing that is asked for
 * needs them. */
hd_tensor **hd__run_wanted_sum(const hd__run *r, hd__node *n, uint32_t output);

/* Closes a scope in which something failed: the user's code may have closed it already, and opened
 * another one there. */
void hd__close_if_open(hd_scope *scope);

/* All gradients have arrived at output k of n: its hooks run, and what wants the gradient gets it
 * (output.c). */
bool hd__run_finish_output(hd__run *r, hd__node *n, int k);

/* One more value on its way to a .grad, whose fields are zero; NULL if memory runs out. */
hd__commit *hd__run_add_commit(hd__run *r);
/* The gradient of output k of n shall come to its .grad. */
bool hd__run_commit_output(hd__run *r, hd__node *n, int k, bool leaf);
/* Applies all commits, or drops them all. */
bool hd__run_end_commits(hd__run *r, bool ok);

#endif
