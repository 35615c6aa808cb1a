/* dropout.h - loops that keep or zero elements by a mask of bytes. */
#ifndef HEED_KERNELS_DROPOUT_H
#define HEED_KERNELS_DROPOUT_H

#include "tensor/kernels/kernels.h"

struct hdk_dropout {
    hdk_loop apply[2]; /* float32, float64: data[0] = data[1] * (data[2] / *(double *)params) */
};
HDK_FAMILY(hdk_dropout)

#endif
