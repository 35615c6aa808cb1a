/* softmax_f64.h - the parts of a softmax of float64 that each CPU level has of its own: the order
 * of the sums is that of softmax_row.h. */
#ifndef HEED_KERNELS_SOFTMAX_F64_H
#define HEED_KERNELS_SOFTMAX_F64_H

#include "tensor/kernels/elementwise.h"

enum { EIGHT = 8, EXP_PART = 1024 };

typedef double eight_f64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t eight_i64 __attribute__((vector_size(64), aligned(8), may_alias));

static double level_max_f64(const double *x, int64_t n)
{
    double m = x[0];
    int64_t i = n & -EIGHT;
    if (i > 0) {
        eight_f64 p = *(const eight_f64 *)x;
        for (int64_t at = EIGHT; at < i; at += EIGHT) {
            const eight_f64 v = *(const eight_f64 *)(x + at);
            const eight_i64 larger = v > p;
            p = (eight_f64)(((eight_i64)v & larger) | ((eight_i64)p & ~larger));
        }
        for (int l = 0; l < EIGHT; l++) {
            m = p[l] > m ? p[l] : m;
        }
    }
    for (; i < n; i++) {
        m = x[i] > m ? x[i] : m;
    }
    return m;
}

/* e = exp(x - m - log_sum) of n elements, and the lanes of the sum; every part but the last is a
 * multiple of 8 */
static inline void exp_part_f64(const double *x, int64_t n, double m, double log_sum, double *e,
                                eight_f64 *lane)
{
    int64_t i = 0;
    for (; i + EIGHT <= n; i += EIGHT) {
        *(eight_f64 *)(e + i) = *(const eight_f64 *)(x + i) - m - log_sum;
    }
    for (; i < n; i++) {
        e[i] = x[i] - m - log_sum;
    }
    hdk_unary_all_f64(HDK_EXP, e, n);
    for (i = 0; i + EIGHT <= n; i += EIGHT) {
        *lane += *(const eight_f64 *)(e + i);
    }
    eight_f64 rest = -(eight_f64){0};
    memcpy(&rest, e + i, (size_t)(n - i) * sizeof *e);
    *lane += rest;
}

/* e = exp(x - m - log_sum), unless e is NULL; returns the sum */
static double level_exp_f64(const double *x, int64_t n, double m, double log_sum, double *e)
{
    eight_f64 lane = -(eight_f64){0};
    double s[EIGHT], sum = -0.0, room[EXP_PART];
    for (int64_t i = 0; i < n; i += EXP_PART) {
        exp_part_f64(x + i, n - i < EXP_PART ? n - i : EXP_PART, m, log_sum, e ? e + i : room,
                     &lane);
    }
    if (n < EIGHT) {
        for (int64_t i = 0; i < n; i++) {
            sum += e ? e[i] : room[i];
        }
        return sum;
    }
    memcpy(s, &lane, sizeof s);
    for (int h = EIGHT / 2; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            s[l] += s[l + h];
        }
    }
    return s[0];
}

/* y = (x - m - log_sum) a; y may be x */
static void level_put_f64(double *y, const double *x, int64_t n, double m, double log_sum, double a)
{
    int64_t i = 0;
    for (; i + EIGHT <= n; i += EIGHT) {
        *(eight_f64 *)(y + i) = (*(const eight_f64 *)(x + i) - m - log_sum) * a;
    }
    for (; i < n; i++) {
        y[i] = (x[i] - m - log_sum) * a;
    }
}

#endif
