/* loss.h - cross entropy of rows of logits, and the squared error. Tables are indexed by dtype,
 * float32 and float64. */
#ifndef HEED_KERNELS_LOSS_H
#define HEED_KERNELS_LOSS_H

#include "tensor/kernels/kernels.h"

/* Rows of c logits, side by side; row i begins at x + i * stride. A target equal to `ignore` has
 * loss 0 and no gradient; any other is in [0, c). */
typedef struct hdk_logits {
    const void *x;
    int64_t stride, rows, c;
    const int64_t *target; /* (rows,) */
    int64_t ignore;
    int ndim;    /* of the tensor whose logits they are; PyTorch's signs of zero depend on it */
    void *stats; /* (rows, 2): the maximum, and log sum exp(x - maximum) */
} hdk_logits;

struct hdk_loss {
    /* loss[i] = -log softmax(x_i)[target_i]; writes stats */
    void (*cross_entropy[2])(const hdk_logits *l, void *loss);
    /* dx = (softmax(x) - [target]) g / divisor, g of row i at g[i * gs]; reads stats;
     * dx (rows, c) is contiguous; with stream it goes past the cache */
    void (*cross_entropy_backward[2])(const hdk_logits *l, const void *g, int64_t gs,
                                      double divisor, bool stream, void *dx);
    /* hdk_loops: y = (x - t)^2 of {y, x, t}; dx = norm (x - t) dy of {dx, x, t, dy}, where params
     * points to norm, a double */
    void (*square[2])(char *const *data, const int64_t *strides, int64_t n, const void *params);
    void (*square_backward[2])(char *const *data, const int64_t *strides, int64_t n,
                               const void *params);
};
HDK_FAMILY(hdk_loss, plain, HDK_F32)

#endif
