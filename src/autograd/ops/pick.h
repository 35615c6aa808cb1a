/* pick.h - picks elements along a dim by an index tensor (pick.c). */
#ifndef HEED_OPS_PICK_H
#define HEED_OPS_PICK_H

#include "autograd/op.h"

/* hd__op_pick computes y[i] = x[index[i]] (HD__TAKE), x[index[i]] = y[i] (HD__PUT) or x[index[i]]
 * += y[i] (HD__ADD), for each i along dim in order. y is contiguous, and index broadcasts to y. The
 * caller has checked shapes and indices. */
typedef enum hd__op_pick_way { HD__TAKE, HD__PUT, HD__ADD } hd__op_pick_way;
void hd__op_pick(hd__op_pick_way way, hd_tensor *y, hd_tensor *x, int dim, const hd_tensor *index);

/* Returns a struct with x's sizes, strides and storage, for use within one call. It holds no
 * reference to the storage. */
hd_tensor hd__op_geometry_of(const hd_tensor *x);

/* Returns zeros in the shape of n's input 0. NULL if memory runs out. */
hd_tensor *hd__op_zeros_like_input(hd__node *n, hd_dtype dtype);

/* Returns y with y[i] = x[index[i]] along dim, in index's shape, unrecorded. The caller has checked
 * shapes and indices. NULL if memory runs out. */
hd_tensor *hd__op_gather(hd_tensor *x, int dim, hd_tensor *index);
/* y[i] = x[index[i]] along dim:  dx[index[i]] += dy[i]. The node's saved tensor 0 is the index, and
 * its params are the int dim. If index and y do not have that dim, it counts as a dim of size 1.
 * The op's kind is HD__PUT if no two indices can be equal, else HD__ADD. */
void hd__op_scatter_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
