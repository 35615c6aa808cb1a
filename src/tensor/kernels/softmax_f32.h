/* softmax_f32.h - softmax_row.h's functions for float32, in vectors: the same bits. */
#ifndef HEED_KERNELS_SOFTMAX_F32_H
#define HEED_KERNELS_SOFTMAX_F32_H

#include "tensor/kernels/vec.h"

enum {
    STEP = 16,  /* floats a step: whole vectors at every level, twice the lanes of a sum */
    SIDE = 4,   /* vectors side by side */
    NEAR = 2048 /* bytes between what is read of the next row and what is asked of the cache */
};

/* ---------------------------------------------------------------- steps */

/* The last elements, fewer than a step, with `pad`, which changes no maximum or no sum, after
 * them. */
HDK_INLINE void load_rest(const float *x, int64_t n, float pad, float *e)
{
#ifdef __AVX512F__
    vstore_f32(e, (vec_f32)_mm512_mask_loadu_ps(_mm512_set1_ps(pad), (__mmask16)((1 << n) - 1), x));
#else
    for (int l = 0; l < STEP; l++) {
        e[l] = l < n ? x[l] : pad;
    }
#endif
}

HDK_INLINE void store_rest(float *y, const float *e, int64_t n)
{
#ifdef __AVX512F__
    _mm512_mask_storeu_ps(y, (__mmask16)((1 << n) - 1), (__m512)vload_f32(e));
#else
    for (int64_t l = 0; l < n; l++) {
        y[l] = e[l];
    }
#endif
}

HDK_INLINE void exp_step(const float *x, float m, float log_sum, float *e)
{
    for (int k = 0; k < STEP; k += HDK_V) {
        vstore_f32(e + k, vexp_f32(vload_f32(x + k) - m - log_sum));
    }
}

HDK_INLINE void add_step(eight_f32 *lane, const float *e)
{
    *lane += *(const eight_f32 *)e;
    *lane += *(const eight_f32 *)(e + STEP / 2);
}

/* SIDE vectors of exponentials exp(x - m - log_sum), side by side; e may be x */
HDK_INLINE void exp_steps(const float *x, float m, float log_sum, float *e)
{
    vec_f32 v[SIDE];
    for (int k = 0; k < SIDE; k++) {
        v[k] = vload_f32(x + k * HDK_V) - m - log_sum;
    }
    vexps_f32(v, SIDE);
    for (int k = 0; k < SIDE; k++) {
        vstore_f32(e + k * HDK_V, v[k]);
    }
}

/* The lanes folded in halves. Fewer than 8 elements, all in the first step, are added in order. */
HDK_INLINE float fold_lanes(const eight_f32 *lane, const float *first, int64_t n)
{
    float p[8], sum = -0.0f;
    if (n < 8) {
        for (int64_t i = 0; i < n; i++) {
            sum += first[i];
        }
        return sum;
    }
    memcpy(p, lane, sizeof p);
    for (int h = 4; h > 0; h /= 2) {
        for (int l = 0; l < h; l++) {
            p[l] += p[l + h];
        }
    }
    return p[0];
}

/* ---------------------------------------------------------------- rows */

/* The maximum of SIDE vectors and of x from i on; x[0] is already among them. */
HDK_INLINE float max_with_rest(vec_f32 *m, const float *x, int64_t i, int64_t n)
{
    float p[STEP];
    for (; i < n; i += STEP) {
        load_rest(x + i, n - i < STEP ? n - i : STEP, x[0], p);
        for (int k = 0; k < STEP; k += HDK_V) {
            m[0] = vmax_f32(vload_f32(p + k), m[0]);
        }
    }
    for (int k = 1; k < SIDE; k++) {
        m[0] = vmax_f32(m[0], m[k]);
    }
    return vlargest_f32(m[0]);
}

static HDK_NOINLINE float row_max_f32(const float *x, int64_t n)
{
    vec_f32 m[SIDE];
    int64_t i = 0;
    for (int k = 0; k < SIDE; k++) {
        m[k] = vall_f32(x[0] + 0.0f); /* -0 becomes 0 */
    }
    for (; i + SIDE * HDK_V <= n; i += SIDE * HDK_V) {
        for (int k = 0; k < SIDE; k++) {
            m[k] = vmax_f32(vload_f32(x + i + k * HDK_V), m[k]);
        }
    }
    return max_with_rest(m, x, i, n);
}

/* sum(exp(x - m - log_sum)). The exponentials go to e unless it is NULL; e may be x. The maximum of
 * the n elements from next on goes to *next_max unless that is NULL: so memory is read while exp is
 * computed. */
HDK_INLINE float row_exps(const float *x, int64_t n, float m, float log_sum, float *e,
                          const float *next, float *next_max)
{
    eight_f32 lane = {0};
    vec_f32 most[SIDE];
    float step[STEP], steps[SIDE * HDK_V];
    int64_t i = 0;
    for (int k = 0; next_max && k < SIDE; k++) {
        most[k] = vall_f32(next[0] + 0.0f);
    }
    for (; i + SIDE * HDK_V <= n; i += SIDE * HDK_V) {
        float *to = e ? e + i : steps;
        for (int k = 0; next_max && k < SIDE * HDK_V; k += STEP) {
            __builtin_prefetch((const void *)((uintptr_t)(next + i + k) + NEAR));
            hdk_prefetch(next + i + k, HDK_LINE);
        }
        for (int k = 0; next_max && k < SIDE; k++) {
            most[k] = vmax_f32(vload_f32(next + i + k * HDK_V), most[k]);
        }
        exp_steps(x + i, m, log_sum, to);
        for (int k = 0; k < SIDE * HDK_V; k += STEP) {
            add_step(&lane, to + k);
        }
    }
    if (next_max) {
        *next_max = max_with_rest(most, next, i, n);
    }
    for (; i + STEP <= n; i += STEP) {
        exp_step(x + i, m, log_sum, step);
        add_step(&lane, step);
        if (e) {
            memcpy(e + i, step, sizeof step);
        }
    }
    if (i < n) {
        load_rest(x + i, n - i, -INFINITY, step);
        exp_step(step, m, log_sum, step);
        add_step(&lane, step);
        if (e) {
            store_rest(e + i, step, n - i);
        }
    }
    return fold_lanes(&lane, step, n);
}

static HDK_NOINLINE float row_exp_f32(const float *x, int64_t n, float m, float log_sum, float *e)
{
    return row_exps(x, n, m, log_sum, e, NULL, NULL);
}

static HDK_NOINLINE float row_exp_then_f32(const float *x, int64_t n, float *m, const float *next,
                                           float *e)
{
    return row_exps(x, n, *m, 0, e, next, m);
}

static inline float row_exp_sum_then_f32(const float *x, int64_t n, float *m, const float *next)
{
    return row_exp_then_f32(x, n, m, next, NULL);
}

static inline float row_exp_sum_f32(const float *x, int64_t n, float m)
{
    return row_exp_sum_then_f32(x, n, &m, x);
}

/* sum(x), or sum(x y) where y is not NULL */
HDK_INLINE float row_products(const float *x, const float *y, int64_t n)
{
    eight_f32 lane = -(eight_f32){0}; /* the first elements themselves, as in PyTorch */
    float step[STEP] = {0}, other[STEP];
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        for (int k = 0; k < STEP; k += HDK_V) {
            vec_f32 v = vload_f32(x + i + k);
            if (y) {
                v *= vload_f32(y + i + k);
            }
            vstore_f32(step + k, v);
        }
        add_step(&lane, step);
    }
    if (i < n) {
        load_rest(x + i, n - i, -0.0f, step);
        if (y) {
            load_rest(y + i, n - i, 0, other);
            for (int l = 0; l < n - i; l++) {
                step[l] *= other[l];
            }
        }
        add_step(&lane, step);
    }
    return fold_lanes(&lane, step, n);
}

static inline float row_sum_f32(const float *x, int64_t n)
{
    return row_products(x, NULL, n);
}

static inline float row_dot_f32(const float *x, const float *y, int64_t n)
{
    return row_products(x, y, n);
}

/* ---------------------------------------------------------------- where a result is made */

/* A result that is to go past the cache is made in `room` and copied. */
static inline float *result_at_f32(float *y, float *room, bool stream)
{
    return stream ? room : y;
}

static inline void result_done_f32(float *y, const float *to, int64_t n)
{
    if (to != y) {
        hdk_stream_copy(y, to, n);
    }
}

/* y = (x - s) w, or with `scaled` y = (x - s) a; y may be x */
HDK_INLINE void put_products(float *y, const float *x, float s, const float *w, bool scaled,
                             float a, int64_t n, bool stream)
{
    int64_t i = stream ? hdk_line_begin(y, n) : 0, whole = n - (n - i) % HDK_V;
    for (int64_t j = 0; j < i; j++) {
        y[j] = (x[j] - s) * (scaled ? a : w[j]);
    }
    for (; stream && i < whole; i += HDK_V) {
        vstream_f32(y + i, (vload_f32(x + i) - s) * (scaled ? vall_f32(a) : vload_f32(w + i)));
    }
    for (; i < whole; i += HDK_V) {
        vstore_f32(y + i, (vload_f32(x + i) - s) * (scaled ? vall_f32(a) : vload_f32(w + i)));
    }
    for (; i < n; i++) {
        y[i] = (x[i] - s) * (scaled ? a : w[i]);
    }
}

/* y = e a; e may be y */
static inline void put_scaled_f32(float *y, const float *e, int64_t n, float a, bool stream)
{
    put_products(y, e, 0, NULL, true, a, n, stream);
}

/* dx = (dy - s) y */
static inline void put_slopes_f32(float *dx, const float *dy, const float *y, int64_t n, float s,
                                  bool stream)
{
    put_products(dx, dy, s, y, false, 0, n, stream);
}

/* y = x - m - log_sum */
static inline void put_less_f32(float *restrict y, const float *restrict x, int64_t n, float m,
                                float log_sum)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] - m - log_sum;
    }
}

#endif
