/* shape.h - shapes: texts for messages, checks of sizes, dims and indices, broadcasting
 * (shape.c). */
#ifndef HEED_TENSOR_SHAPE_H
#define HEED_TENSOR_SHAPE_H

#include "base/error/call.h"
#include "tensor/tensor_struct.h"

/* Writes x's sizes to text, as "(2, 3)", and returns text. */
const char *hd__tensor_shape_text(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* x's sizes as a string for a message: hd_fail(HD_SHAPE, "%s and %s: ...", HD__SHAPE(a),
 * HD__SHAPE(b)) */
#define HD__SHAPE(x) hd__tensor_shape_text((x), (char[HD__SHAPE_TEXT]){0})

/* Writes the index of x's element number `flat`, in row-major order, to text, as "(0, 2)". Returns
 * text. */
const char *hd__tensor_index_text(const hd_tensor *x, int64_t flat, char text[HD__SHAPE_TEXT]);
#define HD__INDEX(x, flat) hd__tensor_index_text((x), (flat), (char[HD__SHAPE_TEXT]){0})

/* Returns true if n is 0 to HD_MAX_DIMS and, unless n is 0, sizes is not NULL. Otherwise returns
 * false with HD_SHAPE or HD_NULL_ARG. */
static inline bool hd__tensor_sizes_arg(int n, const int64_t *sizes)
{
    if (n < 0 || n > HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE, "%d dimensions: expected 0 to %d", n, HD_MAX_DIMS);
    }
    return n == 0 || sizes || hd__arg_null_arg("sizes");
}

/* Returns dim as a number in [0, n), where n = max(x->ndim, 1). A negative dim counts from the end.
 * Returns -1 with HD_INDEX if dim is out of range: "hd_size: dim 3 of (2, 6, 3): expected -3 to
 * 2". */
int hd__tensor_dim(const hd_tensor *x, int64_t dim);

/* Returns index as a number in [0, x->sizes[d]). A negative index counts from the end. Returns -1
 * with HD_INDEX if index is out of range: "hd_get: index 5 at dim 0 of (2, 3): expected -2 to
 * 1". */
int64_t hd__tensor_index_at(const hd_tensor *x, int d, int64_t index);

/* Checks the argument x and returns hd__tensor_dim(x, dim). Returns -1 with an error if x or dim is
 * wrong. */
int hd__tensor_dim_of(const hd_tensor *x, int64_t dim);
/* Checks the arguments x and dim, and returns a bit mask with the bit of this dim set. Returns 0
 * with an error if x or dim is wrong. */
uint32_t hd__tensor_dim_mask(const hd_tensor *x, int64_t dim);
/* Returns the bit mask of the n dims in the list dims[], or of all dims if n is 0. Returns 0 with
 * an error if x is not a tensor, if n is negative or dims is NULL (HD_NULL_ARG), or if a dim is out
 * of range or repeated (HD_INDEX). */
uint32_t hd__dims_mask(const hd_tensor *x, int n, const int64_t *dims);
/* Returns what hd__dims_mask returns, but does not check x, because the caller has checked it. */
uint32_t hd__dims_listed(const hd_tensor *x, int n, const int64_t *dims);

/* Broadcasts the shape sizes[*ndim] with the shape others[n] by NumPy's rule, and writes the result
 * to sizes and *ndim. sizes has space for n elements. Returns 0 if the shapes broadcast. Otherwise
 * returns the outermost dim that does not broadcast, counted from the end (the last dim is 1);
 * sizes keeps its size at this dim. */
int hd__tensor_broadcast_with(int *ndim, int64_t *sizes, int n, const int64_t *others);

/* True if the shape sizes[n] broadcasts to the shape to[to_n]. */
bool hd__tensor_spreads_to(int n, const int64_t *sizes, int to_n, const int64_t *to);

/* Sets sizes and *ndim to the shape to which the n tensors xs broadcast. Ignores HD_NONE. Returns
 * false with HD_SHAPE if they do not broadcast: "hd_add: (2, 3) and (4,): sizes 3 and 4 at dim -1
 * do not broadcast". */
bool hd__tensor_broadcast(int n, hd_tensor *const *xs, int *ndim, int64_t *sizes);

#endif
