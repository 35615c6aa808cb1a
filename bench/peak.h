/* peak.h - loops that measure the peak speed of one core. They are in peak_level.c, which is
 * compiled once for each CPU level. */
#ifndef HEED_BENCH_PEAK_H
#define HEED_BENCH_PEAK_H

#include <stddef.h>
#include <stdint.h>

/* The loops over memory: one for each mix of arrays that the rows read (in), write (out), or read
 * and write (inout). If a loop only writes an array, the loop after it does the same with stores
 * that go past the caches. */
typedef enum peak_stream {
    PEAK_READ, /* in 1 */
    PEAK_COPY, /* in 1, out 1 */
    PEAK_COPY_PAST,
    PEAK_TRIAD, /* in 2, out 1 */
    PEAK_TRIAD_PAST,
    PEAK_UPDATE, /* in 1, inout 3 */
    PEAK_STREAMS
} peak_stream;

typedef struct peak_level {
    const char *name;
    double (*fma)(int64_t n);                                 /* returns the number of FLOP */
    void (*stream)(peak_stream s, float *const *x, size_t n); /* n: a multiple of 64 */
} peak_level;

extern const peak_level peak_baseline, peak_avx2, peak_avx512;
extern volatile float peak_sink; /* results go here, so that the compiler computes them */

#endif
