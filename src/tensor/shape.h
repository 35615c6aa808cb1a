/* shape.h - shapes: texts for messages, checks of sizes, dims and indices, broadcasting
 * (shape.c). */
#ifndef HEED_TENSOR_SHAPE_H
#define HEED_TENSOR_SHAPE_H

#include "base/error/call.h"
#include "tensor/tensor_struct.h"

/* x's sizes: "(2, 3)". */
const char *hd__tensor_shape_text(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* In a message: hd_fail(HD_SHAPE, "%s and %s: ...", HD__SHAPE(a), HD__SHAPE(b)) */
#define HD__SHAPE(x) hd__tensor_shape_text((x), (char[HD__SHAPE_TEXT]){0})

/* The index of x's element number `flat` in row-major order: "(0, 2)". */
const char *hd__tensor_index_text(const hd_tensor *x, int64_t flat, char text[HD__SHAPE_TEXT]);
#define HD__INDEX(x, flat) hd__tensor_index_text((x), (flat), (char[HD__SHAPE_TEXT]){0})

/* True if a tensor can have n dims, and sizes is given. Fails with HD_SHAPE or HD_NULL_ARG. */
static inline bool hd__tensor_sizes_arg(int n, const int64_t *sizes)
{
    if (n < 0 || n > HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE, "%d dimensions: expected 0 to %d", n, HD_MAX_DIMS);
    }
    return n == 0 || sizes || hd__arg_null_arg("sizes");
}

/* dim as a number in [0, n) with n = max(ndim, 1); a negative dim counts from the end. Returns -1
 * with HD_INDEX if it is out of range: "hd_size: dim 3 of (2, 6, 3): expected -3 to 2". */
int hd__tensor_dim(const hd_tensor *x, int64_t dim);

/* index as a number in [0, x's size at dim d); a negative index counts from the end. Returns -1
 * with HD_INDEX if it is out of range: "hd_get: index 5 at dim 0 of (2, 3): expected -2 to 1". */
int64_t hd__tensor_index_at(const hd_tensor *x, int d, int64_t index);

/* hd__tensor_dim, after the check that the argument x is a tensor; -1 with an error. */
int hd__tensor_dim_of(const hd_tensor *x, int64_t dim);
/* The same as a mask with this dim's bit; 0 with an error. */
uint32_t hd__tensor_dim_mask(const hd_tensor *x, int64_t dim);
/* A list of n dims as a bit mask; n == 0 stands for all dims. Returns 0 with an error if x is not a
 * tensor, or if a dim is out of range or repeated (HD_INDEX). */
uint32_t hd__dims_mask(const hd_tensor *x, int n, const int64_t *dims);
/* The same without the check of x. */
uint32_t hd__dims_listed(const hd_tensor *x, int n, const int64_t *dims);

/* Broadcasts sizes, of *ndim dims, with n others by NumPy's rule. sizes has room for n. Returns 0
 * or, if they do not broadcast, the first dim at fault, counted from the end (1 is the last), where
 * sizes is unchanged. */
int hd__tensor_broadcast_with(int *ndim, int64_t *sizes, int n, const int64_t *others);

/* True if sizes[] broadcasts to the shape to[]. */
bool hd__tensor_spreads_to(int n, const int64_t *sizes, int to_n, const int64_t *to);

/* Writes the shape that n tensors broadcast to; skips HD_NONE. Fails with HD_SHAPE: "hd_add: (2, 3)
 * and (4,): sizes 3 and 4 at dim -1 do not broadcast". */
bool hd__tensor_broadcast(int n, hd_tensor *const *xs, int *ndim, int64_t *sizes);

#endif
