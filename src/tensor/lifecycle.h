/* lifecycle.h - makes tensors, and counts their holders (lifecycle.c). */
#ifndef HEED_TENSOR_LIFECYCLE_H
#define HEED_TENSOR_LIFECYCLE_H

#include "tensor/tensor_struct.h"

/* The number of elements of these sizes, and their bytes in dtype d. Checks d and the sizes. */
bool hd__tensor_measure(hd_dtype d, int ndim, const int64_t *sizes, int64_t *numel, size_t *bytes);
/* A fresh contiguous tensor in the innermost scope, with undefined values. Checks d and the
 * sizes. */
hd_tensor *hd__tensor_empty(hd_dtype d, int ndim, const int64_t *sizes);

/* The same with x's shape. */
hd_tensor *hd__tensor_empty_as(hd_dtype d, const hd_tensor *x);
/* The same with another size at dim, which may be a new last dim. ndim: the result's. */
hd_tensor *hd__tensor_empty_with(hd_dtype d, const hd_tensor *x, int ndim, int dim, int64_t size);

/* Computes the bytes of a contiguous copy of x. Fails with HD_MEMORY if they overflow, as those of
 * an expanded x may. */
bool hd__tensor_bytes(const hd_tensor *x, size_t *bytes);

/* Sets t's sizes, its row-major strides, and numel, the product of the sizes. */
void hd__tensor_set_contiguous(hd_tensor *t, int64_t numel, int ndim, const int64_t *sizes);

/* A tensor over x's storage with the given sizes, strides and offset (in elements), in the
 * innermost scope. It has no attachment and no base. The caller has checked that it lies inside the
 * storage. */
hd_tensor *hd__tensor_alias(const hd_tensor *x, int ndim, const int64_t *sizes,
                            const int64_t *strides, int64_t offset);
/* An alias with x's sizes, strides and offset. */
hd_tensor *hd__tensor_alias_of(const hd_tensor *x);
/* The same in no scope. The caller holds it, and calls hd__tensor_drop at the end. */
hd_tensor *hd__tensor_alias_held(const hd_tensor *x);

/* Add and drop a hold of heed's own, which hd_release never drops. Both ignore NULL and HD_NONE. */
hd_tensor *hd__tensor_hold(hd_tensor *t);
void hd__tensor_drop(hd_tensor *t);

/* True if t is contiguous, has one holder and no scope, and shares its memory with no other tensor.
 * Then its holder may overwrite it, as a backward function does with dy[k]. */
bool hd__tensor_held_once(const hd_tensor *t);
/* Drops t's base, so that t is no longer a view. Does nothing unless t is a view of all of its
 * base, the caller is t's only holder, and t is the base's only holder. */
void hd__tensor_leave_base(hd_tensor *t);

#endif
