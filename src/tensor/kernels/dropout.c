/* dropout.c - loops that keep or zero elements by a mask of bytes.
 *
 * A dropped element is multiplied by 0, as PyTorch does: -1 gives -0, inf gives NaN. */
#include "tensor/kernels/dropout.h"

#define APPLY(name, T)                                                                             \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T scale = 1 / (T)(*(const double *)params);                                                \
        if (strides[0] == sizeof(T) && strides[1] == sizeof(T) && strides[2] == 1) {               \
            T *restrict y = (T *)data[0];                                                          \
            const T *restrict x = (const T *)data[1];                                              \
            const uint8_t *restrict mask = (const uint8_t *)data[2];                               \
            for (int64_t i = 0; i < n; i++) {                                                      \
                y[i] = x[i] * (mask[i] ? scale : 0);                                               \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T x = *(const T *)(data[1] + i * strides[1]);                                          \
            *(T *)(data[0] + i * strides[0]) =                                                     \
                x * (*(const uint8_t *)(data[2] + i * strides[2]) ? scale : 0);                    \
        }                                                                                          \
    }

APPLY(apply_f32, float)
APPLY(apply_f64, double)

const struct hdk_dropout HDK_TABLE(hdk_dropout) = {.apply = {apply_f32, apply_f64}};
