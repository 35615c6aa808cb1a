/* pick.h - picks elements along a dim by an index tensor (pick.c). */
#ifndef HEED_OPS_PICK_H
#define HEED_OPS_PICK_H

#include "autograd/op.h"

/* Computes y[i] = x[index[i]] (HD__TAKE), x[index[i]] = y[i] (HD__PUT) or x[index[i]] += y[i]
 * (HD__ADD) for i = 0, 1, ... along dim. y is contiguous, and index broadcasts to y. */
typedef enum hd__op_pick_way { HD__TAKE, HD__PUT, HD__ADD } hd__op_pick_way;
void hd__op_pick(hd__op_pick_way way, hd_tensor *y, hd_tensor *x, int dim, const hd_tensor *index);

/* Returns a struct with x's dtype, sizes, strides and storage, but without a reference to the
 * storage. Use it within one call only. */
hd_tensor hd__op_geometry_of(const hd_tensor *x);

/* Returns zeros in the shape of n's input 0; NULL with an error if memory runs out. */
hd_tensor *hd__op_zeros_like_input(hd__node *n, hd_dtype dtype);

/* Returns y[i] = x[index[i]] along dim, unrecorded; NULL on failure. The caller has checked shapes
 * and indices. */
hd_tensor *hd__op_gather(hd_tensor *x, int dim, hd_tensor *index);
/* y[i] = x[index[i]] along dim:  dx[index[i]] += dy[i]. Saved tensor 0 is the index, and the params
 * are the int dim. The index and y may lack this dim. The op's kind is HD__PUT if no two indices
 * are equal, else HD__ADD. */
void hd__op_scatter_backward(hd__node *n, hd_tensor *const *dy, hd_tensor **dx);

#endif
