/* loss.h - cross entropy of rows of logits, and the squared error. Tables are indexed by dtype:
 * float32, float64. */
#ifndef HEED_KERNELS_LOSS_H
#define HEED_KERNELS_LOSS_H

#include "tensor/kernels/kernels.h"

/* x has `rows` rows of c dense logits. Row i begins at x + i * stride. A target equal to `ignore`
 * has loss 0 and gradient 0; any other target must be in [0, c). */
typedef struct hdk_logits {
    const void *x;
    int64_t stride, rows, c;
    const int64_t *target; /* (rows,): the class of each row */
    int64_t ignore;
    int ndim;    /* number of dims of the logits; decides the sign of a zero, as in PyTorch */
    void *stats; /* (rows, 2): the maximum, and log sum exp(x - maximum) */
} hdk_logits;

struct hdk_loss {
    /* Computes loss[i] = -log softmax(x_i)[target_i], and writes stats. */
    void (*cross_entropy[2])(const hdk_logits *l, void *loss);
    /* Computes dx = (softmax(x) - onehot(target)) * g / divisor, where g of row i is g[i * gs].
     * Reads stats. dx (rows, c) is contiguous; with `stream` it is written past the cache. */
    void (*cross_entropy_backward[2])(const hdk_logits *l, const void *g, int64_t gs,
                                      double divisor, bool stream, void *dx);
    /* An hdk_loop that computes y = (x - t)^2 of the operands {y, x, t}. */
    void (*square[2])(char *const *data, const int64_t *strides, int64_t n, const void *params);
    /* An hdk_loop that computes dx = norm * (x - t) * dy of {dx, x, t, dy}; params points to norm,
     * a double. */
    void (*square_backward[2])(char *const *data, const int64_t *strides, int64_t n,
                               const void *params);
};
HDK_FAMILY(hdk_loss, plain, HDK_F32)

#endif
