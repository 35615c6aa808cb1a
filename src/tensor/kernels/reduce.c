/* reduce.c - sums, variances, extremes and their places, any and all, along lanes.
 *
 * Lanes that are contiguous runs are reduced one by one. Others are reduced a tile of neighbouring
 * lanes at a time, row by row. So both read memory in order and vectorise. The bits depend on n and
 * on which of the two ways it is, never on the CPU level. */
#include <string.h>

#include "tensor/kernels/reduce.h"
#include "tensor/kernels/template.h"

enum {
    LANES = 32,  /* partial sums of a run: four vectors of 8 floats */
    BLOCK = 512, /* elements of a run added in LANES lanes before they are folded */
    STEP = 16,   /* elements of a strided lane added in order */
    TILE = 128,  /* strided lanes side by side */
    LEVELS = 13  /* HDK_SUM_MAX / STEP is 2^12 */
};

#define TYPE f32
#include "tensor/kernels/reduce_sum.h"
#include "tensor/kernels/reduce_float.h"
#undef TYPE
#ifdef HDK_ALL_TYPES
#define TYPE f64
#include "tensor/kernels/reduce_sum.h"
#include "tensor/kernels/reduce_float.h"
#undef TYPE
#define TYPE u64
#include "tensor/kernels/reduce_sum.h"
#undef TYPE
#endif

/* The same for the maximum and the minimum: best(run) is max_run_f32 and so on. */
#define best(name) HDK__JOIN(MOST, fn(name))

#define IS_FLOAT ((T)0.5 > 0)
#define IS_NAN(v) (IS_FLOAT && (v) != (v))

#define MOST max
#define OP >=
#define STRICTLY >
#define TYPE f32
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#ifdef HDK_ALL_TYPES
#define TYPE f64
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#define TYPE i64
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#define TYPE b8
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#endif
#undef MOST
#undef OP
#undef STRICTLY

#define MOST min
#define OP <=
#define STRICTLY <
#define TYPE f32
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#ifdef HDK_ALL_TYPES
#define TYPE f64
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#define TYPE i64
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#define TYPE b8
#include "tensor/kernels/reduce_extreme.h"
#undef TYPE
#endif
#undef MOST
#undef OP
#undef STRICTLY

/* n bytes: is x not 0? From element `at` on. */
#define TRUTH(name, T)                                                                             \
    static void name(const void *from, int64_t at, int64_t stride, int64_t n, uint8_t *restrict y) \
    {                                                                                              \
        const T *x = (const T *)from + at;                                                         \
        for (int64_t i = 0; stride == 1 && i < n; i++) {                                           \
            y[i] = x[i] != 0;                                                                      \
        }                                                                                          \
        for (int64_t i = 0; stride != 1 && i < n; i++) {                                           \
            y[i] = x[i * stride] != 0;                                                             \
        }                                                                                          \
    }
TRUTH(truth_f32, float)
TRUTH(truth_b8, uint8_t) /* also serves pieces of any type */
#ifdef HDK_ALL_TYPES
TRUTH(truth_f64, double)
TRUTH(truth_i64, int64_t)
#endif

typedef void (*truth_loop)(const void *x, int64_t at, int64_t stride, int64_t n, uint8_t *y);

/* Does a run have a byte that is `settles`? */
static bool run_has(truth_loop truth, const void *x, int64_t at, int64_t n, int settles)
{
    uint8_t part[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = n - i < BLOCK ? n - i : BLOCK;
        truth(x, at + i, 1, m, part);
        if (memchr(part, settles, (size_t)m)) {
            return true;
        }
    }
    return false;
}

/* `any` is settled by a 1, `all` by a 0. */
static void reduce_logical(const hdk_lanes *l, void *const *data, truth_loop truth, uint8_t settles)
{
    uint8_t *y = data[0], part[TILE], result[TILE];
    int64_t ys = l->sk[0], sn = l->sn[1], sk = l->sk[1];
    for (int64_t j = 0; sn == 1 && j < l->k; j++) {
        y[j * ys] = run_has(truth, data[1], j * sk, l->n, settles) ? settles : !settles;
    }
    for (int64_t j0 = 0; sn != 1 && j0 < l->k; j0 += TILE) {
        int64_t k = l->k - j0 < TILE ? l->k - j0 : TILE;
        memset(result, !settles, sizeof result);
        for (int64_t i = 0; i < l->n; i++) {
            truth(data[1], j0 * sk + i * sn, sk, k, part);
            for (int64_t j = 0; j < k; j++) {
                result[j] = settles ? result[j] | part[j] : result[j] & part[j];
            }
        }
        for (int64_t j = 0; j < k; j++) {
            y[(j0 + j) * ys] = result[j];
        }
    }
}

#define LOGICAL(name, truth, settles)                                                              \
    static void name(const hdk_lanes *l, void *const *data, double p)                              \
    {                                                                                              \
        (void)p;                                                                                   \
        reduce_logical(l, data, truth, settles);                                                   \
    }
LOGICAL(any_f32, truth_f32, 1)
LOGICAL(any_b8, truth_b8, 1)
LOGICAL(all_f32, truth_f32, 0)
LOGICAL(all_b8, truth_b8, 0)
#ifdef HDK_ALL_TYPES
LOGICAL(any_f64, truth_f64, 1)
LOGICAL(any_i64, truth_i64, 1)
LOGICAL(all_f64, truth_f64, 0)
LOGICAL(all_i64, truth_i64, 0)
#endif

#define PLACE(name, T)                                                                             \
    static void name(const hdk_lanes *l, void *const *data, double p)                              \
    {                                                                                              \
        T *dx = data[0];                                                                           \
        const T *dy = data[1];                                                                     \
        const int64_t *index = data[2];                                                            \
        (void)p;                                                                                   \
        for (int64_t j = 0; j < l->k; j++) {                                                       \
            dx[j * l->sk[0] + index[j * l->sk[2]] * l->sn[0]] = dy[j * l->sk[1]];                  \
        }                                                                                          \
    }
PLACE(put_at_f32, float)
#ifdef HDK_ALL_TYPES
PLACE(put_at_f64, double)
#endif

#define ALL(name) name##_f32, HDK_COMMON(name##_f64), HDK_COMMON(name##_i64), HDK_COMMON(name##_b8)

const struct hdk_reduce HDK_TABLE(hdk_reduce) = {
    .kernel =
        {
            [HDK_SUM] = {sum_f32, HDK_COMMON(sum_f64), HDK_COMMON(sum_u64), NULL},
            [HDK_MAX] = {ALL(max_value)},
            [HDK_MIN] = {ALL(min_value)},
            [HDK_ANY] = {any_f32, HDK_COMMON(any_f64), HDK_COMMON(any_i64), any_b8},
            [HDK_ALL] = {all_f32, HDK_COMMON(all_f64), HDK_COMMON(all_i64), all_b8},
            [HDK_VAR] = {var_f32, HDK_COMMON(var_f64), NULL, NULL},
            [HDK_ARGMAX] = {ALL(max_arg)},
            [HDK_ARGMIN] = {ALL(min_arg)},
        },
    .place = {put_at_f32, HDK_COMMON(put_at_f64), NULL, NULL},
    .square_distance_f32 = square_distance_f32,
    .square_distance_f64 = HDK_COMMON(square_distance_f64),
};
