/* gemm.h - one matrix product of any strides: c = a @ b or c += a @ b, with a (m, k) and b (k, n).
 * c shares no memory with a and b. */
#ifndef HEED_KERNELS_GEMM_H
#define HEED_KERNELS_GEMM_H

#include "tensor/kernels/kernels.h"

/* The order in which the products of an element of c are summed. The order decides the bits, so if
 * a matrix product is cut into parts, all parts have the same order. A step is one index along
 * k. */
typedef enum hdk_order {
    HDK_CHAIN,    /* one sum over all steps, in order */
    HDK_SPLIT,    /* several sums, which are added at the end: gemm_split.h */
    HDK_LONG_DOT, /* several sums for the dot of two long dense vectors */
    HDK_ONE_STEP  /* k <= 1: there is no sum, and an element may be -0 */
} hdk_order;

/* A product c = a @ b with a (m, k), b (k, n) and c (m, n). Strides count elements. c's rows are
 * dense. */
typedef struct hdk_product {
    int64_t m, n, k;
    const void *a, *b;
    void *c;
    int64_t a_row, a_col, b_row, b_col, c_row;
    const void *bias;  /* (n,), added to every row at the end; or NULL */
    int64_t bias_step; /* stride of bias, in elements */
    bool add;          /* true for c += a @ b, whose sums start from c; false for c = a @ b */
    hdk_order order;
} hdk_product;

/* A product has the order HDK_SPLIT if all of this holds: a and b are dense along k; k is at least
 * HDK_SPLIT_STEPS; b has no batch; either c has at most HDK_SPLIT_ROWS rows and b has more
 * than HDK_SPLIT_ELEMENTS elements, or c has one column and a has more than HDK_SPLIT_ELEMENTS
 * elements. */
enum { HDK_SPLIT_ROWS = 8, HDK_SPLIT_STEPS = 64, HDK_SPLIT_ELEMENTS = 1 << 15 };

enum { HDK_LONG = 4096 }; /* a dense dot of this many elements or more has the order HDK_LONG_DOT */

struct hdk_gemm {
    /* Indexed by dtype: float32, float64, int64. scratch has room(p) bytes at a multiple of 64, or
     * is NULL. Without scratch, large products are slower, but have the same bits. */
    void (*product[3])(const hdk_product *p, void *scratch);
    int64_t (*room[3])(const hdk_product *p); /* bytes of scratch that the product uses, or 0 */
    /* Computes a product whose order is HDK_SPLIT, with a float32 a, a bfloat16 b and a float32 c.
     * The result has the same bits as if b were converted to float32 first. */
    void (*bf16)(const hdk_product *p);
    int64_t tile_rows, tile_cols; /* for float32, c is best cut at multiples of these */
};
HDK_FAMILY(hdk_gemm, plain, HDK_F64)

#endif
