/* ranks.c - the tests that run on 1, 2, 3 and 4 ranks: mpirun -n 3 mpi_ranks [CASE...].
 *
 * Every rank runs the same cases. If a check fails on one rank, it ends all ranks with
 * hd_mpi_abort, so that no rank waits for another. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool ranks_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: rank %d of %d: %s%s%s\n", file, line, hd_mpi_rank(), hd_mpi_size(),
            what, hd_error_code() != HD_OK ? "; the error that stands: " : "", hd_error_message());
    return false;
}

bool error_has(hd_code code, const char *text, const char *other)
{
    bool has = hd_error_code() == code && strstr(hd_error_message(), text) &&
               strstr(hd_error_message(), other);
    if (!has) {
        fprintf(stderr, "rank %d: %s: %s\n", hd_mpi_rank(), hd_code_name(hd_error_code()),
                hd_error_message());
    }
    hd_error_clear();
    return has;
}

/* ---------------------------------------------------------------- memory that runs out */

static int64_t until = -1; /* blocks that are given before one is refused; -1: all are given */
static bool refused;

static void *give_block(size_t bytes, size_t alignment, void *user)
{
    void *p = NULL;
    (void)user;
    if (until >= 0 && until-- == 0) {
        refused = true;
        return NULL;
    }
    return posix_memalign(&p, alignment < 16 ? 16 : alignment, bytes) == 0 ? p : NULL;
}

static void take_block(void *p, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    free(p);
}

void refuse_block(int64_t number)
{
    refused = false;
    until = number;
}

bool block_refused(void)
{
    until = -1;
    double any = refused;
    return hd_mpi_max(1, &any) && any > 0;
}

/* ---------------------------------------------------------------- the model */

static hd_tensor *small_forward(hd_module *self, hd_tensor *x) /* x (b, 6) */
{
    small_model *m = (small_model *)self;
    hd_tensor *h = hd_tanh(hd_forward(m->first, x));           /* (b, 5) */
    return hd_forward(m->use_spare ? m->spare : m->second, h); /* (b, 3) */
}

hd_module *small_new(void)
{
    static const hd_module_type type =
        HD_MODULE_TYPE(small_model, "Small", .forward = small_forward);
    small_model *m = (small_model *)hd_module_new(&type);
    hd_register_module(&m->base, "first", &m->first, hd_linear_new(6, 5, true));
    hd_register_module(&m->base, "second", &m->second, hd_linear_new(5, 3, true));
    hd_register_module(&m->base, "spare", &m->spare, hd_linear_new(5, 3, false));
    return hd_module_ready(&m->base);
}

/* (rows, columns): numbers that depend on their place alone. */
static hd_tensor *numbers(int64_t first, int64_t rows, int64_t columns, double step)
{
    hd_tensor *n = hd_arange(first * columns, (first + rows) * columns, 1);
    n = hd_sin(hd_mul_scalar(hd_to(n, HD_FLOAT32), step));
    return hd_view(n, rows, columns);
}

hd_tensor *rows_x(int64_t first, int64_t rows)
{
    return numbers(first, rows, 6, 0.37);
}

hd_tensor *rows_y(int64_t first, int64_t rows)
{
    return numbers(first, rows, 3, 0.91);
}

hd_tensor *rows_loss(hd_module *m, int64_t first, int64_t rows)
{
    return hd_mse_loss(hd_forward(m, rows_x(first, rows)), rows_y(first, rows));
}

/* ---------------------------------------------------------------- comparing */

bool same_bits(hd_tensor *x, hd_tensor *y)
{
    HD_SCOPE;
    x = hd_contiguous(hd_detach(x));
    y = hd_contiguous(hd_detach(y));
    size_t bytes = (size_t)hd_numel(x) * hd_dtype_size(hd_dtype_of(x));
    return x && y && hd_numel(x) == hd_numel(y) && hd_dtype_of(x) == hd_dtype_of(y) &&
           memcmp(hd_data(x), hd_data(y), bytes) == 0;
}

static hd_tensor *in_one(hd_module *m, bool grads)
{
    HD_NO_GRAD;
    hd_list *all = hd_module_parameters(m);
    hd_tensor *parts[64];
    int n = (int)hd_list_len(all);
    for (int i = 0; i < n; i++) {
        hd_tensor *p = hd_list_get(all, i), *g = grads ? hd_grad(p) : hd_detach(p);
        parts[i] = hd_flatten(g == HD_NONE ? hd_zeros_like(p, HD_FLOAT32) : g, 0, -1);
    }
    return hd_clone(hd_cat_n(n, parts, 0));
}

hd_tensor *all_parameters(hd_module *m)
{
    return in_one(m, false);
}

hd_tensor *all_grads(hd_module *m)
{
    return in_one(m, true);
}

bool same_everywhere(hd_tensor *x)
{
    hd_tensor *all = hd_mpi_gather(x); /* (ranks, x's sizes) */
    bool same = all;
    for (int r = 0; same && r < hd_mpi_size(); r++) {
        same = same_bits(hd_select(all, 0, r), x);
    }
    return same;
}

void stagger(int step)
{
    struct timespec t = {.tv_nsec = (hd_mpi_rank() * 7 + step * 5) % 11 * 1000000L};
    nanosleep(&t, NULL);
}

/* ---------------------------------------------------------------- main */

static bool wanted(const char *name, int n, char **names)
{
    bool is = n == 0;
    for (int i = 0; i < n && !is; i++) {
        is = strcmp(name, names[i]) == 0;
    }
    return is;
}

static int run_cases(const ranks_case *cases, int n, char **names)
{
    int ran = 0;
    for (; cases->name; cases++) {
        if (!wanted(cases->name, n, names)) {
            continue;
        }
        HD_SCOPE;
        hd_manual_seed(123);
        if (!cases->run()) {
            fprintf(stderr, "rank %d: the case '%s' failed\n", hd_mpi_rank(), cases->name);
            hd_mpi_abort(1);
        }
        if (hd_error_code() != HD_OK) {
            fprintf(stderr, "rank %d: '%s' left an error: %s\n", hd_mpi_rank(), cases->name,
                    hd_error_message());
            hd_mpi_abort(1);
        }
        ran++;
    }
    return ran;
}

int main(int argc, char **argv)
{
    const hd_allocator own = {.size = sizeof own, .alloc = give_block, .free = take_block};
    if (argc > 1) {
        unsetenv("HEED_THREADS"); /* hd_mpi_init shares the CPUs */
    }
    if (!hd_set_allocator(&own) || !hd_mpi_init(&argc, &argv)) {
        fprintf(stderr, "%s\n", hd_error_message());
        return 1;
    }
    int n = argc - 1, ran = 0;
    char **names = argv + 1;
    ran += run_cases(agree_cases, n, names);
    ran += run_cases(ddp_cases, n, names);
    ran += run_cases(shard_cases, n, names);
    ran += run_cases(failure_cases, n, names);
    ran += n > 0 ? run_cases(parting_cases, n, names) : 0;
    if (hd_mpi_rank() == 0) {
        printf("%d cases on %d ranks\n", ran, hd_mpi_size());
    }
    return hd_mpi_finish() && ran > 0 ? 0 : 1;
}
