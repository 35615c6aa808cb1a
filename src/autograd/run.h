/* run.h - the data of a run: one walk of the engine over the graph (run.c). hd_backward makes a run
 * that writes .grad; hd_grad_of makes one that captures gradients. backward.h begins and ends a
 * run.
 *
 * A hook, or the backward of a user's op, may start an inner run. As in PyTorch, both runs may
 * reach the same leaves: the inner run keeps the outer run's sum at such a leaf in a list, and puts
 * the sum back at its end. If the inner run reaches any other node where gradients of the outer run
 * wait, the inner run fails with HD_STATE. */
#ifndef HEED_AUTOGRAD_RUN_H
#define HEED_AUTOGRAD_RUN_H

#include "autograd/op.h"
#include "tensor/lifecycle.h"

typedef struct hd__run_commit { /* at the end of the run, `value` is added to the .grad in *slot */
    /* the node with *slot, retained; NULL if an earlier commit retains it */
    hd__node *n;
    hd__node_own_grad *own;   /* the struct with *slot, held; NULL if *slot is in a leaf */
    hd_tensor **slot, *value; /* the commit holds `value` */
    bool *given;              /* the flag beside *slot: true if *slot came from hd_set_grad */
    bool in_place;            /* value is added to *slot in place; otherwise it replaces *slot */
    /* true: value came from hd_set_backward_grad, so *given is set to true when value is written */
    bool gives;
} hd__run_commit;

/* A gradient that hd_grad_of returns: the sum at one output of a node. A leaf's gradients are
 * summed in `value`, not in the leaf, because other threads may compute gradients of it. */
typedef struct hd__run_capture {
    hd__edge at;      /* the node, retained, and the number of its output */
    int64_t input;    /* the index of the input whose gradient this is */
    hd_tensor *value; /* the sum, held by the capture; NULL if no gradient has arrived yet */
} hd__run_capture;

typedef struct hd__run_aside { /* fields of a node that an inner run puts back when it ends */
    hd__node *n;               /* retained */
    hd_tensor *pending;        /* the outer run's sum at leaf n, held; NULL if there is none */
    uint8_t queued;            /* the outer run's depth; 0 if only `mark` is put back */
    uint64_t mark;
} hd__run_aside;

typedef struct hd__run {
    const char *seed;  /* the name, for messages, of the argument that the run starts from */
    uint8_t depth;     /* 1 for an outermost run; for an inner run, the depth of `outer` + 1 */
    bool retain_graph; /* true: the nodes keep their saved tensors for another run */
    bool accumulate;   /* true in hd_backward, which writes .grad; false in hd_grad_of */
    hd__node **heap;   /* the nodes that wait to run, retained; the youngest first */
    int64_t len, cap;
    hd__run_commit *commits;
    int64_t n_commits, cap_commits;
    hd__run_capture *captures; /* sorted by node and output; hd_grad_of owns them */
    int64_t n_captures;
    /* in hd_grad_of: the mark of the nodes on paths to captures; only these run. In hd_backward:
     * 0 */
    uint64_t mark;
    /* the mark of leaves whose edges are counted (backward_end.c); 0 if they are not counted */
    uint64_t counted;
    hd__run_aside *asides;
    int64_t n_asides, cap_asides;
    struct hd__run *outer; /* the run inside which this one runs, or NULL */
    bool outer_grad_mode;  /* the grad mode before the run */
} hd__run;

/* The innermost run of this thread, or NULL. */
extern HD__TLS hd__run *hd__run_innermost;

/* Puts n on the heap and retains it. Returns false with an error if memory runs out. */
bool hd__run_push(hd__run *r, hd__node *n);
/* Takes the youngest node from the heap, which is not empty, and returns it. The caller releases
 * it. */
hd__node *hd__run_pop(hd__run *r);

/* A run marks nodes with numbers of its own. Returns the first of two numbers, m and m + 1, that no
 * run has used as marks before. */
uint64_t hd__run_marks(void);
/* Sets *order to all nodes, except leaves, that can be reached from the outputs, the youngest
 * first, and *n to their number. Marks each of them. If r->counted is set, also marks the leaves
 * and counts their edges. The caller sets *order to NULL and *n to 0 before, and frees *order.
 * Returns false with an error on failure. */
bool hd__run_reach(hd__run *r, int64_t n_outputs, hd_tensor *const *outputs, uint64_t mark,
                   hd__node ***order, int64_t *n);

/* Stores n's mark until r ends. If mark_only is false, also stores and clears the pending sum of
 * n's output 0 and n's field `queued`. Returns false with an error if memory runs out. */
bool hd__run_set_aside(hd__run *r, hd__node *n, bool mark_only);
/* Puts back everything that hd__run_set_aside has stored. */
void hd__run_put_back(hd__run *r);

/* Returns the first capture of this output of n, or NULL if there is none. Further captures of the
 * same output follow it in r->captures. */
hd__run_capture *hd__run_captured(const hd__run *r, const hd__node *n, uint32_t output);
/* Sorts the captures, as hd__run_captured needs them. */
void hd__run_sort_captures(hd__run *r);

/* Appends a commit whose fields are zero to r's commits, and returns it; NULL with an error if
 * memory runs out. */
hd__run_commit *hd__run_add_commit(hd__run *r);

/* ---------------------------------------------------------------- gradients on their way */

/* Drops the tensor in *slot, and makes *slot hold t. If t is NULL, because the computation of t
 * failed, returns false and changes nothing. */
static inline bool hd__run_slot_set(hd_tensor **slot, hd_tensor *t)
{
    if (t) {
        hd_tensor *before = *slot;
        *slot = hd__tensor_hold(t);
        hd__tensor_drop(before);
    }
    return t;
}

/* Returns g if it has no graph and no flag HD__F_LENT; otherwise an alias of g that has neither. A
 * graph would live as long as the gradient. The flag is set if the user's code returned the
 * read-only gradient that it was passed. NULL with an error if memory runs out. */
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
