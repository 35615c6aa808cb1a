/* backward.h - the engine (backward.c).
 *
 * A run begins, is given its first gradients, walks the graph, and ends:
 *   ok = hd__run_begin(&r);
 *   ok = ok && hd__run_seed(&r, y, grad);             for each y, in one scope
 *   ok = hd__run_end(&r, ok && hd__run_walk(&r));     if it began */
#ifndef HEED_AUTOGRAD_BACKWARD_H
#define HEED_AUTOGRAD_BACKWARD_H

#include "autograd/run.h"

bool hd__run_begin(hd__run *r);
/* The gradient that y starts with: grad, or a one for HD_NONE. Made in the current scope. */
bool hd__run_seed(hd__run *r, hd_tensor *y, hd_tensor *grad);
bool hd__run_walk(hd__run *r);
/* ok: nothing has failed so far. Then the leaves get their gradients, all of them or, on failure,
 * none. Frees what the run holds. */
bool hd__run_end(hd__run *r, bool ok);

/* Is the i-th saved tensor as it was? If it was changed in place, HD_GRAD says so. */
bool hd__saved_ok(const hd__node *n, int i);

#endif
