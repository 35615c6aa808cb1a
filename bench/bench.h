/* bench.h - what heed-bench is made of: kinds of work, rows (a kind with its sizes), references to
 * hold them against (the peaks of this machine), and the timing of a row in its own process. */
#ifndef HEED_BENCH_H
#define HEED_BENCH_H

#include "heed/heed.h"

enum { BENCH_ARGS = 8 };

/* ---------------------------------------------------------------- work */

/* What a piece of work reads and writes at the least: arrays of `bytes` that are only read, only
 * written, or read and written in place. bytes 0: nothing to hold it against. */
typedef struct bench_traffic {
    int in, out, inout;
    double bytes;
} bench_traffic;

/* The things that one piece of work uses; each kind uses some of them. */
typedef struct bench_work {
    hd_tensor *x, *y, *dy, *target, *weight, *bias;
    double p;
    hd_module *module;
    hd_optim *optim;
} bench_work;

/* Sizes are given as numbers by name, so that compare.py can make the same work. */
typedef struct bench_kind {
    const char *name;
    const char *args[BENCH_ARGS]; /* names of the sizes; NULL behind the last */
    const char *shape;            /* in words, where there are none */
    bool (*set_up)(bench_work *w, const double *a);
    /* One run. What it returns, or its gradient, is reduced to one number in the first run, which
     * compare.py checks against PyTorch's. */
    hd_tensor *(*run)(bench_work *w);
    bool checks_grad;
    double (*flops)(const double *a); /* of the products alone; NULL: not counted */
    bench_traffic (*traffic)(const double *a);
} bench_kind;

extern const bench_kind kind_matmul, kind_add, kind_softmax, kind_softmax_backward, kind_gelu,
    kind_gelu_backward, kind_dropout, kind_dropout_backward, kind_layer_norm,
    kind_layer_norm_backward, kind_cross_entropy, kind_cross_entropy_backward; /* work_ops.c */
extern const bench_kind kind_tiny_step, kind_attention, kind_gpt, kind_adamw,
    kind_start; /* work_models.c */

/* ---------------------------------------------------------------- rows */

typedef struct bench_row {
    const char *name;
    const bench_kind *kind;
    double args[BENCH_ARGS];
} bench_row;

extern const bench_row bench_rows[];
extern const size_t bench_row_count;

/* "m=64 k=64 n=64": in a buffer of the caller's */
const char *bench_shape(const bench_row *r, char *text, size_t size);
void bench_print_row(const bench_row *r); /* as JSON: name, kind and sizes */

/* ---------------------------------------------------------------- references */

double bench_now(void); /* nanoseconds */

/* What the machine does at most on this many threads, now; each takes some milliseconds. */
double bench_peak_flops(int threads);                             /* GFLOP/s, registers only */
double bench_peak_bandwidth(int threads, const bench_traffic *t); /* GB/s read and written */
double bench_traffic_total(const bench_traffic *t);               /* bytes read and written */

/* ---------------------------------------------------------------- timing */

typedef struct bench_timer {
    const bench_row *row;
    bench_work work;
    int threads;
    int calls;             /* runs in a turn: their mean is one measurement */
    double first;          /* nanoseconds that one run took, warm, when set up */
    double check;          /* the first run's number */
    int64_t bytes_before;  /* live before the first run */
    int64_t system_allocs; /* asked of the system from the third run on */
} bench_timer;

/* Makes the row's work and runs it until it is warm; false: an error stands. */
bool bench_begin(bench_timer *t, const bench_row *row, int threads);
double bench_turn(bench_timer *t);         /* nanoseconds a run */
double bench_reference(bench_timer *t);    /* GFLOP/s or GB/s, whichever holds; 0: neither */
double bench_amount(const bench_timer *t); /* FLOP or bytes a run; 0: neither counted */
void bench_end(bench_timer *t);
long bench_peak_rss(void); /* bytes: the most this process had in memory; 0: not known */

/* rounds turns of the row in this process, and its line; false: an error stands */
bool bench_report(const bench_row *row, int threads, int rounds);
/* One turn for each line on stdin, its line on stdout, until the input ends. */
bool bench_serve(const bench_row *row, int threads);

#endif
