/* commit.h - gradients come to a .grad, all of them or none (commit.c). */
#ifndef HEED_AUTOGRAD_COMMIT_H
#define HEED_AUTOGRAD_COMMIT_H

#include "autograd/run.h"

/* The gradient of output k of n shall come to its .grad. */
bool hd__run_commit_output(hd__run *r, hd__node *n, int k, bool leaf);
/* Applies all commits, or drops them all. */
bool hd__run_end_commits(hd__run *r, bool ok);

#endif
