/* backward_end.h - how a run serves the function that hd_on_backward_end registers
 * (backward_end.c). */
#ifndef HEED_AUTOGRAD_BACKWARD_END_H
#define HEED_AUTOGRAD_BACKWARD_END_H

#include "autograd/run.h"

/* Called before a run from y. If this thread has a registered function, counts the edges that lead
 * to each leaf, so that a leaf's hooks run as soon as its gradient is complete. */
bool hd__run_count(hd__run *r, hd_tensor *y);
/* Calls the registered function, if there is one. r is NULL if hd_backward failed before its run
 * began. Returns false if `ok` is false or if the function fails. */
bool hd__run_call_end(hd__run *r, bool ok);

#endif
