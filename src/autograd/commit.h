/* commit.h - collects the gradients that a run will write to .grad. At the end of the run, it
 * writes all of them, or none if the run has failed (commit.c). */
#ifndef HEED_AUTOGRAD_COMMIT_H
#define HEED_AUTOGRAD_COMMIT_H

#include "autograd/run.h"

/* Collects the gradient of output k of n. If `leaf` is true, n is a leaf node, and the run will
 * write to n->grad; otherwise to the .grad of the tensor on which hd_retain_grad was called. False
 * if memory runs out. */
bool hd__run_commit_output(hd__run *r, hd__node *n, int k, bool leaf);
/* If ok is true, writes all collected gradients to .grad, or none if something fails now. Drops
 * them otherwise. Returns false if ok is false or something has failed. */
bool hd__run_end_commits(hd__run *r, bool ok);

#endif
