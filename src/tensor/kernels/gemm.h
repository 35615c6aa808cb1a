/* gemm.h - one matrix product, of any strides: c = a b, of (m, k) and (k, n), or c += a b. c shares
 * no memory with a and b. */
#ifndef HEED_KERNELS_GEMM_H
#define HEED_KERNELS_GEMM_H

#include "tensor/kernels/kernels.h"

/* The order in which the products of an element are added, which decides bits. The whole product
 * has one, however it is cut. */
typedef enum hdk_order {
    HDK_CHAIN,    /* one sum over all steps, in order */
    HDK_SPLIT,    /* several sums, added up at the end: gemm_split.h */
    HDK_LONG_DOT, /* the same for two long dense vectors */
    HDK_ONE_STEP  /* no sum, so that the product may be -0; at most one step */
} hdk_order;

/* c = a b, a (m, k), b (k, n), c (m, n). Strides in elements; c's columns lie densely. */
typedef struct hdk_product {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, c_row;
    const void *bias;  /* (n,), added to every row at the end; or NULL */
    int64_t bias_step; /* its stride */
    bool add;          /* c += a b: the sums go on from what c holds */
    hdk_order order;
} hdk_product;

/* A product of at most so many rows, or of one column, has several chains for each element if the
 * inner dims of both operands are dense and the matrix has at least so many steps and elements. */
enum { HDK_SPLIT_ROWS = 8, HDK_SPLIT_STEPS = 64, HDK_SPLIT_ELEMENTS = 1 << 15 };

enum { HDK_LONG = 4096 }; /* so many elements make a dot long */

struct hdk_gemm {
    /* By dtype: float32, float64, int64. scratch is `room` bytes at a multiple of 64, or NULL,
     * which makes large products slower and changes no bit. */
    void (*product[3])(const hdk_product *p, void *scratch);
    int64_t (*room[3])(const hdk_product *p); /* 0: scratch is of no use */
    /* A float32 product of the order HDK_SPLIT, in which b is bfloat16: the bits of the product in
     * which it is converted to float32 before. */
    void (*split_bf16)(const hdk_product *p);
    int64_t tile_rows, tile_cols; /* of float32: c is best cut at their multiples */
};
HDK_FAMILY(hdk_gemm, plain, HDK_F64)

#endif
