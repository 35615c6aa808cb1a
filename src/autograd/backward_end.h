/* backward_end.h - the steps of a run for the function that hd_on_backward_end registers
 * (backward_end.c). */
#ifndef HEED_AUTOGRAD_BACKWARD_END_H
#define HEED_AUTOGRAD_BACKWARD_END_H

#include "autograd/run.h"

/* Called before run r starts at y. If this thread has a registered function and r is an outermost
 * run, counts the edges that lead to each leaf, so that a leaf's hooks can run as soon as its
 * gradient is complete. Returns false with an error if memory runs out. */
bool hd__run_count(hd__run *r, hd_tensor *y);
/* Calls this thread's registered function, if there is one, with ok. Does not call it if r is an
 * inner run or a run of hd_grad_of. r is NULL if hd_backward failed before its run began. Returns
 * false if ok is false, or with an error if the function fails. */
bool hd__run_call_end(hd__run *r, bool ok);

#endif
