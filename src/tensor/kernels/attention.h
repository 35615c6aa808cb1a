/* attention.h - softmax(q @ k^T * scale + mask) @ v of one head of one sequence, and its gradients,
 * without ever storing the (l, s) weights. forward writes the log-sum-exp of each row of scores.
 * backward computes the weights from it again, block by block.
 *
 * Rabe and Staats 2021 (arXiv:2112.05682), Dao et al. 2022, "FlashAttention". */
#ifndef HEED_KERNELS_ATTENTION_H
#define HEED_KERNELS_ATTENTION_H

#include "tensor/kernels/kernels.h"

typedef struct hdk_rows { /* a matrix of any strides, in elements */
    void *p;
    int64_t row, col;
} hdk_rows;

typedef struct hdk_head {
    /* l: number of queries; s: number of keys; d: width of a query and of a key; dv: width of a
     * value */
    int64_t l, s, d, dv;
    hdk_rows q, k, v, out;
    void *lse;     /* log-sum-exp (l), written by forward; +inf for a row whose weights are all 0 */
    int64_t sees;  /* query i sees the keys before i + sees; no scores of later keys are computed */
    hdk_rows mask; /* (l, s); mask.p is NULL if there is no mask */
    /* if true, the mask is bool, and true for the keys that are seen; otherwise it is added to the
     * scores */
    bool mask_is_bool;
    bool safe;    /* if true, a row of scores of -inf gets weights of 0, not of NaN as in softmax */
    double scale; /* factor of the scores if divisor is 0 */
    double divisor; /* divisor of the scores, or 0 if scale is used */
    /* dropout keeps a weight with this probability and divides by it; 1 if no dropout */
    double keep;
    const uint8_t *bits; /* a bit per weight, 1 to keep it, lowest bit first; or NULL to use seed */
    uint32_t seed;       /* without bits: the first element of dropout's stream (mcg31.h of base) */
    uint32_t limit; /* without bits: a weight is kept if its element of the stream is below limit */
    int64_t first;  /* the index of this head's first weight, in the bits or the stream */
} hdk_head;

typedef struct hdk_head_grads { /* the gradients of out, q, k and v */
    hdk_rows dout, dq, dk, dv;
} hdk_head_grads;

/* The caller gives each thread scratch of forward_room or backward_room bytes, and sets its first
 * 64 bytes to 0 before the first call. If the thread's next call has the same head, the kernel
 * finds the packed operands in scratch. */
typedef struct hdk_attention_kernels {
    /* forward computes out and lse of the queries [from, to) */
    int64_t (*forward_room)(const hdk_head *h);
    void (*forward)(const hdk_head *h, int64_t from, int64_t to, void *scratch);
    /* weights writes the weights of the queries [from, to), after dropout, to their rows of the
     * dense `weights` (l, s); forward must have written their lse */
    void (*weights)(const hdk_head *h, int64_t from, int64_t to, void *weights, void *scratch);
    /* backward computes dk and dv of the keys [from, to), and sets dq (l, d) to the part of dq that
     * comes from these keys */
    int64_t (*backward_room)(const hdk_head *h);
    void (*backward)(const hdk_head *h, const hdk_head_grads *g, int64_t from, int64_t to,
                     void *scratch);
    /* `from` must be a multiple of query_block in forward, and of key_block in backward */
    int64_t query_block, key_block;
} hdk_attention_kernels;

struct hdk_attention {
    /* The kernels that compute row by row, by dtype (float32, float64). Their sums have the order
     * of the matrix product and of the softmax kernels. So attention that is written as separate
     * ops gives the same bits. */
    hdk_attention_kernels rows[2];
    hdk_attention_kernels tiles; /* computes in tiles, for float32 and more than a few keys */
};
HDK_FAMILY(hdk_attention, plain, HDK_B8)

#endif
