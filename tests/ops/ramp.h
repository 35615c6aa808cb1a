/* ramp.h - makes tensors with the values 0, 1, 2, ... in row-major order. */
#ifndef HEED_TESTS_RAMP_H
#define HEED_TESTS_RAMP_H

#include "heed/autograd.h"

/* ramp(HD_FLOAT32, 2, 3): (2, 3) */
#define ramp(d, ...) hd_view(hd_arange_as(d, 0, product(HD__LIST(__VA_ARGS__)), 1), __VA_ARGS__)

static inline int64_t product(int n, const int64_t *sizes)
{
    int64_t numel = 1;
    for (int i = 0; i < n; i++) {
        numel *= sizes[i];
    }
    return numel;
}

#endif
