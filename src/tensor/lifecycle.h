/* lifecycle.h - makes tensors, and counts the references to them (lifecycle.c). */
#ifndef HEED_TENSOR_LIFECYCLE_H
#define HEED_TENSOR_LIFECYCLE_H

#include "tensor/tensor_struct.h"

/* Sets *numel to the number of elements of a tensor of these sizes, and *bytes to their bytes in
 * dtype d. Returns false with an error if d or a size is wrong, or if the bytes overflow. */
bool hd__tensor_measure(hd_dtype d, int ndim, const int64_t *sizes, int64_t *numel, size_t *bytes);
/* Returns a new contiguous tensor with undefined values, in the innermost scope. Returns NULL with
 * an error if d or a size is wrong, or if memory runs out. */
hd_tensor *hd__tensor_empty(hd_dtype d, int ndim, const int64_t *sizes);

/* Does what hd__tensor_empty does, with x's sizes. */
hd_tensor *hd__tensor_empty_as(hd_dtype d, const hd_tensor *x);
/* Does what hd__tensor_empty does, for a tensor of ndim dims. Its sizes are x's sizes, except that
 * dim `dim` has size `size`. dim may be x->ndim, which adds a last dim. */
hd_tensor *hd__tensor_empty_with(hd_dtype d, const hd_tensor *x, int ndim, int dim, int64_t size);

/* Sets *bytes to the bytes of a contiguous copy of x. Returns false with HD_MEMORY if they
 * overflow, which may happen for an expanded x. */
bool hd__tensor_bytes(const hd_tensor *x, size_t *bytes);

/* Gives t these sizes, their row-major strides, and numel, which is the product of the sizes. */
void hd__tensor_set_contiguous(hd_tensor *t, int64_t numel, int ndim, const int64_t *sizes);

/* Returns a new tensor over x's storage, with these sizes, strides and offset (in elements), in the
 * innermost scope. It has no attachment (autograd node) and no base. The caller has checked that it
 * lies inside the storage. Returns NULL with an error if memory runs out. */
hd_tensor *hd__tensor_alias(const hd_tensor *x, int ndim, const int64_t *sizes,
                            const int64_t *strides, int64_t offset);
/* Returns an alias (hd__tensor_alias) with x's own sizes, strides and offset, or NULL with an error
 * if memory runs out. */
hd_tensor *hd__tensor_alias_of(const hd_tensor *x);
/* Returns an alias with x's own sizes, strides and offset that is in no scope. The caller has its
 * only reference, and drops it with hd__tensor_drop. Returns NULL with an error if memory runs
 * out. */
hd_tensor *hd__tensor_alias_held(const hd_tensor *x);

/* hd__tensor_hold adds a reference of heed's own, which hd_release never drops, and returns t.
 * hd__tensor_drop drops such a reference, and frees t if it was the last one. Both ignore NULL and
 * HD_NONE. */
hd_tensor *hd__tensor_hold(hd_tensor *t);
void hd__tensor_drop(hd_tensor *t);

/* True if t is contiguous, has one reference and no scope, and shares its memory with no other
 * tensor or program. The owner of that reference may then overwrite t. Backward functions overwrite
 * the gradient dy in this way. */
bool hd__tensor_held_once(const hd_tensor *t);
/* Drops t's base, so that t is no longer a view. Does nothing unless t is a view of all of its
 * base, the caller has the only reference to t, and t has the only reference to its base. */
void hd__tensor_leave_base(hd_tensor *t);

#endif
