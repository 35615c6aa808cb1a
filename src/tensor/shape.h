/* shape.h - shapes: in messages, as arguments, and broadcast (shape.c). */
#ifndef HEED_TENSOR_SHAPE_H
#define HEED_TENSOR_SHAPE_H

#include "base/error/call.h"
#include "tensor/tensor_struct.h"

/* x's sizes as hd__text_of_sizes writes them: "(2, 3)". */
const char *hd__tensor_shape_text(const hd_tensor *x, char text[HD__SHAPE_TEXT]);

/* In a message: hd_fail(HD_SHAPE, "%s and %s: ...", HD__SHAPE(a), HD__SHAPE(b)) */
#define HD__SHAPE(x) hd__tensor_shape_text((x), (char[HD__SHAPE_TEXT]){0})

/* The index of x's element `flat`, counted in row-major order: "(0, 2)". */
const char *hd__tensor_index_text(const hd_tensor *x, int64_t flat, char text[HD__SHAPE_TEXT]);
#define HD__INDEX(x, flat) hd__tensor_index_text((x), (flat), (char[HD__SHAPE_TEXT]){0})

/* Can a tensor have n dims, and are their sizes given? Otherwise sets HD_SHAPE or HD_NULL_ARG. */
static inline bool hd__tensor_sizes_arg(int n, const int64_t *sizes)
{
    if (n < 0 || n > HD_MAX_DIMS) {
        return hd_fail(HD_SHAPE, "%d dimensions: expected 0 to %d", n, HD_MAX_DIMS);
    }
    return n == 0 || sizes || hd__arg_null_arg("sizes");
}

/* dim, which counts from the end if it is negative, as a number in [0, n), n = max(ndim, 1).
 * Outside [-n, n) returns -1 and sets HD_INDEX: "hd_size: dim 3 of (2, 6, 3): expected -3 to 2". */
int hd__tensor_dim(const hd_tensor *x, int64_t dim);

/* The place of index, which counts from the end if it is negative, along dim d of x. Out of range
 * returns -1 with HD_INDEX: "hd_get: index 5 at dim 0 of (2, 3): expected -2 to 1". */
int64_t hd__tensor_index_at(const hd_tensor *x, int d, int64_t index);

/* The same, after the check that the argument x is a tensor; and that dim as a bit mask, or 0. */
int hd__tensor_dim_of(const hd_tensor *x, int64_t dim);
uint32_t hd__tensor_dim_mask(const hd_tensor *x, int64_t dim);
/* A list of dims as a bit mask; n == 0 means all. Returns 0 if x is no tensor, and with HD_INDEX if
 * a dim is out of range or repeated. */
uint32_t hd__dims_mask(const hd_tensor *x, int n, const int64_t *dims);
/* The same of an x that is checked. */
uint32_t hd__dims_listed(const hd_tensor *x, int n, const int64_t *dims);

/* NumPy's rule: sizes, of *ndim dims, become the shape that they and n others broadcast to; there
 * is room for n. Returns 0. If they do not broadcast, the result is the first dim at fault, counted
 * from the end (1 is the last), where sizes is as it was. */
int hd__tensor_broadcast_with(int *ndim, int64_t *sizes, int n, const int64_t *others);

/* Do sizes broadcast to those of a shape of to_n dims, without changing that? */
bool hd__tensor_spreads_to(int n, const int64_t *sizes, int to_n, const int64_t *to);

/* The shape that n tensors broadcast to; HD_NONE is skipped. Otherwise sets HD_SHAPE:
 * "hd_add: (2, 3) and (4,): sizes 3 and 4 at dim -1 do not broadcast". */
bool hd__tensor_broadcast(int n, hd_tensor *const *xs, int *ndim, int64_t *sizes);

#endif
