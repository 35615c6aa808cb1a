/* dropout.h - dropout by random draws. */
#ifndef HEED_KERNELS_DROPOUT_H
#define HEED_KERNELS_DROPOUT_H

#include "tensor/kernels/kernels.h"

/* The parameters of dropout. Each element has a draw from the MCG31 stream that begins with x0. If
 * the draw is below limit, the element is kept and divided by keep; otherwise it is multiplied by
 * 0. */
typedef struct hdk_drop {
    uint32_t x0, limit;
    double keep;
    bool stream; /* true to write the result past the cache, with streaming stores */
} hdk_drop;

/* Indexed by dtype: float32, float64. */
struct hdk_dropout {
    /* Computes y = x * (kept / keep) for n contiguous elements, whose draws begin at index `begin`
     * of the stream. kept is 1 for an element that is kept, and 0 for others. y may be x. */
    void (*draw[2])(const hdk_drop *d, int64_t begin, int64_t n, const void *x, void *y);
};
HDK_FAMILY(hdk_dropout, baseline, HDK_F32)

#endif
