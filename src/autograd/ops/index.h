/* index.h - indexing that several families share. */
#ifndef HEED_OPS_INDEX_H
#define HEED_OPS_INDEX_H

#include "autograd/autograd_internal.h"

/* x[index...] (part.c); errors name `function`. */
hd_tensor *hd__getitem(const char *function, hd_tensor *x, int n, const int64_t *index);

/* y[i] = x[index[i]] along dim, unrecorded; shapes and indices are checked. */
hd_tensor *hd__gather(const char *function, hd_tensor *x, int dim, hd_tensor *index);
/* Of gather and topk; saved 0 is the index, params one int: the dim. */
void hd__gather_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
