/* backward.h - the engine, which computes gradients from the outputs back to the leaves
 * (backward.c). Each call of hd_backward or hd_grad_of makes one run:
 *   ok = hd__run_begin(&r);
 *   ok = ok && hd__run_seed(&r, y, grad);             for each y, in one scope
 *   ok = hd__run_end(&r, ok && hd__run_walk(&r));     only if hd__run_begin returned true */
#ifndef HEED_AUTOGRAD_BACKWARD_H
#define HEED_AUTOGRAD_BACKWARD_H

#include "autograd/run.h"

/* Makes r this thread's innermost run, and turns grad mode off until hd__run_end. Returns false
 * with HD_STATE if too many runs are nested. */
bool hd__run_begin(hd__run *r);
/* Starts the run at y with the gradient `grad`, or with 1 if grad is HD_NONE and y has one element.
 * New tensors belong to the innermost scope. Returns false with an error if y has no
 * graph, grad (or 1) does not fit y, or memory runs out. */
bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad);
/* Runs the backward of each node on the heap, the youngest first, until the heap is empty. Returns
 * false with an error if a backward or a hook fails. */
bool hd__run_walk(hd__run *r);
/* If `ok`, writes all gradients to .grad, or none if something fails now. Frees everything that the
 * run holds. Returns false if ok is false, or with an error if writing fails. */
bool hd__run_end(hd__run *r, bool ok);

/* Returns true if n's saved tensor i still has the values that it had when it was saved. Returns
 * false with HD_GRAD if it was changed in place, or if an earlier backward has freed it. */
bool hd__run_saved_ok(const hd__node *n, int i);

#endif
