/* pick.h - picking by an index tensor, which several families share (pick.c). */
#ifndef HEED_OPS_PICK_H
#define HEED_OPS_PICK_H

#include "autograd/op.h"

/* Along dim, y[i] = x[index[i]], or into x: x[index[i]] = y[i], or += y[i], in the order of the
 * index. y is contiguous, and index broadcasts to it. */
typedef enum hd__pick_way { HD__TAKE, HD__PUT, HD__ADD } hd__pick_way;
void hd__pick(hd__pick_way way, hd_tensor *y, hd_tensor *x, int dim, const hd_tensor *index);

/* A tensor with x's geometry and storage that lives for one call. */
hd_tensor hd__geometry_of(const hd_tensor *x);

/* Zeros of the shape of the node's first input */
hd_tensor *hd__zeros_like_input(hd__node *n, hd_dtype dtype);

/* y[i] = x[index[i]] along dim, unrecorded. The caller has checked shapes and indices. */
hd_tensor *hd__gather(hd_tensor *x, int dim, hd_tensor *index);
/* y[i] = x[index[i]] along dim:  dx[index[i]] += dy[i]. Saved 0 is the index, and params is one
 * int, the dim, which index and y may lack. The op's kind is HD__ADD or, where no two indices are
 * the same, HD__PUT. */
void hd__scatter_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
