/* product.h - batched matrix products between tensors. */
#ifndef HEED_TENSOR_PRODUCT_H
#define HEED_TENSOR_PRODUCT_H

#include "tensor/dims.h"

/* A tensor read as matrices (..., rows, cols), with strides in elements. Its first `batch` dims
 * count the matrices. */
typedef struct hd__product_matrix {
    const hd_tensor *t;
    int64_t rows, cols, row, col;
    int batch;
} hd__product_matrix;

/* The matrices transposed. */
static inline hd__product_matrix hd__product_matrix_t(hd__product_matrix x)
{
    return (hd__product_matrix){x.t, x.cols, x.rows, x.col, x.row, x.batch};
}

/* x as the left factor, or as the right one: of rank 1 it is a row on the left, a column on the
 * right. */
static inline hd__product_matrix hd__product_matrix_left(const hd_tensor *x)
{
    int n = x->ndim;
    if (n == 1) {
        return (hd__product_matrix){x, 1, x->sizes[0], 0, x->strides[0], 0};
    }
    return (hd__product_matrix){
        x, x->sizes[n - 2], x->sizes[n - 1], x->strides[n - 2], x->strides[n - 1], n - 2};
}

static inline hd__product_matrix hd__product_matrix_right(const hd_tensor *x)
{
    return x->ndim == 1 ? hd__product_matrix_t(hd__product_matrix_left(x))
                        : hd__product_matrix_left(x);
}

/* The result y = a b, which lacks rows if a is of rank 1, and columns if b is. */
hd__product_matrix hd__product_matrix_result(const hd_tensor *y, bool no_rows, bool no_cols);

/* Computes c = a b, all of one dtype that is not bool; but b of two dims may be bfloat16 where the
 * others are float32, which gives the bits of b converted to float32. Batches broadcast; a batch
 * dim that a or b has and c lacks is summed over, in order. c is contiguous. bias: (c.cols,), added
 * to each row, or NULL. */
void hd__product(hd__product_matrix a, hd__product_matrix b, hd__product_matrix c,
                 const hd_tensor *bias);

/* Are the dtypes of a and b the same, and not bool? Otherwise sets HD_DTYPE. */
bool hd__product_dtypes(const char *a_name, const hd_tensor *a, const char *b_name,
                        const hd_tensor *b);

#endif
