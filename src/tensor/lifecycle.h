/* lifecycle.h - making tensors, and holding them (lifecycle.c). */
#ifndef HEED_TENSOR_LIFECYCLE_H
#define HEED_TENSOR_LIFECYCLE_H

#include "tensor/tensor_struct.h"

/* The number of elements of these sizes, and their bytes in dtype d; the arguments are checked. */
bool hd__measure(hd_dtype d, int ndim, const int64_t *sizes, int64_t *numel, size_t *bytes);
/* A fresh contiguous tensor in the innermost scope, with undefined values. Sizes are checked. */
hd_tensor *hd__empty(hd_dtype d, int ndim, const int64_t *sizes);

/* The same with x's shape. */
hd_tensor *hd__empty_as(hd_dtype d, const hd_tensor *x);
/* The same with another size at dim. ndim: x's, or one more if dim is a dim that x lacks. */
hd_tensor *hd__empty_with(hd_dtype d, const hd_tensor *x, int ndim, int dim, int64_t size);

/* The bytes of x's elements, one after another. An expanded x may have more than any memory has:
 * then fails with HD_MEMORY. */
bool hd__tensor_bytes(const hd_tensor *x, size_t *bytes);

/* Gives t these sizes, of which numel is the product, and the strides of a row-major tensor. */
void hd__set_contiguous(hd_tensor *t, int64_t numel, int ndim, const int64_t *sizes);

/* A tensor over x's storage with a geometry of its own (offset in elements), in the innermost
 * scope, without attachment and base. The caller promises that the geometry lies inside the
 * storage. */
hd_tensor *hd__alias(const hd_tensor *x, int ndim, const int64_t *sizes, const int64_t *strides,
                     int64_t offset);
/* An alias with x's geometry. */
hd_tensor *hd__alias_of(const hd_tensor *x);
/* An alias with x's geometry in no scope: the caller holds it, until hd__drop. */
hd_tensor *hd__alias_held(const hd_tensor *x);

/* Holds of heed's own, which hd_release never gives up. NULL and HD_NONE are left alone. */
hd_tensor *hd__hold(hd_tensor *t);
void hd__drop(hd_tensor *t);

/* May the holder of t write over it? It may if t is contiguous, has one holder and no scope, and no
 * other tensor uses its memory. A backward function may then write over dy[k]. */
bool hd__held_once(const hd_tensor *t);
/* A view of all of its base is a view no more, if the caller alone holds the view, and nothing else
 * its base. */
void hd__leave_base(hd_tensor *t);

#endif
