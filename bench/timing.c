/* timing.c - makes, warms up and times one row in a process of its own, and reports it as JSON. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A turn of short work has as many runs as take this long, so that reading the clock costs
 * little. */
static const double turn_ns = 20e6;

/* Shorter work than a turn is done for so long before its turn: other work may have filled the
 * caches, and a thread that has slept runs on the CPU of its caller for some milliseconds, until
 * the system moves it. */
static const double warm_ns = 10e6;

/* ---------------------------------------------------------------- set-up */

/* The mean size of the elements of the first run's result; NaN if there is no result. */
static double check_of(const bench_timer *t, hd_tensor *y)
{
    if (!y || y == HD_NONE) {
        return !y ? NAN : 0;
    }
    HD_NO_GRAD;
    hd_tensor *z = t->row->kind->checks_grad ? hd_grad(y) : y;
    return hd_item(hd_mean(hd_abs(hd_to(z, HD_FLOAT64))));
}

static double one_run(bench_timer *t)
{
    double begin = bench_now();
    {
        HD_SCOPE;
        t->row->kind->run(&t->work);
    }
    return bench_now() - begin;
}

static void first_run(bench_timer *t)
{
    HD_SCOPE;
    t->check = check_of(t, t->row->kind->run(&t->work));
}

/* Runs two more times, and again until half a second is over. The fastest run tells how many runs a
 * turn has. Blocks that are asked of the system are counted from the third run on. */
static void warm_up(bench_timer *t)
{
    double begin = bench_now();
    t->first = one_run(t);
    t->system_allocs = -hd_system_allocs();
    for (int i = 0; i < 10 && (i < 1 || bench_now() - begin < 5e8); i++) {
        double ns = one_run(t);
        t->first = ns < t->first ? ns : t->first;
    }
    double calls = turn_ns / (t->first + 1);
    t->calls = calls < 1 ? 1 : calls > 1e6 ? 1000000 : (int)calls;
}

bool bench_begin(bench_timer *t, const bench_row *row, int threads)
{
    *t = (bench_timer){.row = row, .threads = threads};
    if (!hd_set_num_threads(threads) || !hd_manual_seed(123)) {
        return false;
    }
    {
        HD_SCOPE;
        if (!row->kind->set_up(&t->work, row->args)) {
            return false;
        }
    }
    t->bytes_before = hd_bytes_live();
    first_run(t);
    hd_bytes_peak_reset(); /* the memory of the check does not count */
    warm_up(t);
    return hd_error_code() == HD_OK;
}

void bench_end(bench_timer *t)
{
    bench_work *w = &t->work;
    hd_tensor *const held[] = {w->x, w->y, w->dy, w->target, w->weight, w->bias};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        hd_release(held[i]);
    }
    gpt_cache_free(&w->cache);
    hd_optim_free(w->optim);
    hd_module_free(w->module);
}

/* ---------------------------------------------------------------- measuring */

double bench_turn(bench_timer *t)
{
    for (double end = bench_now() + warm_ns; t->first < turn_ns && bench_now() < end;) {
        one_run(t);
    }
    double begin = bench_now();
    for (int i = 0; i < t->calls; i++) {
        HD_SCOPE;
        t->row->kind->run(&t->work);
    }
    return (bench_now() - begin) / t->calls;
}

/* Work on fewer bytes than this stays in the caches, so the speed of memory is no reference for
 * it. */
static const double out_of_cache = 48e6;

static bench_traffic traffic_of(const bench_timer *t)
{
    const bench_kind *kind = t->row->kind;
    return kind->traffic ? kind->traffic(t->row->args) : (bench_traffic){0};
}

double bench_reference(bench_timer *t)
{
    bench_traffic traffic = traffic_of(t);
    if (t->row->kind->flops) {
        return bench_peak_flops(t->threads);
    }
    if (bench_traffic_total(&traffic) >= out_of_cache) {
        return bench_peak_bandwidth(t->threads, &traffic);
    }
    return 0;
}

double bench_amount(const bench_timer *t)
{
    if (t->row->kind->flops) {
        return t->row->kind->flops(t->row->args);
    }
    bench_traffic traffic = traffic_of(t);
    return bench_traffic_total(&traffic);
}

/* getrusage would not do: its value begins with the memory of the process that started this one. */
long bench_peak_rss(void)
{
    char line[128];
    long kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "VmHWM: %ld kB", &kilobytes) == 1) {
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    return kilobytes * 1024;
}

/* ---------------------------------------------------------------- reports */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n) /* sorts x */
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* Prints the JSON members of the whole process: name, shape, memory and so on, without braces. */
static void print_about(bench_timer *t)
{
    char shape[256];
    printf("\"name\": \"%s\", \"shape\": \"%s\", \"threads\": %d, \"level\": \"%s\"", t->row->name,
           bench_shape(t->row, shape, sizeof shape), t->threads, hd_cpu_level());
    printf(", \"check\": %.9g, \"peak_rss\": %ld", t->check, bench_peak_rss());
    printf(", \"peak_bytes\": %lld", (long long)(hd_bytes_peak() - t->bytes_before));
    printf(", \"system_allocs\": %lld", (long long)(t->system_allocs + hd_system_allocs()));
}

static void print_speed(const bench_timer *t, double ns, double reference)
{
    double amount = bench_amount(t);
    if (amount > 0) {
        printf(", \"%s\": %.2f", t->row->kind->flops ? "gflops" : "gbs", amount / ns);
    }
    if (reference > 0) {
        printf(", \"peak\": %.2f, \"of_peak\": %.4f", reference, amount / ns / reference);
    }
}

/* A turn, and the better one of the references just before and after it. */
static double reference_and_turn(bench_timer *t, double *reference)
{
    double before = bench_reference(t), ns = bench_turn(t), after = bench_reference(t);
    *reference = before > after ? before : after;
    return ns;
}

bool bench_report(const bench_row *row, int threads, int rounds)
{
    bench_timer t;
    double *ns = hd_alloc((size_t)rounds * sizeof *ns);
    double *peaks = hd_alloc((size_t)rounds * sizeof *peaks);
    bool ok = peaks && ns && bench_begin(&t, row, threads);
    rounds = ok && t.first > 1e9 ? (rounds + 1) / 2 : rounds;
    for (int i = 0; ok && i < rounds; i++) {
        ns[i] = reference_and_turn(&t, &peaks[i]);
    }
    if (ok) {
        double middle = median(ns, rounds);
        printf("{");
        print_about(&t);
        printf(", \"median\": %.1f, \"min\": %.1f, \"max\": %.1f, \"runs\": %d", middle, ns[0],
               ns[rounds - 1], rounds);
        print_speed(&t, middle, median(peaks, rounds));
        printf("}\n");
        bench_end(&t);
    }
    hd_free(ns);
    hd_free(peaks);
    fflush(stdout);
    return ok && hd_error_code() == HD_OK;
}

bool bench_serve(const bench_row *row, int threads)
{
    bench_timer t;
    char line[64];
    if (!bench_begin(&t, row, threads)) {
        return false;
    }
    printf("{\"ns\": %.1f, \"amount\": %.17g, \"calls\": %d}\n", t.first, bench_amount(&t),
           t.calls);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        double reference, ns = reference_and_turn(&t, &reference);
        printf("{\"peak\": %.3f, \"ns\": %.1f}\n", reference, ns);
        fflush(stdout);
    }
    printf("{");
    print_about(&t);
    printf("}\n");
    bench_end(&t);
    return hd_error_code() == HD_OK;
}
