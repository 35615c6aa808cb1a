/* softmax.c - softmax, log_softmax, logsumexp and cumsum, forward and backward.
 *
 * Over the last dim each row is a contiguous run and its sum PyTorch's (softmax_row.h), then a
 * multiplication by 1 / sum; over other dims neighbouring lanes go side by side, each summed in
 * order and divided by its sum. Rows with NaN, with +inf, or all -inf become NaN by arithmetic. */
#include <string.h>

#include "tensor/kernels/softmax.h"
#include "tensor/kernels/softmax_f32.h"
#include "tensor/kernels/vexp.h"

enum {
    TILE = 128, /* lanes side by side */
    SHORT = 64, /* rows of under 8 elements at a time */
    ROOM = 4096 /* elements of a row made beside the result, in the first cache */
};

/* A row's parts of at most ROOM elements: n of them from i on. */
#define PARTS(all, i, n)                                                                           \
    for (int64_t i = 0, n; (n = (all)-i < ROOM ? (all)-i : ROOM) > 0; i += ROOM)

#define T float
#define F(name) name##_f32
#define EXP hdk_vexpf
#define LOG logf
#include "tensor/kernels/softmax_body.h"
#undef T
#undef F
#undef EXP
#undef LOG
#undef TILES

#define T double
#define F(name) name##_f64
#define EXP exp
#define LOG log
#include "tensor/kernels/softmax_row.h"
#include "tensor/kernels/softmax_body.h"
#undef T
#undef F
#undef EXP
#undef LOG
#undef TILES

/* y_i = x_0 + ... + x_i, added up in SUM. Backward runs it from the end by negative strides. */
#define CUMSUM(name, T, SUM)                                                                       \
    static void name(const hdk_lanes *l, void *const *data, double p)                              \
    {                                                                                              \
        (void)p;                                                                                   \
        int64_t tile = l->sn[1] == 1 ? 8 : TILE; /* rows: as many streams as go well together */   \
        for (int64_t j0 = 0; j0 < l->k; j0 += tile) {                                              \
            int64_t k = l->k - j0 < tile ? l->k - j0 : tile;                                       \
            T *restrict y = (T *)data[0] + j0 * l->sk[0];                                          \
            const T *restrict x = (const T *)data[1] + j0 * l->sk[1];                              \
            SUM s[TILE] = {0};                                                                     \
            for (int64_t i = 0; i < l->n; i++) {                                                   \
                for (int64_t j = 0; j < k; j++) {                                                  \
                    s[j] += (SUM)x[i * l->sn[1] + j * l->sk[1]];                                   \
                    y[i * l->sn[0] + j * l->sk[0]] = (T)s[j];                                      \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
CUMSUM(cumsum_f32, float, double)
CUMSUM(cumsum_f64, double, double)
CUMSUM(cumsum_i64, int64_t, uint64_t)

#define BOTH(name)                                                                                 \
    {                                                                                              \
        {name##_last_f32, name##_last_f64},                                                        \
        {                                                                                          \
            name##_other_f32, name##_other_f64                                                     \
        }                                                                                          \
    }
#define BOTH_BACKWARD(name)                                                                        \
    {                                                                                              \
        {name##_last_backward_f32, name##_last_backward_f64},                                      \
        {                                                                                          \
            name##_other_backward_f32, name##_other_backward_f64                                   \
        }                                                                                          \
    }

const struct hdk_softmax HDK_TABLE(hdk_softmax) = {
    .softmax = BOTH(softmax),
    .softmax_backward = BOTH_BACKWARD(softmax),
    .log_softmax = BOTH(log_softmax),
    .log_softmax_backward = BOTH_BACKWARD(log_softmax),
    .logsumexp = {logsumexp_f32, logsumexp_f64},
    .cumsum = {cumsum_f32, cumsum_f64, cumsum_i64},
};
