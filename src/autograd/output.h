/* output.h - an output of a node: where its gradients add up, and what becomes of them when all
 * have arrived (output.c). */
#ifndef HEED_AUTOGRAD_OUTPUT_H
#define HEED_AUTOGRAD_OUTPUT_H

#include "autograd/run.h"

/* Is n a leaf, in hd_grad_of? Then what is known of it lies in a capture, and not in n. */
static inline bool hd__left_alone(const hd__run *r, const hd__node *n)
{
    return HD__UNLIKELY(r->mark) && n->op == &hd__leaf_op;
}

/* For hd_grad_of: where the gradients for that output of n add up. NULL: nothing that is asked for
 * needs them. */
HD__RARE hd_tensor **hd__run_wanted_sum(const hd__run *r, hd__node *n, uint32_t output);

/* All gradients have arrived at output k of n: its hooks run, and what wants the gradient gets
 * it. */
bool hd__run_finish_output(hd__run *r, hd__node *n, int k);

/* Closes a scope in which something failed: the user's code may have closed it already, and opened
 * another one there. */
void hd__close_if_open(hd_scope *scope);

#endif
