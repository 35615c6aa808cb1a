/* copy.h - copies of tensors, and numbers written to them (copy.c). */
#ifndef HEED_TENSOR_COPY_H
#define HEED_TENSOR_COPY_H

#include "tensor/lifecycle.h"

/* x itself if it is contiguous; otherwise a contiguous copy. */
hd_tensor *hd__tensor_contiguous(hd_tensor *x);
/* x itself if it is of dtype d; otherwise hd__tensor_copied(x, d). */
hd_tensor *hd__tensor_cast(hd_tensor *x, hd_dtype d);
hd_tensor *hd__tensor_clone(const hd_tensor *x); /* a contiguous copy */
/* A copy of dtype d, laid out like x (hd__tensor_laid_out_as). */
hd_tensor *hd__tensor_copied(const hd_tensor *x, hd_dtype d);
/* x expanded to sizes, with strides of 0. The caller has checked that x broadcasts to them. */
hd_tensor *hd__tensor_expand(hd_tensor *x, int ndim, const int64_t *sizes);

/* dst = src, element by element, converted to dst's dtype. The caller has checked that src
 * broadcasts to dst, and that both are the same memory or do not overlap. Does not count as an
 * in-place change. Returns dst. If dst is NULL, copies nothing. */
hd_tensor *hd__tensor_copy(hd_tensor *dst, const hd_tensor *src);

/* A row-major tensor over an array of x's dtype and shape. It is in no scope, and lives as long as
 * the struct. */
typedef struct hd__tensor_array {
    hd_tensor t;
    hd__tensor_storage storage;
} hd__tensor_array;

hd_tensor *hd__tensor_array_of(hd__tensor_array *a, const hd_tensor *x, const void *array);

/* Copies n >= 1 parts of y's other sizes to a contiguous y, one after another along dim. An empty
 * part may have any shape. */
void hd__tensor_join(hd_tensor *y, int dim, int64_t n, hd_tensor *const *parts);
/* x = value, converted as by PyTorch's fill_. Does not count as an in-place change. Returns x. */
hd_tensor *hd__tensor_fill(hd_tensor *x, hd_scalar value);

#endif
