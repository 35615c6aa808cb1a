/* backward.h - one run of the engine: of hd_backward, or of hd_grad_of, which captures gradients.
 *
 * A run begins, is given its first gradients, walks the graph, and ends:
 *   hd__run_begin(&r);
 *   ok = hd__run_seed(&r, y, grad);                   for each y, in one scope
 *   ok = hd__run_end(&r, ok && hd__run_walk(&r)); */
#ifndef HEED_AUTOGRAD_BACKWARD_H
#define HEED_AUTOGRAD_BACKWARD_H

#include "autograd/autograd_internal.h"

typedef struct hd__commit { /* value, held, is on its way to a .grad, *slot */
    hd_tensor **slot, *value;
    bool in_place; /* value is added to *slot; else it takes its place */
} hd__commit;

typedef struct hd__capture { /* what arrives at an output of a node, for hd_grad_of */
    hd__edge at;
    hd_tensor *value;
} hd__capture;

typedef struct hd__run {
    const char *function; /* the user's call, for messages */
    bool retain_graph;    /* saved tensors stay for another run */
    bool accumulate;      /* leaves, and tensors with retain_grad, get their .grad */
    hd__node **heap;      /* the nodes that gradients wait at, retained */
    int64_t len, cap;
    hd__commit *commits;
    int64_t n_commits, cap_commits;
    hd__capture *captures; /* the caller's */
    int64_t n_captures;
    uint64_t mark; /* only nodes with this mark run: those on a path to a capture; 0: all run */
    bool outer_grad_mode;
    const char *outer_running;
} hd__run;

/* The heap: push retains the node; pop hands that count out with the youngest node. */
bool hd__run_push(hd__run *r, hd__node *n);
hd__node *hd__run_pop(hd__run *r);

void hd__run_begin(hd__run *r);
/* The gradient that y starts with: grad, or a one for HD_NONE. Made in the current scope. */
bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad);
bool hd__run_walk(hd__run *r);
/* ok: nothing has failed so far. Then the leaves get their gradients, all of them or, on failure,
 * none. Frees what the run holds. */
bool hd__run_end(hd__run *r, bool ok);

#endif
