/* softmax_row.h - the parts of a softmax over one contiguous run: a template (template.h), for
 * softmax.c and attention.c. softmax_f32.h has the same in vectors.
 *
 * The order of the sums is that of PyTorch with 8 floats a vector, at every CPU level: under 8
 * elements in order; else in 8 lanes, where the tail goes to the first ones, and which are then
 * folded in halves. */

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/softmax.h"
#include "tensor/kernels/vec.h"

enum { fn(PARTS) = 8 / SVECTOR }; /* vectors of 8 elements */

/* a > b ? a : b */
HDK_INLINE SVEC fn(larger)(SVEC a, SVEC b)
{
    const __typeof__(a > b) first = a > b;
    return (SVEC)(((__typeof__(first))a & first) | ((__typeof__(first))b & ~first));
}

/* The maximum of at least one element, which the lanes begin with */
static HDK_NOINLINE T fn(row_max)(const T *x, int64_t n)
{
    T m = x[0];
    SVEC p[fn(PARTS)];
    int64_t i = 0;
    for (int k = 0; k < fn(PARTS); k++) {
        p[k] = fn(sall)(m);
    }
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < fn(PARTS); k++) {
            p[k] = fn(larger)(*(const SVEC *)(x + i + k * SVECTOR), p[k]);
        }
    }
    for (; i < n; i++) {
        m = x[i] > m ? x[i] : m;
    }
    for (int l = 0; l < 8; l++) {
        m = p[l / SVECTOR][l % SVECTOR] > m ? p[l / SVECTOR][l % SVECTOR] : m;
    }
    return m;
}

/* Adds a part of a run to the lanes; every part but the last is a multiple of 8. */
HDK_INLINE void fn(lanes_add)(T *restrict lane, const T *restrict e, int64_t n)
{
    SVEC p[fn(PARTS)];
    int64_t i = 0;
    memcpy(p, lane, sizeof p);
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < fn(PARTS); k++) {
            p[k] += *(const SVEC *)(e + i + k * SVECTOR);
        }
    }
    memcpy(lane, p, sizeof p);
    for (int l = 0; i + l < n; l++) {
        lane[l] += e[i + l];
    }
}

static inline T fn(lanes_fold)(T *restrict lane)
{
    for (int h = 4; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            lane[l] += lane[l + h];
        }
    }
    return lane[0];
}

/* Sums begin from -0, so that they begin with the first elements themselves, as in PyTorch. */
#define LANES_BEGIN                                                                                \
    {                                                                                              \
        -(T)0, -(T)0, -(T)0, -(T)0, -(T)0, -(T)0, -(T)0, -(T)0                                     \
    }

static inline T fn(row_sum)(const T *e, int64_t n)
{
    T lane[8] = LANES_BEGIN;
    if (n < 8) {
        T s = -(T)0;
        for (int64_t i = 0; i < n; i++) {
            s += e[i];
        }
        return s;
    }
    fn(lanes_add)(lane, e, n);
    return fn(lanes_fold)(lane);
}

/* e = exp(x - m - log_sum); returns the sum */
static inline T fn(row_exp)(const T *x, int64_t n, T m, T log_sum, T *e)
{
    for (int64_t i = 0; i < n; i++) {
        e[i] = x[i] - m - log_sum;
    }
    fn(hdk_unary_all)(HDK_EXP, e, n);
    return fn(row_sum)(e, n);
}

/* sum(exp(x - m)) without room for the exponentials */
static inline T fn(row_exp_sum)(const T *x, int64_t n, T m)
{
    T lane[8] = {0}, e[256];
    if (n < 8) {
        return fn(row_exp)(x, n, m, 0, e);
    }
    for (int64_t i = 0; i < n; i += 256) {
        int64_t part = n - i < 256 ? n - i : 256;
        fn(row_exp)(x + i, part, m, 0, e);
        fn(lanes_add)(lane, e, part);
    }
    return fn(lanes_fold)(lane);
}

/* e = exp(x - *m); returns the sum. *m becomes the maximum of the row `next`, which float32 reads
 * meanwhile. */
static inline T fn(row_exp_then)(const T *x, int64_t n, T *m, const T *next, T *e)
{
    T sum = fn(row_exp)(x, n, *m, 0, e);
    *m = fn(row_max)(next, n);
    return sum;
}

static inline T fn(row_exp_sum_then)(const T *x, int64_t n, T *m, const T *next)
{
    T sum = fn(row_exp_sum)(x, n, *m);
    *m = fn(row_max)(next, n);
    return sum;
}

/* sum(x y) */
static inline T fn(row_dot)(const T *x, const T *y, int64_t n)
{
    T lane[8] = LANES_BEGIN, e[256];
    for (int64_t i = 0; i < n; i += 256) {
        int64_t part = n - i < 256 ? n - i : 256;
        for (int64_t j = 0; j < part; j++) {
            e[j] = x[i + j] * y[i + j];
        }
        if (n < 8) {
            return fn(row_sum)(e, n);
        }
        fn(lanes_add)(lane, e, part);
    }
    return fn(lanes_fold)(lane);
}

/* Of this type nothing goes past the cache. */
static inline T *fn(result_at)(T *y, T *room, bool stream)
{
    (void)room;
    (void)stream;
    return y;
}

static inline void fn(result_done)(T *y, const T *to, int64_t n)
{
    (void)y;
    (void)to;
    (void)n;
}

/* dx = (dy - s) y */
static inline void fn(put_slopes)(T *dx, const T *dy, const T *y, int64_t n, T s, bool stream)
{
    (void)stream;
    for (int64_t i = 0; i < n; i++) {
        dx[i] = (dy[i] - s) * y[i];
    }
}

/* y = e a; e may be y */
static inline void fn(put_scaled)(T *y, const T *e, int64_t n, T a, bool stream)
{
    (void)stream;
    for (int64_t i = 0; i < n; i++) {
        y[i] = e[i] * a;
    }
}

/* y = x - m - log_sum */
static inline void fn(put_less)(T *y, const T *x, int64_t n, T m, T log_sum)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] - m - log_sum;
    }
}
