/* output.h - an output of a node during a run: where its gradients are summed, and the steps that
 * follow when all have arrived (output.c). */
#ifndef HEED_AUTOGRAD_OUTPUT_H
#define HEED_AUTOGRAD_OUTPUT_H

#include "autograd/run.h"

/* True if n is a leaf in a run of hd_grad_of. The run then writes to its captures, never to n. */
static inline bool hd__run_left_alone(const hd__run *r, const hd__node *n)
{
    return HD__UNLIKELY(r->mark) && n->op == &hd__graph_leaf_op;
}

/* For hd_grad_of: the address where the gradients for that output of n are summed. NULL if none of
 * the requested gradients depends on it. */
HD__RARE hd_tensor **hd__run_wanted_sum(const hd__run *r, hd__node *n, uint32_t output);

/* Called when all gradients for output k of n have arrived. Runs its hooks, and stores the gradient
 * in captures and commits. */
bool hd__run_finish_output(hd__run *r, hd__node *n, int k);

/* Closes scope after a failure, unless the user's code has closed it already. */
void hd__run_close_if_open(hd_scope *scope);

#endif
