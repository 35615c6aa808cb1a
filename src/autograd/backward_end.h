/* backward_end.h - the function for the end of backwards (backward_end.c). */
#ifndef HEED_AUTOGRAD_BACKWARD_END_H
#define HEED_AUTOGRAD_BACKWARD_END_H

#include "autograd/run.h"

/* The run is about to write y's gradients to leaves. Counts the edges that lead to each leaf, if
 * this thread has a function for the end of backwards: only that can gain from hooks of leaves that
 * run early. */
bool hd__run_count(hd__run *r, hd_tensor *y);
/* Calls that function. r NULL: the call had failed before its run began. Returns whether all is
 * well. */
bool hd__run_call_end(hd__run *r, bool ok);

#endif
