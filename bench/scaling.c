/* scaling.c - heed-scaling: times training steps of a GPT on the ranks that mpirun has started.
 * Rank 0 prints JSON.
 *
 *   mpirun -n 2 heed-scaling gpt/124m/dropout0 BATCH STEPS [shard|fast]
 *
 * BATCH is the batch of each rank. scaling.py runs it and compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "heed/mpi.h"

enum { WARM_UP = 2 };

static const bench_row *find_row(const char *name)
{
    const bench_row *found = NULL;
    for (size_t i = 0; i < bench_row_count; i++) {
        found = strcmp(bench_rows[i].name, name) == 0 ? &bench_rows[i] : found;
    }
    return found && found->kind == &kind_gpt ? found : NULL;
}

static bool train_step(const bench_work *w, hd_ddp *d)
{
    HD_SCOPE;
    hd_tensor *logits = hd_forward(w->module, w->x);                 /* (b, t, vocab) */
    hd_tensor *loss = hd_cross_entropy(hd_flatten(logits, 0, 1),     /* (b * t, vocab) */
                                       hd_flatten(w->target, 0, 1)); /* (b * t,) */
    return hd_module_zero_grad(w->module) && hd_backward(loss) && hd_ddp_step(d, w->optim);
}

static bool set_up(const bench_row *r, double batch, const char *how, bench_work *w, hd_ddp **d)
{
    double sizes[BENCH_ARGS];
    hd_ddp_options o = hd_ddp_defaults();
    hd_adamw_options a = hd_adamw_defaults();
    memcpy(sizes, r->args, sizeof sizes);
    sizes[GPT_BATCH] = batch;
    o.shard_optimizer = strcmp(how, "shard") == 0;
    o.fast = strcmp(how, "fast") == 0;
    a.lr = 1e-4;
    hd_manual_seed(123);
    bool ok = r->kind->set_up(w, sizes);
    hd_optim_free(w->optim);
    *d = ok ? hd_ddp_new(w->module, &o) : NULL;
    w->optim = hd_adamw_new(hd_ddp_parameters(*d), &a);
    return w->optim;
}

static void print_result(int steps, const double *times, const hd_ddp_figures *f)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("{\"ranks\": %d, \"threads\": %d, \"ns\": [", hd_mpi_size(), hd_num_threads());
    for (int i = 0; i < steps; i++) {
        printf("%s%.0f", i > 0 ? ", " : "", times[i]);
    }
    printf("], \"bytes\": %lld, \"early\": %lld, \"hidden\": %lld, \"moved\": %lld, \"buckets\": "
           "%lld, \"exposed_ns\": %.0f, \"hooks_ns\": %.0f, \"rss\": %lld}\n",
           (long long)f->bytes, (long long)f->bytes_early, (long long)f->bytes_hidden,
           (long long)f->bytes_moved, (long long)f->buckets, 1e9 * f->seconds_exposed,
           1e9 * f->seconds_hooks, 1024 * (long long)used.ru_maxrss);
}

static bool measure(const bench_row *r, double batch, int steps, const char *how)
{
    bench_work w = {0};
    hd_ddp *d = NULL;
    hd_ddp_figures f = {0};
    double *times = malloc((size_t)steps * sizeof *times);
    bool ok = times && set_up(r, batch, how, &w, &d);
    for (int i = -WARM_UP; ok && i < steps; i++) {
        ok = i != 0 || hd_ddp_get_figures(d, &f, true);
        double start = bench_now();
        ok = ok && train_step(&w, d);
        if (i >= 0) {
            times[i] = bench_now() - start;
        }
    }
    ok = ok && hd_ddp_get_figures(d, &f, false);
    if (ok && hd_mpi_rank() == 0) {
        print_result(steps, times, &f);
    }
    free(times);
    hd_ddp_free(d);
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = hd_mpi_init(&argc, &argv);
    const bench_row *r = argc >= 4 ? find_row(argv[1]) : NULL;
    if (ok && !r) {
        fprintf(stderr, "usage: heed-scaling ROW BATCH STEPS [shard|fast], with a row of a GPT\n");
    }
    ok = ok && r && measure(r, atof(argv[2]), atoi(argv[3]), argc > 4 ? argv[4] : "");
    if (hd_error_code() != HD_OK) {
        fprintf(stderr, "rank %d: %s\n", hd_mpi_rank(), hd_error_message());
    }
    return hd_mpi_finish() && ok ? 0 : 1;
}
