/* softmax_f64.h - the parts of a softmax of float64 that each CPU level has of its own: the order
 * of the sums is that of softmax_row.h. */
#ifndef HEED_KERNELS_SOFTMAX_F64_H
#define HEED_KERNELS_SOFTMAX_F64_H

#include "tensor/kernels/elementwise.h"

enum { EIGHT = 8, EXP_PART = 1024 };

typedef double eight_f64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t eight_i64 __attribute__((vector_size(64), aligned(8), may_alias));

/* *v = the last elements, fewer than 8, and `pad` after them */
static inline void last_f64(eight_f64 *v, const double *x, int64_t n, double pad)
{
    *v = pad - (eight_f64){0};
    memcpy(v, x, (size_t)n * sizeof *x);
}

/* Row x has at least one element, which the maximum begins with. */
static double level_max_f64(const double *x, int64_t n)
{
    double m = x[0];
    eight_f64 p = m - (eight_f64){0};
    for (int64_t i = 0; i < n; i += EIGHT) {
        eight_f64 v;
        if (n - i < EIGHT) {
            last_f64(&v, x + i, n - i, m);
        } else {
            v = *(const eight_f64 *)(x + i);
        }
        const eight_i64 larger = v > p;
        p = (eight_f64)(((eight_i64)v & larger) | ((eight_i64)p & ~larger));
    }
    for (int l = 0; l < EIGHT; l++) {
        m = p[l] > m ? p[l] : m;
    }
    return m;
}

/* y = (x - m - log_sum) a; y may be x */
static void level_put_f64(double *y, const double *x, int64_t n, double m, double log_sum, double a)
{
    int64_t i = 0;
    for (; i + EIGHT <= n; i += EIGHT) {
        *(eight_f64 *)(y + i) = (*(const eight_f64 *)(x + i) - m - log_sum) * a;
    }
    eight_f64 rest;
    last_f64(&rest, x + i, n - i, 0);
    rest = (rest - m - log_sum) * a;
    memcpy(y + i, &rest, (size_t)(n - i) * sizeof *y);
}

/* e = exp(x - m - log_sum), unless e is NULL; returns the sum */
static double level_exp_f64(const double *x, int64_t n, double m, double log_sum, double *e)
{
    eight_f64 lane = -(eight_f64){0}, rest;
    double s[EIGHT], sum = -0.0, room[EXP_PART];
    for (int64_t at = 0, k; at < n; at += k) {
        double *to = e ? e + at : room;
        int64_t i = 0;
        k = n - at < EXP_PART ? n - at : EXP_PART;
        level_put_f64(to, x + at, k, m, log_sum, 1);
        hdk_unary_all_f64(HDK_EXP, to, k);
        for (; i + EIGHT <= k; i += EIGHT) {
            lane += *(const eight_f64 *)(to + i);
        }
        last_f64(&rest, to + i, k - i, -0.0);
        lane += rest;
    }
    memcpy(s, &lane, sizeof s);
    if (n < EIGHT) {
        for (int64_t i = 0; i < n; i++) {
            sum += s[i];
        }
        return sum;
    }
    lane = (eight_f64){s[0] + s[4], s[1] + s[5], s[2] + s[6], s[3] + s[7]};
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

#endif
