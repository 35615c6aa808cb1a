/* access.h - reads elements, and reports changes in place (access.c). */
#ifndef HEED_TENSOR_ACCESS_H
#define HEED_TENSOR_ACCESS_H

#include "tensor/kernels/kernels.h"
#include "tensor/tensor_struct.h"

/* Reports to debug mode that the function named by hd__call is about to change x in place. */
HD__RARE void hd__tensor_tell_change(hd_tensor *x);
static inline void hd__tensor_changes(hd_tensor *x)
{
    if (hd__event_listening()) {
        hd__tensor_tell_change(x);
    }
}

/* Returns element number `at` of x's storage as a double. x has a floating-point dtype. */
static inline double hd__tensor_float_at(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    return x->dtype == HD_FLOAT32   ? (double)((const float *)data)[at]
           : x->dtype == HD_FLOAT64 ? ((const double *)data)[at]
                                    : (double)hdk_from_bf16(((const uint16_t *)data)[at]);
}

/* Returns element number `at` of x's storage. x is int64 or bool. */
static inline int64_t hd__tensor_int_at(const hd_tensor *x, int64_t at)
{
    const void *data = x->storage->data;
    return x->dtype == HD_INT64 ? ((const int64_t *)data)[at] : ((const uint8_t *)data)[at];
}

#endif
