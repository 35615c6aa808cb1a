/* attention.h - softmax(q k^T scale + mask) v of one head of one sequence, and its gradients,
 * without ever holding the (l, s) weights: forward leaves log sum exp of each row of scores, from
 * which backward computes the weights again, tile by tile.
 *
 * Rahman, Rabe and Staats 2021 (arXiv:2112.05682), Dao et al. 2022, "FlashAttention". */
#ifndef HEED_KERNELS_ATTENTION_H
#define HEED_KERNELS_ATTENTION_H

#include "tensor/kernels/kernels.h"

typedef struct hdk_rows { /* a matrix of any strides, in elements */
    void *p;
    int64_t row, col;
} hdk_rows;

typedef struct hdk_head {
    int64_t l, s, d, dv; /* queries; keys; width of a query and a key; width of a value */
    hdk_rows q, k, v, out;
    void *lse;           /* (l), written by forward; +inf where a row of weights is all 0 */
    int64_t sees;        /* query i sees the keys before i + sees; the others cost nothing */
    hdk_rows mask;       /* (l, s); without a mask its p is NULL */
    bool mask_is_bool;   /* the mask is true where a key is seen; else it is added to the scores */
    bool safe;           /* a row of -inf gives zeros; else it gives NaN, as a softmax does */
    double scale;        /* the scores are multiplied by this if the divisor is 0 */
    double divisor;      /* and else divided by this */
    double keep;         /* dropout keeps with this probability and divides by it; 1: no dropout */
    const uint8_t *bits; /* one bit a weight, bit 0 of byte 0 first, 1 where it is kept; or NULL: */
    uint32_t seed;       /* then an MCG31 stream (mcg31.h of base) that begins with x_0 decides, */
    uint32_t limit;      /* which keeps a weight where its element is below this */
    int64_t first;       /* the number of this head's first weight, in the bits or the stream */
} hdk_head;

typedef struct hdk_head_grads {
    hdk_rows dout, dq, dk, dv;
} hdk_head_grads;

/* The caller gives each thread scratch of `room` bytes, which are zero at first. A thread that goes
 * on with the same head finds there what it has packed. */
typedef struct hdk_attention_kernels {
    /* out and lse of the queries [from, to) */
    int64_t (*forward_room)(const hdk_head *h);
    void (*forward)(const hdk_head *h, int64_t from, int64_t to, void *scratch);
    /* the weights (l, s) after dropout, dense, of the queries [from, to), whose lse is known */
    void (*weights)(const hdk_head *h, int64_t from, int64_t to, void *weights, void *scratch);
    /* dk and dv of the keys [from, to), and what these keys add to dq, in all of dq */
    int64_t (*backward_room)(const hdk_head *h);
    void (*backward)(const hdk_head *h, const hdk_head_grads *g, int64_t from, int64_t to,
                     void *scratch);
    /* `from` of forward, and of backward, must be a multiple of these */
    int64_t query_block, key_block;
} hdk_attention_kernels;

struct hdk_attention {
    /* By dtype (float32, float64): row by row. The order of the sums is that of the matrix product
     * and the softmax kernels, so that the bits are theirs. */
    hdk_attention_kernels rows[2];
    hdk_attention_kernels tiles; /* float32, for more than a few keys */
};
HDK_FAMILY(hdk_attention, plain, HDK_B8)

#endif
