/* copy.h - copies of tensors, and numbers written to them (copy.c). */
#ifndef HEED_TENSOR_COPY_H
#define HEED_TENSOR_COPY_H

#include "tensor/lifecycle.h"

/* Returns x itself if it is contiguous; otherwise a contiguous copy, or NULL with an error if
 * memory runs out. */
hd_tensor *hd__tensor_contiguous(hd_tensor *x);
/* Returns x itself if it has dtype d. Otherwise returns hd__tensor_copied(x, d), which is NULL with
 * an error if memory runs out. */
hd_tensor *hd__tensor_cast(hd_tensor *x, hd_dtype d);
/* Returns a contiguous copy of x, or NULL with an error if memory runs out. */
hd_tensor *hd__tensor_clone(const hd_tensor *x);
/* Returns a copy of x in dtype d, whose dims have the same order in memory as x's dims
 * (hd__tensor_laid_out_as). Returns NULL with an error if memory runs out. */
hd_tensor *hd__tensor_copied(const hd_tensor *x, hd_dtype d);
/* Returns a view of x expanded to sizes, with strides of 0 in the expanded dims. The caller has
 * checked that x broadcasts to sizes. Returns NULL with an error if memory runs out. */
hd_tensor *hd__tensor_expand(hd_tensor *x, int ndim, const int64_t *sizes);

/* Copies src to dst, converted to dst's dtype, and returns dst. The caller has checked that src
 * broadcasts to dst, and that dst and src are the same memory or do not overlap. Does not count as
 * an in-place change. If dst is NULL, copies nothing and returns NULL. */
hd_tensor *hd__tensor_copy(hd_tensor *dst, const hd_tensor *src);

/* A row-major tensor over a C array. It is in no scope, and lives as long as this struct. */
typedef struct hd__tensor_array {
    hd_tensor t;
    hd__tensor_storage storage;
} hd__tensor_array;

/* Makes *a a tensor of x's dtype and shape over the array, and returns it. */
hd_tensor *hd__tensor_array_of(hd__tensor_array *a, const hd_tensor *x, const void *array);

/* Copies n >= 1 parts into a contiguous y, one after another along dim. In the other dims, each
 * part has y's sizes. An empty part may have any shape. */
void hd__tensor_join(hd_tensor *y, int dim, int64_t n, hd_tensor *const *parts);
/* Sets every element of x to value, converted as PyTorch's fill_ does, and returns x. Does not
 * count as an in-place change. */
hd_tensor *hd__tensor_fill(hd_tensor *x, hd_scalar value);

#endif
