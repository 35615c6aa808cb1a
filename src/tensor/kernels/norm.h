/* norm.h - layer normalisation of contiguous rows of n elements. Tables are indexed by dtype:
 * float32, float64. */
#ifndef HEED_KERNELS_NORM_H
#define HEED_KERNELS_NORM_H

#include "tensor/kernels/kernels.h"

/* stats (rows, 3) holds the mean, a correction and rstd = 1 / sqrt(var + eps) of each row. The
 * normalised x is
 *     (x - mean - correction) * rstd
 * The correction has the digits that are lost when the mean is rounded. */
typedef struct hdk_norm_rows {
    int64_t rows, n;
    const void *x;      /* (rows, n) */
    const void *weight; /* (n,), or NULL for ones */
    void *stats;
} hdk_norm_rows;

struct hdk_norm {
    /* Computes y = (x - mean) / sqrt(var + eps) * weight + bias with the biased var, and writes
     * stats. bias may be NULL. With `stream` y is written past the cache. */
    void (*layer_norm[2])(const hdk_norm_rows *r, const void *bias, double eps, bool stream,
                          void *y);
    /* Computes dx (rows, n), dweight (n,) and dbias (n,), each unless it is NULL. dweight and dbias
     * are sums over these rows alone. With `stream` dx is written past the cache. */
    void (*layer_norm_backward[2])(const hdk_norm_rows *r, const void *dy, bool stream, void *dx,
                                   void *dweight, void *dbias);
};
HDK_FAMILY(hdk_norm, plain, HDK_F32)

#endif
