/* backward.h - a run of the engine: of hd_backward, and of hd_grad_of, which captures gradients. */
#ifndef HEED_AUTOGRAD_BACKWARD_H
#define HEED_AUTOGRAD_BACKWARD_H

#include "autograd/autograd_internal.h"

typedef struct hd__commit { /* value, held, for *slot */
    hd_tensor **slot, *value;
} hd__commit;

typedef struct hd__capture { /* what arrives at an output of a node, for hd_grad_of */
    hd__edge at;
    hd_tensor *value;
} hd__capture;

typedef struct hd__run {
    const char *function;
    bool retain_graph, accumulate;
    hd__node **heap; /* retained */
    int64_t len, cap;
    hd__commit *commits;
    int64_t n_commits, cap_commits;
    hd__capture *captures;
    int64_t n_captures;
    uint64_t mark; /* nodes with it lie on a path to a captured one; 0: all run */
} hd__run;

/* The heap: retains what goes in, and gives its count out with the youngest. */
bool hd__run_push(hd__run *r, hd__node *n);
hd__node *hd__run_pop(hd__run *r);

/* grad, or a one for HD_NONE, arrives at y; in the current scope. */
bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad);
/* From seeds that have arrived already. */
bool hd__run_walk(hd__run *r);
/* ok: nothing failed so far; then leaves get their gradients. Frees the run. */
bool hd__run_finish(hd__run *r, bool ok);

#endif
