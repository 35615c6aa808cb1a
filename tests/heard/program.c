/* program.c - the program that tests/checks/check_heard runs with HEED_TRACE, HEED_PROFILE and
 * HEED_DEBUG: a small model that trains, ops of every kind, threads, and a program without memory.
 *
 * usage: heard_program model | ops | threads | report | memory | off | debug */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/heed.h"

/* ---------------------------------------------------------------- a model */

typedef struct {
    hd_module base;
    hd_module *first, *second;
} net;

static hd_tensor *net_forward(hd_module *self, hd_tensor *x) /* x (4, 3) */
{
    net *m = (net *)self;
    hd_tensor *h = hd_relu(hd_forward(m->first, x)); /* (4, 5) */
    return hd_forward(m->second, h);                 /* (4, 2) */
}

static hd_module *net_new(void)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Net", net_forward);
    hd_module *self = hd_module_new(&type);
    net *m = (net *)self;
    hd_register_module(self, "first", &m->first, hd_linear_new(3, 5, true));
    hd_register_module(self, "second", &m->second, hd_linear_new(5, 2, false));
    return hd_module_ready(self);
}

static void run_model(void)
{
    hd_module *model = hd_sequential(net_new());
    hd_optim *o = hd_sgd_new(hd_module_parameters(model), NULL);
    hd_tensor *x = hd_ones(HD_FLOAT32, 4, 3);                    /* (4, 3) */
    hd_tensor *y = hd_tensor_of(((int64_t[]){0, 1, 0, 1}), 4);   /* (4,) */
    hd_tensor *loss = hd_cross_entropy(hd_forward(model, x), y); /* () */
    hd_optim_zero_grad(o);
    hd_backward(loss);
    hd_optim_step(o);
    {
        HD_NO_GRAD;
        hd_forward(model, x);
    }
    hd_optim_free(o);
    hd_module_free(model);
}

/* ---------------------------------------------------------------- ops */

static bool square_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    hd_save(ctx, x[0]);
    y[0] = hd_mul(x[0], x[0]);
    return true;
}

static void square_backward(hd_ctx *ctx, hd_tensor *const *dy, hd_tensor **dx)
{
    dx[0] = hd_mul_scalar(hd_mul(dy[0], hd_saved(ctx, 0)), 2);
}

static bool fail_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    (void)ctx, (void)x, (void)y;
    return hd_error_set(HD_USER, "this op always fails");
}

static const hd_op square = {.size = sizeof square,
                             .name = "Square",
                             .forward = square_forward,
                             .backward = square_backward};
static const hd_op failing = {.size = sizeof failing,
                              .name = "Failing",
                              .forward = fail_forward,
                              .backward = square_backward};

static hd_tensor *twice(hd_tensor *g, void *user)
{
    (void)user;
    return hd_mul_scalar(g, 2);
}

static void run_ops(void)
{
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT64, 2, 3), true); /* (2, 3) */
    hd_tensor *y = hd_apply(&square, NULL, x);                         /* (2, 3) */
    hd_register_hook(y, twice, NULL);
    hd_tensor *z = hd_clone(y); /* (2, 3) */
    hd_mul_(hd_select(z, 0, 1), hd_ones(HD_FLOAT64, 3));
    hd_split(z, 1, 0);
    hd_sum(hd_rms_norm(z, HD_NONE, 1e-5));
    hd_backward(hd_sum(z));
    hd_gt_scalar(x, 0);
    hd_argmax(x);
    hd_any(hd_eq(x, x));
    hd_detach(x);
    hd_zero_(hd_ones(HD_FLOAT32, 2));
    hd_normal_(hd_ones(HD_FLOAT32, 2), 0, 1);
    hd_one_hot(hd_zeros(HD_INT64, 2), 3);
    hd_matmul(hd_ones(HD_FLOAT32, 2, 4, 3), hd_ones(HD_FLOAT32, 3, 5)); /* 240 FLOP */
    hd_tensor *q = hd_ones(HD_FLOAT32, 1, 2, 4, 8);                     /* (1, 2, 4, 8) */
    q = hd_requires_grad_(q, true);
    hd_tensor *out = hd_scaled_dot_product_attention(q, q, q, HD_NONE, 0, true);
    hd_backward(hd_sum(out)); /* 20 weights: 640 FLOP, and 1600 */
    hd_apply(&failing, NULL, x);
    hd_tensor *many[200];
    for (int i = 0; i < 200; i++) {
        many[i] = x;
    }
    hd_cat_n(200, many, 0); /* more shapes than a line has room for */
}

/* ---------------------------------------------------------------- threads */

enum { THREADS = 4, ROUNDS = 200 };

static void *multiply(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        HD_SCOPE;
        hd_matmul(hd_ones(HD_FLOAT32, 2, 3), hd_ones(HD_FLOAT32, 3, 4)); /* 48 FLOP */
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, multiply, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---------------------------------------------------------------- hd_profile */

static void say_error(const char *what, bool ok)
{
    printf("%s: %s%s%s\n", what, ok ? "done" : hd_code_name(hd_error_code()), ok ? "" : ": ",
           ok ? "" : hd_error_message());
    hd_error_clear();
}

static void run_report(void)
{
    FILE *full = fopen("/dev/full", "w");
    run_model();
    say_error("a full file", full && hd_profile(full));
    fclose(full);
    fflush(stdout);
    say_error("hd_profile", hd_profile(stdout));
}

static int refusing;

static void *refuse(size_t bytes, size_t alignment, void *user)
{
    (void)user;
    return refusing ? NULL
                    : aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void give_back(void *p, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    free(p);
}

/* Without memory hd_profile fails, and the end of the program says so. */
static void run_memory(void)
{
    static const hd_allocator a = {sizeof a, refuse, give_back, NULL};
    hd_set_allocator(&a);
    run_model();
    refusing = 1;
    say_error("hd_profile", hd_profile(stdout));
}

/* An infinity, and a tensor that stays. */
static void run_debug(void)
{
    hd_retain(hd_log(hd_zeros(HD_FLOAT32, 2)));
}

static void run_off(void)
{
    run_model();
    say_error("hd_profile", hd_profile(stdout));
}

#ifdef NO_CALLOC
/* The tables of the profile are the one block of its size, and there is no memory for it. */
void *calloc(size_t n, size_t size)
{
    void *p = n == 2 * 8192 ? NULL : malloc(n * size);
    return p ? memset(p, 0, n * size) : NULL;
}
#endif

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"model", run_model},   {"ops", run_ops},       {"threads", run_threads},
                 {"report", run_report}, {"memory", run_memory}, {"off", run_off},
                 {"debug", run_debug}};
    hd_manual_seed(123);
    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            if (hd_error_code()) {
                printf("%s\n", hd_error_message());
            }
            return 0;
        }
    }
    fprintf(stderr, "usage: heard_program model | ops | threads | report | memory | off | debug\n");
    return 2;
}
