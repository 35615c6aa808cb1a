/* index.h - indexing that several families share. */
#ifndef HEED_OPS_INDEX_H
#define HEED_OPS_INDEX_H

#include "autograd/autograd_internal.h"

/* x[index...] (part.c); errors name `function`. */
hd_tensor *hd__getitem(const char *function, hd_tensor *x, int n, const int64_t *index);

/* y[i] = x[index[i]] along dim, unrecorded. The caller has checked shapes and indices. */
hd_tensor *hd__gather(const char *function, hd_tensor *x, int dim, hd_tensor *index);
/* dx[index[i]] += dy[i] along dim. Saved 0 is the index, and params is one int, the dim. With
 * `distinct` no two indices are the same. */
void hd__scatter_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx, bool distinct);

#endif
