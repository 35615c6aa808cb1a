/* peak_level.c - loops that only multiply and add in registers, or only read and write memory.
 *
 * BENCH_LEVEL is the name of the CPU level, and BENCH_LANES the number of floats in its vectors.
 * This file is compiled with contraction: acc * x + y is one instruction if the level has such an
 * instruction. */
#include "peak.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

typedef float vec __attribute__((vector_size(4 * BENCH_LANES)));

/* 12 independent sums hide the latency of two units, and together with x and y they fit in 16
 * registers. */
enum { SUMS = 12 };

static double fma_loop(int64_t n)
{
    vec sums[SUMS], x, y;
    for (int l = 0; l < BENCH_LANES; l++) {
        x[l] = 0.999F + peak_sink;
        y[l] = 0.001F + peak_sink;
    }
    for (int j = 0; j < SUMS; j++) {
        sums[j] = x * (float)j;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int j = 0; j < SUMS; j++) {
            sums[j] = sums[j] * x + y;
        }
    }
    for (int j = 1; j < SUMS; j++) {
        sums[0] += sums[j];
    }
    peak_sink = sums[0][0] * 0;
    return (double)n * SUMS * BENCH_LANES * 2;
}

/* ---------------------------------------------------------------- memory */

static void stream_read(float *const *x, size_t n)
{
    enum { WAYS = 8 };
    const vec *a = (const vec *)x[0];
    vec sums[WAYS] = {0};
    for (size_t i = 0; i + WAYS <= n / BENCH_LANES; i += WAYS) {
        for (int j = 0; j < WAYS; j++) {
            sums[j] += a[i + (size_t)j];
        }
    }
    for (int j = 1; j < WAYS; j++) {
        sums[0] += sums[j];
    }
    peak_sink = sums[0][0] * 0;
}

/* An ordinary store first reads the cache line that it writes; a store past the caches does not. */
#if defined(__clang__)
#define STORE_PAST(p, v) __builtin_nontemporal_store(v, p)
#elif defined(__x86_64__)
#if BENCH_LANES == 16
#define STORE_PAST(p, v) __builtin_ia32_movntps512((float *)(p), v)
#elif BENCH_LANES == 8
#define STORE_PAST(p, v) __builtin_ia32_movntps256((float *)(p), v)
#else
#define STORE_PAST(p, v) __builtin_ia32_movntps((float *)(p), v)
#endif
#else
#define STORE_PAST(p, v) (*(p) = (v))
#endif

static void stream_copy(float *const *x, size_t n)
{
    const vec *a = (const vec *)x[0];
    vec *y = (vec *)x[1];
    for (size_t i = 0; i < n / BENCH_LANES; i++) {
        y[i] = a[i] + 1;
    }
}

static void stream_copy_past(float *const *x, size_t n)
{
    const vec *a = (const vec *)x[0];
    vec *y = (vec *)x[1];
    for (size_t i = 0; i < n / BENCH_LANES; i++) {
        STORE_PAST(y + i, a[i] + 1);
    }
}

static void stream_triad(float *const *x, size_t n)
{
    const vec *a = (const vec *)x[0], *b = (const vec *)x[1];
    vec *y = (vec *)x[2];
    for (size_t i = 0; i < n / BENCH_LANES; i++) {
        y[i] = a[i] + b[i];
    }
}

static void stream_triad_past(float *const *x, size_t n)
{
    const vec *a = (const vec *)x[0], *b = (const vec *)x[1];
    vec *y = (vec *)x[2];
    for (size_t i = 0; i < n / BENCH_LANES; i++) {
        STORE_PAST(y + i, a[i] + b[i]);
    }
}

static void stream_update(float *const *x, size_t n)
{
    const vec *a = (const vec *)x[0];
    vec *p = (vec *)x[1], *q = (vec *)x[2], *r = (vec *)x[3];
    for (size_t i = 0; i < n / BENCH_LANES; i++) {
        p[i] += a[i];
        q[i] += a[i];
        r[i] += a[i];
    }
}

static void stream(peak_stream s, float *const *x, size_t n)
{
    static void (*const loops[PEAK_STREAMS])(float *const *, size_t) = {
        stream_read, stream_copy, stream_copy_past, stream_triad, stream_triad_past, stream_update};
    loops[s](x, n);
}

const peak_level JOIN(peak_, BENCH_LEVEL) = {TEXT(BENCH_LEVEL), fma_loop, stream};
