/* product.h - batched matrix products of tensors (product.c). */
#ifndef HEED_TENSOR_PRODUCT_H
#define HEED_TENSOR_PRODUCT_H

#include "tensor/dims.h"

/* A tensor as a batch of matrices (..., rows, cols). `batch` is the number of batch dims, which
 * come first. row and col are the distances from a row or column to the next one, in elements. */
typedef struct hd__product_matrix {
    const hd_tensor *t;
    int64_t rows, cols, row, col;
    int batch;
} hd__product_matrix;

/* Returns x with its matrices transposed. */
static inline hd__product_matrix hd__product_matrix_t(hd__product_matrix x)
{
    return (hd__product_matrix){x.t, x.cols, x.rows, x.col, x.row, x.batch};
}

/* Returns x as the left factor of a product. An x of one dim is a row. */
static inline hd__product_matrix hd__product_matrix_left(const hd_tensor *x)
{
    int n = x->ndim;
    if (n == 1) {
        return (hd__product_matrix){x, 1, x->sizes[0], 0, x->strides[0], 0};
    }
    return (hd__product_matrix){
        x, x->sizes[n - 2], x->sizes[n - 1], x->strides[n - 2], x->strides[n - 1], n - 2};
}

/* Returns x as the right factor of a product. An x of one dim is a column. */
static inline hd__product_matrix hd__product_matrix_right(const hd_tensor *x)
{
    return x->ndim == 1 ? hd__product_matrix_t(hd__product_matrix_left(x))
                        : hd__product_matrix_left(x);
}

/* Returns y as the result of a product a @ b. Set no_rows if a has one dim, because y then has no
 * dim for rows. Set no_cols if b has one dim, because y then has no dim for columns. */
hd__product_matrix hd__product_matrix_result(const hd_tensor *y, bool no_rows, bool no_cols);

/* Computes c = a @ b, with all three of one dtype, which is not bool. If a and c are float32 and b
 * has two dims, b may be bfloat16; the result has the same bits as for b converted to float32.
 * Batches broadcast. A batch dim that c lacks is summed over, in order. c is contiguous. Unless
 * bias (c.cols,) is NULL, it is added to each row. The function cannot fail; if it gets no memory
 * for scratch, it is slower. */
void hd__product(hd__product_matrix a, hd__product_matrix b, hd__product_matrix c,
                 const hd_tensor *bias);

/* True if a and b have the same dtype and it is not bool; otherwise false with HD_DTYPE. */
bool hd__product_dtypes(const char *a_name, const hd_tensor *a, const char *b_name,
                        const hd_tensor *b);

#endif
