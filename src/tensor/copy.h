/* copy.h - copies of tensors, and numbers written to them (copy.c). */
#ifndef HEED_TENSOR_COPY_H
#define HEED_TENSOR_COPY_H

#include "tensor/lifecycle.h"

/* x itself if it is contiguous, or of dtype d; otherwise a copy that is. */
hd_tensor *hd__contiguous(hd_tensor *x);
hd_tensor *hd__cast(hd_tensor *x, hd_dtype d);
hd_tensor *hd__clone(const hd_tensor *x); /* fresh and contiguous */
/* A copy of dtype d that is laid out as x (hd__laid_out_as). */
hd_tensor *hd__copied(const hd_tensor *x, hd_dtype d);
/* x expanded to sizes by strides of 0. The caller has checked that it broadcasts. */
hd_tensor *hd__expand(hd_tensor *x, int ndim, const int64_t *sizes);

/* dst = src, element by element, converted to dst's dtype. The caller has checked that src
 * broadcasts to dst. They are the same memory, or do not overlap. Changes no version. Returns dst;
 * if that is NULL, nothing is copied. */
hd_tensor *hd__copy(hd_tensor *dst, const hd_tensor *src);

/* A row-major tensor over an array of x's dtype and shape. It lives as long as the struct and is in
 * no scope. */
typedef struct hd__array {
    hd_tensor t;
    hd__storage storage;
} hd__array;

hd_tensor *hd__array_of(hd__array *a, const hd_tensor *x, const void *array);

/* Copies n >= 1 parts, which follow each other along dim, to a contiguous y, whose other sizes they
 * have. A part without elements may have any shape. */
void hd__join(hd_tensor *y, int dim, int64_t n, hd_tensor *const *parts);
/* Converts value as PyTorch's fill_ does. Changes no version. Returns x. */
hd_tensor *hd__fill(hd_tensor *x, hd_scalar value);

#endif
