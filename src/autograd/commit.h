/* commit.h - collects the gradients that a run will write to .grad, and writes all of them at its
 * end, or none (commit.c). */
#ifndef HEED_AUTOGRAD_COMMIT_H
#define HEED_AUTOGRAD_COMMIT_H

#include "autograd/run.h"

/* Collects the gradient of output k of n. If `leaf`, the run will write it to n's own .grad;
 * otherwise to the .grad that hd_retain_grad asked for. */
bool hd__run_commit_output(hd__run *r, hd__node *n, int k, bool leaf);
/* If `ok`, writes all collected gradients, or none if something fails now. Returns false if ok is
 * false or something has failed. */
bool hd__run_end_commits(hd__run *r, bool ok);

#endif
