/* reduce_kernels.c - reductions along lanes: the sum of x_i, the sum of (x_i - mean)^2 / p, max or
 * min of x_i and its first index i, any and all. Only y is written.
 *
 * There are two ways, and both read memory in order. If the elements of a lane lie closer together
 * than neighbouring lanes, the lane is a run, and is reduced by itself. Otherwise a tile of lanes
 * is reduced at a time, row by row. A run or a row with gaps between its elements is first copied,
 * a block at a time, so that compilers vectorise both ways. The bits depend on n and on the way,
 * never on gaps or the CPU level. */
#include <string.h>

#include "tensor/kernels/reduce.h"
#include "tensor/kernels/template.h"
#include "tensor/kernels/vec.h"

enum {
    REDUCE_LANES = 32,  /* number of partial sums of a run: four vectors of 8 floats */
    REDUCE_BLOCK = 512, /* elements of a run that are added in REDUCE_LANES partial sums */
    REDUCE_STEP = 16,   /* number of elements of a lane of a tile that are added in order */
    REDUCE_TILE = 128,  /* number of lanes of a tile */
    LEVELS = 13 /* levels of partial sums (reduce_sum.h): HDK_SUM_MAX / REDUCE_STEP is 2^12 */
};

/* Defines a reduction of lanes of type X to one y of type Y per lane. RUN is an expression for the
 * result of one lane that is read by itself. TILES is a call that computes k <= SIDE_BY_SIDE lanes
 * side by side. */
#define REDUCTION(name, Y, X, SIDE_BY_SIDE, RUN, TILES)                                            \
    static void name(const hdk_lanes *l, void *const *data, double p)                              \
    {                                                                                              \
        const int64_t n = l->n, ys = l->sk[0], sn = l->sn[1], sk = l->sk[1];                       \
        Y *y = (Y *)data[0];                                                                       \
        const X *x = (const X *)data[1];                                                           \
        int64_t left = l->k;                                                                       \
        (void)p;                                                                                   \
        for (; left > 0 && hdk_lanes_apart(l); left--, x += sk, y += ys) {                         \
            *y = RUN;                                                                              \
        }                                                                                          \
        for (int64_t k; left > 0; left -= k, x += k * sk, y += k * ys) {                           \
            k = left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE;                                         \
            TILES;                                                                                 \
        }                                                                                          \
    }

/* best(run) is max_run_f32, min_run_f32 and so on: the type's name for the maximum or the
 * minimum. */
#define best(name) HDK__JOIN(MOST, fn(name))

#define IS_FLOAT ((T)0.5 > 0)
#define IS_NAN(v) (IS_FLOAT && (v) != (v))

#define TYPE f32
#include "tensor/kernels/reduce_dense.h"
#include "tensor/kernels/reduce_sum.h"
#include "tensor/kernels/reduce_float.h"
#include "tensor/kernels/reduce_extremes.h"
#undef TYPE
#define TYPE b8
#include "tensor/kernels/reduce_dense.h"
#include "tensor/kernels/reduce_extremes.h"
#undef TYPE
#define TYPE f64
#include "tensor/kernels/reduce_dense.h"
#include "tensor/kernels/reduce_sum.h"
#include "tensor/kernels/reduce_float.h"
#include "tensor/kernels/reduce_extremes.h"
#undef TYPE
#define TYPE i64
#include "tensor/kernels/reduce_dense.h"
#include "tensor/kernels/reduce_extremes.h"
#undef TYPE
#define TYPE u64
#include "tensor/kernels/reduce_dense.h"
#include "tensor/kernels/reduce_sum.h"
#undef TYPE

/* The functions for any and all. `truth` sets each of n bytes to 1 if the element of x is not 0,
 * and to 0 otherwise. With `zero`, `has` returns true if the run has an element that is 0, for
 * `all`. Without `zero`, it returns true if the run has an element that is not 0, for `any`. FLAGS
 * is an integer type as wide as T. */
#define TRUTH(type, T, FLAGS)                                                                      \
    static void truth_##type(const void *from, int64_t at, int64_t stride, int64_t n, uint8_t *y)  \
    {                                                                                              \
        T room[REDUCE_BLOCK];                                                                      \
        const T *restrict x = dense_##type((const T *)from + at, stride, n, room);                 \
        uint8_t *restrict t = y;                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            t[i] = x[i] != 0;                                                                      \
        }                                                                                          \
    }                                                                                              \
    static bool has_##type(const void *from, int64_t stride, int64_t n, bool zero)                 \
    {                                                                                              \
        T room[REDUCE_BLOCK];                                                                      \
        for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {                                            \
            int64_t m = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;                               \
            const T *x = dense_##type((const T *)from + i * stride, stride, m, room);              \
            FLAGS hit = 0;                                                                         \
            for (int64_t j = 0; j < m; j++) {                                                      \
                hit |= (x[j] == 0) == zero;                                                        \
            }                                                                                      \
            if (hit) {                                                                             \
                return true;                                                                       \
            }                                                                                      \
        }                                                                                          \
        return false;                                                                              \
    }
TRUTH(f32, float, uint32_t)
TRUTH(b8, uint8_t, uint8_t)
TRUTH(f64, double, uint64_t)
TRUTH(i64, int64_t, uint64_t)

typedef void (*truth_loop)(const void *x, int64_t at, int64_t stride, int64_t n, uint8_t *y);

/* Sets y, for each of k lanes, to its `any` if `settles` is 1, and to its `all` if `settles` is 0.
 * One element whose truth is `settles` decides y. */
static void logical_tile(truth_loop truth, const void *x, int64_t sn, int64_t sk, int64_t n,
                         int64_t k, uint8_t *y, int64_t ys, uint8_t settles)
{
    uint8_t part[REDUCE_BLOCK], result[REDUCE_BLOCK];
    memset(result, !settles, sizeof result);
    for (int64_t i = 0; i < n; i++) {
        truth(x, i * sn, sk, k, part);
        for (int64_t j = 0; j < k; j++) {
            result[j] = settles ? result[j] | part[j] : result[j] & part[j];
        }
    }
    for (int64_t j = 0; j < k; j++) {
        y[j * ys] = result[j];
    }
}

#define LOGICAL(type, T)                                                                           \
    REDUCTION(any_##type, uint8_t, T, REDUCE_BLOCK, has_##type(x, sn, n, false),                   \
              logical_tile(truth_##type, x, sn, sk, n, k, y, ys, 1))                               \
    REDUCTION(all_##type, uint8_t, T, REDUCE_BLOCK, !has_##type(x, sn, n, true),                   \
              logical_tile(truth_##type, x, sn, sk, n, k, y, ys, 0))
LOGICAL(f32, float)
LOGICAL(b8, uint8_t)
LOGICAL(f64, double)
LOGICAL(i64, int64_t)

/* Returns the number of the n <= REDUCE_BLOCK elements that are not 0. */
static int64_t count_block(const uint8_t *x, int64_t n)
{
    uint16_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        count = (uint16_t)(count + (x[i] != 0));
    }
    return count;
}

static int64_t count_run(const uint8_t *x, int64_t sn, int64_t n)
{
    uint8_t room[REDUCE_BLOCK];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += REDUCE_BLOCK) {
        int64_t m = n - i < REDUCE_BLOCK ? n - i : REDUCE_BLOCK;
        count += count_block(dense_b8(x + i * sn, sn, m, room), m);
    }
    return count;
}

/* Sets y, for each of k <= REDUCE_BLOCK lanes, to the number of elements that are not 0. Partial
 * counts are bytes, which are added to y after at most 255 rows, before they overflow. */
static void count_tile(const uint8_t *x, int64_t sn, int64_t sk, int64_t n, int64_t k, int64_t *y,
                       int64_t ys)
{
    uint8_t room[REDUCE_BLOCK], count[REDUCE_BLOCK];
    for (int64_t j = 0; j < k; j++) {
        y[j * ys] = 0;
    }
    for (int64_t i = 0; i < n;) {
        int64_t end = n - i < UINT8_MAX ? n : i + UINT8_MAX;
        memset(count, 0, sizeof count);
        for (; i < end; i++) {
            const uint8_t *row = dense_b8(x + i * sn, sk, k, room);
            for (int64_t j = 0; j < k; j++) {
                count[j] = (uint8_t)(count[j] + (row[j] != 0));
            }
        }
        for (int64_t j = 0; j < k; j++) {
            y[j * ys] += count[j];
        }
    }
}

/* Sets y, which is int64, to the number of true elements of each lane. */
REDUCTION(sum_b8, int64_t, uint8_t, REDUCE_BLOCK, count_run(x, sn, n),
          count_tile(x, sn, sk, n, k, y, ys))

#define ALL(name) name##_f32, name##_f64, name##_i64, name##_b8

const struct hdk_reduce HDK_TABLE(hdk_reduce) = {
    .kernel =
        {
            [HDK_SUM] = {sum_f32, sum_f64, sum_u64, sum_b8},
            [HDK_MAX] = {ALL(max_value)},
            [HDK_MIN] = {ALL(min_value)},
            [HDK_ANY] = {any_f32, any_f64, any_i64, any_b8},
            [HDK_ALL] = {all_f32, all_f64, all_i64, all_b8},
            [HDK_VAR] = {var_f32, var_f64, NULL, NULL},
            [HDK_ARGMAX] = {ALL(max_arg)},
            [HDK_ARGMIN] = {ALL(min_arg)},
        },
    .center = {center_f32, center_f64},
    .distance_f32 = square_distance_f32,
    .distance_f64 = square_distance_f64,
};

/* Names: truth_b8 truth_f32 truth_f64 truth_i64 has_b8 has_f32 has_f64 has_i64 */
