/* copy.h - loops that copy between any two dtypes, and that fill. */
#ifndef HEED_KERNELS_COPY_H
#define HEED_KERNELS_COPY_H

#include "tensor/kernels/kernels.h"

struct hdk_copy {
    hdk_loop convert[4][4]; /* [to][from]: data[0] = data[1] */
    hdk_loop fill[4];       /* data[0] = *(dtype *)params */
};
HDK_FAMILY(hdk_copy, HDK_F64)

#endif
