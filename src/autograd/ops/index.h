/* index.h - what index.c and topk.c share. */
#ifndef HEED_OPS_INDEX_H
#define HEED_OPS_INDEX_H

#include "autograd/autograd_internal.h"

/* y[i] = x[index[i]] along dim, unrecorded; shapes and indices are checked. */
hd_tensor *hd__gather(const char *function, hd_tensor *x, int dim, hd_tensor *index);
/* Of gather and topk; saved 0 is the index, params one int: the dim. */
void hd__gather_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
