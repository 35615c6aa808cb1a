/* bench.h - the parts of heed-bench: kinds of work, rows (a kind with its sizes), references (the
 * peaks of this machine), and the timing of a row in a process of its own. */
#ifndef HEED_BENCH_H
#define HEED_BENCH_H

#include "../examples/gpt.h"
#include "heed/heed.h"

enum { BENCH_ARGS = 8 };

/* ---------------------------------------------------------------- work */

/* The least that a piece of work must read and write: how many arrays of `bytes` are only read,
 * only written, or read and written in place. bytes 0: the work has no such reference. */
typedef struct bench_traffic {
    int in, out, inout;
    double bytes;
} bench_traffic;

/* The objects that a piece of work needs; each kind uses some of them. */
typedef struct bench_work {
    hd_tensor *x, *y, *dy, *target, *weight, *bias;
    double p;
    int64_t count;
    hd_module *module;
    hd_optim *optim;
    gpt_cache cache;
} bench_work;

/* The sizes have names, so that compare.py can make the same work. */
typedef struct bench_kind {
    const char *name;
    const char *args[BENCH_ARGS]; /* the names of the sizes; a NULL follows the last */
    const char *shape;            /* the sizes in words, for kinds without args */
    bool (*set_up)(bench_work *w, const double *a);
    /* Does the work once. In the first run its result, or the gradient of its result if
     * checks_grad, is reduced to one number, which compare.py compares with PyTorch's. */
    hd_tensor *(*run)(bench_work *w);
    bool checks_grad;
    double (*flops)(const double *a); /* of the products only; NULL: not counted */
    bench_traffic (*traffic)(const double *a);
} bench_kind;

extern const bench_kind kind_matmul, kind_add, kind_softmax, kind_softmax_backward, kind_gelu,
    kind_gelu_backward, kind_dropout, kind_dropout_backward, kind_layer_norm,
    kind_layer_norm_backward, kind_cross_entropy, kind_cross_entropy_backward; /* work_ops.c */
extern const bench_kind kind_tiny_step, kind_attention, kind_gpt, kind_adamw,
    kind_start;                                                       /* work_models.c */
extern const bench_kind kind_prefill, kind_decode;                    /* work_decode.c */
extern const bench_kind kind_hf_generate, kind_hf_step, kind_hf_load; /* work_hf.c */

extern const char *bench_model; /* the folder that rows hf/ load; NULL: these rows do not run */

/* The sizes of a GPT, the first of its rows' sizes; each kind adds its own. work_models.c */
enum { GPT_LAYERS, GPT_HEADS, GPT_WIDTH, GPT_CONTEXT, GPT_BATCH, GPT_VOCAB, GPT_OWN };
gpt_config bench_gpt_config(const double *a); /* without dropout */
double bench_gpt_weights(const double *a);    /* the weights that products read */
hd_tensor *bench_gpt_run(bench_work *w);      /* a training step of a language model: its loss */

/* ---------------------------------------------------------------- rows */

typedef struct bench_row {
    const char *name;
    const bench_kind *kind;
    double args[BENCH_ARGS];
} bench_row;

extern const bench_row bench_rows[];
extern const size_t bench_row_count;

/* Writes "m=64 k=64 n=64" to text, which has room for size bytes; returns text. */
const char *bench_shape(const bench_row *r, char *text, size_t size);
void bench_print_row(const bench_row *r); /* as JSON: name, kind and sizes */

/* ---------------------------------------------------------------- references */

double bench_now(void); /* nanoseconds */

/* The most that the machine does now on this many threads; each call takes some milliseconds. */
double bench_peak_flops(int threads);                             /* GFLOP/s, registers only */
double bench_peak_bandwidth(int threads, const bench_traffic *t); /* GB/s read and written */
double bench_traffic_total(const bench_traffic *t);               /* bytes read and written */

/* ---------------------------------------------------------------- timing */

typedef struct bench_timer {
    const bench_row *row;
    bench_work work;
    int threads;
    int calls;             /* runs in a turn; their mean is one measurement */
    double first;          /* nanoseconds of one run in the warm-up */
    double check;          /* the number of the first run */
    int64_t bytes_before;  /* live bytes before the first run */
    int64_t system_allocs; /* blocks asked of the system from the third run on */
} bench_timer;

/* Makes the row's work and runs it until it is warm; false: an error stands. */
bool bench_begin(bench_timer *t, const bench_row *row, int threads);
double bench_turn(bench_timer *t);         /* nanoseconds per run */
double bench_reference(bench_timer *t);    /* GFLOP/s for a row with flops, else GB/s; 0: none */
double bench_amount(const bench_timer *t); /* FLOP or bytes per run; 0: neither is counted */
void bench_end(bench_timer *t);
long bench_peak_rss(void); /* the most bytes that this process had in memory; 0: not known */

/* Measures `rounds` turns of the row in this process and prints its line; false: an error
 * stands. */
bool bench_report(const bench_row *row, int threads, int rounds);
/* Measures one turn for each line on stdin and prints it, until the input ends. */
bool bench_serve(const bench_row *row, int threads);

#endif
