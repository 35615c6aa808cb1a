/* access.h - reading and writing elements (access.c). */
#ifndef HEED_TENSOR_ACCESS_H
#define HEED_TENSOR_ACCESS_H

#include "tensor/kernels/kernels.h"
#include "tensor/tensor_struct.h"

/* hd__call is about to change x in place. */
HD__RARE void hd__tell_change(hd_tensor *x);
static inline void hd__changes(hd_tensor *x)
{
    if (hd__listening()) {
        hd__tell_change(x);
    }
}

/* The element of x, whose dtype holds floats, that is number `at` of its storage. */
static inline double hd__float_at(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    return x->dtype == HD_FLOAT32   ? (double)((const float *)data)[at]
           : x->dtype == HD_FLOAT64 ? ((const double *)data)[at]
                                    : (double)hdk_from_bf16(((const uint16_t *)data)[at]);
}

/* The same where x is of int64 or bool. */
static inline int64_t hd__int_at(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    return x->dtype == HD_INT64 ? ((const int64_t *)data)[at] : ((const uint8_t *)data)[at];
}

#endif
