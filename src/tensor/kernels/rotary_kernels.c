/* rotary_kernels.c - y = x * cos + (-x2, x1) * sin, where x1 and x2 are the halves of a lane. Each
 * product is rounded, as if PyTorch's operations ran one after another. */
#include "tensor/kernels/loops.h"
#include "tensor/kernels/rotary.h"

#define ROTATE(name, T)                                                                            \
    static void name(const hdk_lanes *l, void *const *data, double p)                              \
    {                                                                                              \
        const int64_t half = l->n / 2;                                                             \
        (void)p;                                                                                   \
        for (int64_t j = 0; j < l->k; j++) {                                                       \
            T *y = (T *)data[0] + j * l->sk[0];                                                    \
            const T *x = (const T *)data[1] + j * l->sk[1];                                        \
            const T *c = (const T *)data[2] + j * l->sk[2];                                        \
            const T *s = (const T *)data[3] + j * l->sk[3];                                        \
            HDK_INDEPENDENT                                                                        \
            for (int64_t i = 0; i < half; i++) {                                                   \
                const T x1 = x[i], x2 = x[i + half];                                               \
                y[i] = x1 * c[i] - x2 * s[i];                                                      \
                y[i + half] = x2 * c[i + half] + x1 * s[i + half];                                 \
            }                                                                                      \
        }                                                                                          \
    }
ROTATE(turn_f32, float)
ROTATE(turn_f64, double)

const struct hdk_rotary HDK_TABLE(hdk_rotary) = {
    .turn = {turn_f32, turn_f64},
};
