/* dropout.h - loops that keep or zero elements by random draws. */
#ifndef HEED_KERNELS_DROPOUT_H
#define HEED_KERNELS_DROPOUT_H

#include "tensor/kernels/kernels.h"

/* The MCG31 stream from x0 on. Where it is below limit, an element is kept and divided by keep. */
typedef struct hdk_drop {
    uint32_t x0, limit;
    double keep;
    bool stream; /* the result goes past the cache */
} hdk_drop;

/* Tables: float32, float64. */
struct hdk_dropout {
    /* y = x * (kept / keep) for n contiguous elements, which draw from number `begin` of the stream
     * on; y may be x */
    void (*draw[2])(const hdk_drop *d, int64_t begin, int64_t n, const void *x, void *y);
};
HDK_FAMILY(hdk_dropout, baseline, HDK_F32)

#endif
