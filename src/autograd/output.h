/* output.h - an output of a node during a run: where its gradients are summed, and the steps that
 * follow when all have arrived (output.c). */
#ifndef HEED_AUTOGRAD_OUTPUT_H
#define HEED_AUTOGRAD_OUTPUT_H

#include "autograd/run.h"

/* True if r is a run of hd_grad_of and n is a leaf. The run then sums the leaf's gradient in its
 * captures, and writes nothing to n. */
static inline bool hd__run_left_alone(const hd__run *r, const hd__node *n)
{
    return HD__UNLIKELY(r->mark) && n->op == &hd__graph_leaf_op;
}

/* For a run of hd_grad_of. Returns the address of the sum of the gradients for this output of n, or
 * NULL if no requested gradient depends on that output. */
HD__RARE hd_tensor **hd__run_wanted_sum(const hd__run *r, hd__node *n, uint32_t output);

/* Called when all gradients for output k of n have arrived. Runs the hooks of the output, and
 * stores the gradient in captures and commits. False if something fails. */
bool hd__run_finish_output(hd__run *r, hd__node *n, int k);

/* Closes scope, unless it is NULL or the user's code has closed it already. */
void hd__run_close_if_open(hd_scope *scope);

#endif
