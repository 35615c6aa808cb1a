/* run.h - the data of a run: one walk of the engine over the graph (run.c). hd_backward makes a run
 * that writes .grad; hd_grad_of makes one that captures the requested gradients and writes no
 * .grad. The functions of backward.h begin and end a run.
 *
 * A hook, or the backward of a user's op, may start an inner run. As in PyTorch, both runs may
 * reach the same leaves: the inner run moves the outer run's sum at such a leaf to its own list,
 * and puts it back when it ends. If the inner run reaches any other node at which gradients of the
 * outer run wait, it fails with HD_STATE. */
#ifndef HEED_AUTOGRAD_RUN_H
#define HEED_AUTOGRAD_RUN_H

#include "autograd/op.h"
#include "tensor/lifecycle.h"

typedef struct hd__run_commit { /* at the end of the run, `value` is added to a .grad, *slot */
    /* the node that holds *slot, retained; NULL if an earlier commit retains it */
    hd__node *n;
    hd__node_own_grad *own;   /* the struct in which *slot lies, held; NULL if n is a leaf */
    hd_tensor **slot, *value; /* value is held */
    bool *given;              /* the flag beside *slot: true if *slot came from hd_set_grad */
    bool in_place; /* value is added in the memory of *slot; otherwise it replaces *slot */
    bool gives;    /* value came from hd_set_backward_grad */
} hd__run_commit;

/* A gradient that hd_grad_of returns. It is the gradient of one output of a node. If the node is a
 * leaf, the gradients are summed here, in `value`, and not in the leaf, because other threads may
 * compute gradients of the same leaf. */
typedef struct hd__run_capture {
    hd__edge at;      /* the node and the number of its output; the node is retained */
    int64_t input;    /* the index of the caller's input to which the gradient belongs */
    hd_tensor *value; /* held; NULL if no gradient has arrived yet */
} hd__run_capture;

typedef struct hd__run_aside { /* fields of a node that an inner run puts back when it ends */
    hd__node *n;               /* retained */
    hd_tensor *pending;        /* the outer run's sum at a leaf, held; NULL if there is none */
    uint8_t queued;            /* n->queued before; 0 if only the mark is put back */
    uint64_t mark;
} hd__run_aside;

typedef struct hd__run {
    const char *seed;  /* the name of the tensor that the run starts from, for messages */
    uint8_t depth;     /* 1; in a run inside another one, the depth of that run + 1 */
    bool retain_graph; /* saved tensors are kept for another run */
    bool accumulate;   /* the run writes .grad: it was started by hd_backward, not by hd_grad_of */
    hd__node **heap; /* the nodes that wait to run, the one with the largest seq first; retained */
    int64_t len, cap;
    hd__run_commit *commits;
    int64_t n_commits, cap_commits;
    hd__run_capture *captures; /* sorted by node and output; hd_grad_of owns them */
    int64_t n_captures;
    /* in hd_grad_of: the mark of the nodes on paths to captures, which alone run; else 0 */
    uint64_t mark;
    uint64_t counted; /* the mark of leaves whose edges are counted (backward_end.c); else 0 */
    hd__run_aside *asides;
    int64_t n_asides, cap_asides;
    struct hd__run *outer; /* the run inside which this one runs, or NULL */
    bool outer_grad_mode;  /* the grad mode before the run */
} hd__run;

/* The innermost run of this thread, or NULL. */
extern HD__TLS hd__run *hd__run_innermost;

/* Puts n on the heap and retains it. False if memory runs out. */
bool hd__run_push(hd__run *r, hd__node *n);
/* Takes the node with the largest seq, which is the youngest one, from the heap. The caller
 * releases it. */
hd__node *hd__run_pop(hd__run *r);

/* Returns the first of two numbers, m and m + 1, that no run has used as marks before. */
uint64_t hd__run_marks(void);
/* Finds all nodes, except leaves, that can be reached from the outputs. Writes them to *order, the
 * youngest first, and their number to *n. Sets their marks to `mark`; if r->counted is set, also
 * those of the leaves, and counts the edges to each leaf. False if it fails. The caller sets *order
 * to NULL and *n to 0 before, and frees *order afterwards. */
bool hd__run_reach(hd__run *r, int64_t n_outputs, hd_tensor *const *outputs, uint64_t mark,
                   hd__node ***order, int64_t *n);

/* Stores n's mark in r->asides until r ends. Unless mark_only is set, moves n's pending sum and its
 * field `queued` there, too. False if memory runs out. */
bool hd__run_set_aside(hd__run *r, hd__node *n, bool mark_only);
/* Writes back everything that hd__run_set_aside has stored, and frees r->asides. */
void hd__run_put_back(hd__run *r);

/* Returns the first of r's captures of this output of n, or NULL if there is none. The other
 * captures of the same output follow directly. */
hd__run_capture *hd__run_captured(const hd__run *r, const hd__node *n, uint32_t output);
/* Sorts r's captures by node and output. Call it before hd__run_captured. */
void hd__run_sort_captures(hd__run *r);

/* Appends a commit whose fields are zero to r->commits, and returns it. NULL if memory runs out. */
hd__run_commit *hd__run_add_commit(hd__run *r);

/* ---------------------------------------------------------------- gradients on their way */

/* Sets *slot to t, holds t and drops the tensor before it. If t is NULL, because its computation
 * failed, does nothing and returns false. */
static inline bool hd__run_slot_set(hd_tensor **slot, hd_tensor *t)
{
    if (t) {
        hd_tensor *before = *slot;
        *slot = hd__tensor_hold(t);
        hd__tensor_drop(before);
    }
    return t;
}

/* Returns g if the engine can keep it, otherwise an alias of g that it can keep. g may come from
 * the user's code. If g was recorded, its graph would live as long as g. If g has the flag
 * HD__F_LENT, it is a read-only gradient that the engine has passed to the user's code. The alias
 * has neither the graph nor the flag. NULL if memory runs out. */
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
