/* commit.h - collects the gradients that a run will write into .grad, and writes all of them at its
 * end, or none (commit.c). */
#ifndef HEED_AUTOGRAD_COMMIT_H
#define HEED_AUTOGRAD_COMMIT_H

#include "autograd/run.h"

/* Adds the gradient of output k of n to the gradients that the run will write. `leaf`: into n's own
 * .grad; otherwise into that of hd_retain_grad. */
bool hd__run_commit_output(hd__run *r, hd__node *n, int k, bool leaf);
/* Writes all collected gradients if `ok`, and drops them otherwise. */
bool hd__run_end_commits(hd__run *r, bool ok);

#endif
