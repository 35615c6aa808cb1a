/* peak.c - measures the peak speed of this machine, at heed's CPU level and on the threads of the
 * row: FLOP per second in registers, and bytes per second in memory for the row's mix of reads and
 * writes. */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "peak.h"

enum { MAX_THREADS = 64, MAX_ARRAYS = 4 };

volatile float peak_sink;

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const peak_level *level(void)
{
    static const peak_level *const levels[] = {
        &peak_baseline,
#ifdef HDK_HAVE_AVX2
        &peak_avx2,
#endif
#ifdef HDK_HAVE_AVX512
        &peak_avx512,
#endif
    };
    const char *name = hd_cpu_level();
    for (size_t i = 0; name && i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(levels[i]->name, name) == 0) {
            return levels[i];
        }
    }
    return levels[0];
}

/* ---------------------------------------------------------------- on several threads at once */

typedef struct part {
    pthread_barrier_t *barrier;
    void (*f)(struct part *p);
    float *arrays[MAX_ARRAYS];
    size_t n;
    peak_stream stream;
    double flops;
} part;

static void *run_part(void *arg)
{
    part *p = arg;
    pthread_barrier_wait(p->barrier);
    p->f(p);
    return NULL;
}

/* The nanoseconds from the moment when all threads are ready to the end of the last one. */
static double time_parts(part *parts, int threads)
{
    pthread_barrier_t barrier;
    pthread_t ids[MAX_THREADS];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        parts[i].barrier = &barrier;
    }
    for (int i = 1; i < threads; i++) {
        pthread_create(&ids[i], NULL, run_part, &parts[i]);
    }
    pthread_barrier_wait(&barrier);
    double begin = bench_now();
    parts[0].f(&parts[0]);
    for (int i = 1; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    double ns = bench_now() - begin;
    pthread_barrier_destroy(&barrier);
    return ns;
}

static int clamp_threads(int threads)
{
    return threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
}

/* ---------------------------------------------------------------- FLOP */

static void fma_part(part *p)
{
    p->flops = level()->fma(1 << 21);
}

double bench_peak_flops(int threads)
{
    part parts[MAX_THREADS] = {{0}};
    double flops = 0;
    threads = clamp_threads(threads);
    for (int i = 0; i < threads; i++) {
        parts[i].f = fma_part;
    }
    double ns = time_parts(parts, threads);
    for (int i = 0; i < threads; i++) {
        flops += parts[i].flops;
    }
    return flops / ns;
}

/* ---------------------------------------------------------------- bytes */

/* Zeroed memory, in huge pages where the system has them. It is freed when the process ends. */
static float *touched(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    bytes = (bytes + huge - 1) / huge * huge;
    float *x = aligned_alloc(huge, bytes);
    if (!x) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    madvise(x, bytes, MADV_HUGEPAGE);
#endif
    memset(x, 0, bytes);
    return x;
}

static void stream_part(part *p)
{
    level()->stream(p->stream, p->arrays, p->n);
}

static peak_stream stream_of(const bench_traffic *t)
{
    if (t->inout > 0) {
        return PEAK_UPDATE;
    }
    return t->out == 0 ? PEAK_READ : t->in == 1 ? PEAK_COPY : PEAK_TRIAD;
}

double bench_traffic_total(const bench_traffic *t)
{
    return (t->in + t->out + 2 * t->inout) * t->bytes;
}

static bool set_arrays(part *parts, int threads, const bench_traffic *t, size_t share)
{
    static float *arrays[MAX_ARRAYS];
    for (int j = 0; j < t->in + t->out + t->inout; j++) {
        if (!arrays[j] && (arrays[j] = touched((size_t)t->bytes)) == NULL) {
            return false;
        }
        for (int i = 0; i < threads; i++) {
            parts[i].arrays[j] = arrays[j] + (size_t)i * share;
        }
    }
    return true;
}

static double stream_time(part *parts, int threads, peak_stream s, size_t share)
{
    for (int i = 0; i < threads; i++) {
        parts[i].f = stream_part;
        parts[i].n = share;
        parts[i].stream = s;
    }
    return time_parts(parts, threads);
}

/* The arrays are as large as the row's, but at most 64 MiB each, which no cache holds. The result
 * is that of ordinary stores or of stores past the caches, whichever is faster. */
double bench_peak_bandwidth(int threads, const bench_traffic *t)
{
    const double most = (double)((size_t)64 << 20);
    bench_traffic used = *t;
    part parts[MAX_THREADS] = {{0}};
    used.bytes = t->bytes < most ? t->bytes : most;
    threads = clamp_threads(threads);
    size_t share = (size_t)used.bytes / sizeof(float) / (size_t)threads / 64 * 64;
    if (!set_arrays(parts, threads, &used, share)) {
        return 0;
    }
    peak_stream s = stream_of(t);
    double ns = stream_time(parts, threads, s, share);
    if (t->out > 0) {
        double past = stream_time(parts, threads, s + 1, share);
        ns = past < ns ? past : ns;
    }
    used.bytes = (double)(share * (size_t)threads * sizeof(float));
    return bench_traffic_total(&used) / ns;
}
