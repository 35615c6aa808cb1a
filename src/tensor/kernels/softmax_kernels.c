/* softmax_kernels.c - softmax, log_softmax, logsumexp, cumsum, cross entropy and squared error,
 * forward and backward. With m = max of x and s = sum of e^(x - m) in a lane:
 *     softmax      y = e^(x - m) / s               dx = y * (dy - sum(dy * y))
 *     log_softmax  y = x - m - log s               dx = dy - e^y * sum(dy)
 *     logsumexp    y = m + log s
 *     cumsum       y_i = x_0 + ... + x_i
 * Only results are written. Along a dim other than the last, dx may be dy.
 *
 * Along the last dim (softmax_last.h) each row is contiguous. Its sum is PyTorch's
 * (softmax_parts.h), and the row is multiplied by 1 / sum. Along other dims (softmax_other.h)
 * neighbouring lanes are computed side by side. Each lane is summed in order and divided by its
 * sum. A row with NaN or +inf, or with -inf alone, becomes NaN without a special case.
 *
 * Cross entropy reads each row of logits twice forward (maximum, sum) and once backward. It never
 * stores the softmax, only two numbers per row from which the softmax follows. */
#include <stdlib.h>
#include <string.h>

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"
#include "tensor/kernels/loss.h"
#include "tensor/kernels/softmax.h"
#include "tensor/kernels/softmax_parts.h"
#include "tensor/kernels/template.h"

enum {
    SOFTMAX_TILE = 128,  /* the most lanes that are computed side by side */
    ROWS_AHEAD = 4,      /* a row of a tile is prefetched this many rows before it is read */
    SHORT_ROWS = 64,     /* rows of fewer than 8 elements are computed this many at a time */
    SOFTMAX_ROOM = 4096, /* number of elements of a row that fit into a buffer in the L1 cache */
    LOGITS_ROOM = 2048   /* number of logits that cross entropy's backward computes at a time */
};

/* Returns the length of the part that begins at i, if `all` elements are cut into parts of `most`.
 * After the last part, returns 0 or less. */
static inline int64_t part_of(int64_t all, int64_t i, int64_t most)
{
    return all - i < most ? all - i : most;
}

#define TYPE f32
#include "tensor/kernels/softmax_other.h"
#include "tensor/kernels/softmax_last.h"
#include "tensor/kernels/logsumexp.h"
#include "tensor/kernels/loss_body.h"
#undef TYPE

#define TYPE f64
#include "tensor/kernels/softmax_other.h"
#undef TYPE

#ifdef HDK_WIDE_TYPES
#define TYPE f64
#include "tensor/kernels/softmax_last.h"
#include "tensor/kernels/logsumexp.h"
#include "tensor/kernels/loss_body.h"
#undef TYPE
#endif

enum {
    LANES_TOGETHER = 4, /* number of lanes whose sums stay in registers */
    LINE = 16           /* number of float32 elements in a cache line */
};

/* Defines the kernel `name`, which computes y_i = x_0 + ... + x_i, summed in the type SUM. Backward
 * runs it from the end, with negative strides. Takes LANES_TOGETHER lanes at a time if the elements
 * of a lane lie closer together than neighbouring lanes, and more lanes otherwise. */
#define CUMSUM(name, T, SUM)                                                                       \
    HDK_INLINE void name##_tile(const hdk_lanes *l, T *restrict y, const T *restrict x, int64_t k) \
    {                                                                                              \
        const int64_t xn = l->sn[1], xk = l->sk[1], yn = l->sn[0], yk = l->sk[0];                  \
        SUM s[SOFTMAX_TILE] = {0};                                                                 \
        for (int64_t i = 0; i < l->n; i++, x += xn, y += yn) {                                     \
            for (int64_t j = 0; j < k; j++) {                                                      \
                s[j] += (SUM)x[j * xk];                                                            \
                y[j * yk] = (T)s[j];                                                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    HDK_INLINE void name##_few(const hdk_lanes *l, T *restrict y, const T *restrict x)             \
    {                                                                                              \
        const int64_t xn = l->sn[1], xk = l->sk[1], yn = l->sn[0], yk = l->sk[0];                  \
        SUM s[LANES_TOGETHER] = {0};                                                               \
        for (int64_t i = 0; i < l->n; i++, x += xn, y += yn) {                                     \
            HDK_UNROLL                                                                             \
            for (int j = 0; j < LANES_TOGETHER; j++) {                                             \
                s[j] += (SUM)x[j * xk];                                                            \
                y[j * yk] = (T)s[j];                                                               \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name(const hdk_lanes *l, void *const *data, double p)                              \
    {                                                                                              \
        bool apart = llabs(l->sn[1]) < llabs(l->sk[1]);                                            \
        bool rows = llabs(l->sn[0]) < llabs(l->sk[0]); /* each lane writes its own cache lines */  \
        int64_t tile = apart ? LANES_TOGETHER : rows ? LINE : SOFTMAX_TILE;                        \
        (void)p;                                                                                   \
        for (int64_t j = 0, k; (k = part_of(l->k, j, tile)) > 0; j += tile) {                      \
            T *y = (T *)data[0] + j * l->sk[0];                                                    \
            const T *x = (const T *)data[1] + j * l->sk[1];                                        \
            if (k == LANES_TOGETHER) {                                                             \
                name##_few(l, y, x);                                                               \
            } else {                                                                               \
                name##_tile(l, y, x, k);                                                           \
            }                                                                                      \
        }                                                                                          \
    }
CUMSUM(cumsum_f32, float, double)
#ifdef HDK_WIDE_TYPES
CUMSUM(cumsum_f64, double, double)
CUMSUM(cumsum_i64, int64_t, uint64_t)
#endif

#define BOTH(last, other)                                                                          \
    {                                                                                              \
        {last##_f32, HDK_WIDE(last##_f64)},                                                        \
        {                                                                                          \
            other##_f32, other##_f64                                                               \
        }                                                                                          \
    }

const struct hdk_softmax HDK_TABLE(hdk_softmax) = {
    .along = {BOTH(softmax_last, softmax_other),
              BOTH(softmax_last_backward, softmax_other_backward),
              BOTH(log_softmax_last, log_softmax_other),
              BOTH(log_softmax_last_backward, log_softmax_other_backward)},
    .logsumexp = {logsumexp_f32, HDK_WIDE(logsumexp_f64)},
    .cumsum = {cumsum_f32, HDK_WIDE(cumsum_f64), HDK_WIDE(cumsum_i64)},
};

const struct hdk_loss HDK_TABLE(hdk_loss) = {
    .cross_entropy = {cross_entropy_f32, HDK_WIDE(cross_entropy_f64)},
    .cross_entropy_backward = {cross_entropy_backward_f32, HDK_WIDE(cross_entropy_backward_f64)},
    .square = {square_f32, HDK_WIDE(square_f64)},
    .square_backward = {square_backward_f32, HDK_WIDE(square_backward_f64)},
};

/* Names: cumsum_f32_tile cumsum_f32_few cumsum_f64_tile cumsum_f64_few cumsum_i64_tile
 * cumsum_i64_few */
