/* heed_bench.c - how long the small things take: JSON lines, one a measurement.
 *
 * usage: heed-bench [ROUNDS]; each round times every row once, so that rows and rounds can be set
 * against another library's in turn (compare.py). Times are nanoseconds a call, mean of a batch. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>

#include "heed/heed.h"

enum { TOKENS = 6, D_IN = 3, D_OUT = 2, HEADS = 2 };

typedef struct bench {
    hd_tensor *a, *b;      /* (6, 3) */
    hd_tensor *x, *target; /* (2, 6, 3), (2, 6, 2) */
    hd_module *attention;
    hd_optim *optim;
} bench;

typedef struct row {
    const char *name, *shape;
    int calls;
    void (*f)(bench *k);
} row;

/* ---------------------------------------------------------------- the rows */

static void add_with_grad(bench *k)
{
    HD_SCOPE;
    hd_add(k->a, k->b);
}

static void training_step(bench *k)
{
    HD_SCOPE;
    hd_tensor *loss = hd_mse_loss(hd_forward(k->attention, k->x), k->target);
    hd_optim_zero_grad(k->optim);
    hd_backward(loss);
    hd_optim_step(k->optim);
}

static const row rows[] = {
    {"add with grad", "(6, 3)", 200000, add_with_grad},
    {"training step", "MultiHeadAttention (2, 6, 3) -> 2, 2 heads", 5000, training_step},
};

/* ---------------------------------------------------------------- set-up and timing */

static void set_up(bench *k)
{
    hd_manual_seed(123);
    k->a = hd_requires_grad_(hd_rand(HD_FLOAT32, TOKENS, D_IN), true);
    k->b = hd_requires_grad_(hd_rand(HD_FLOAT32, TOKENS, D_IN), true);
    k->x = hd_rand(HD_FLOAT32, 2, TOKENS, D_IN);
    k->target = hd_rand(HD_FLOAT32, 2, TOKENS, D_OUT);
    k->attention = hd_multi_head_attention_new(D_IN, D_OUT, TOKENS, 0.0, HEADS, false);
    hd_sgd_options o = hd_sgd_defaults();
    o.lr = 0.01;
    k->optim = hd_sgd_new(hd_module_parameters(k->attention), &o);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_of(const row *r, bench *k, int calls)
{
    double begin = now();
    for (int i = 0; i < calls; i++) {
        r->f(k);
    }
    return (now() - begin) / calls;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 5;
    if (rounds < 1) {
        fprintf(stderr, "usage: heed-bench [ROUNDS]\n");
        return 2;
    }
    bench k;
    set_up(&k);
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const row *r = &rows[i];
            time_of(r, &k, r->calls / 10);
            printf("{\"name\": \"%s\", \"shape\": \"%s\", \"level\": \"%s\", \"threads\": %d, "
                   "\"ns\": %.1f}\n",
                   r->name, r->shape, hd_cpu_level(), hd_num_threads(), time_of(r, &k, r->calls));
            fflush(stdout);
        }
    }
    hd_optim_free(k.optim);
    hd_module_free(k.attention);
    if (hd_error_code()) {
        fprintf(stderr, "%s\n", hd_error_message());
        return 1;
    }
    return 0;
}
