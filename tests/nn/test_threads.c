/* test_threads.c - runs one model in evaluation mode on four threads at once. */
#include "suites.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 50 };

typedef struct job {
    hd_module *m;
    hd_tensor *x, *want;
    int differing, failed;
} job;

static void *run(void *arg)
{
    job *j = arg;
    for (int i = 0; i < ROUNDS; i++) {
        HD_SCOPE;
        hd_tensor *y = hd_forward(j->m, j->x);
        j->failed += !y;
        j->differing += y && !same_bits(y, j->want);
    }
    return NULL;
}

static void run_at_once(hd_module *m, hd_tensor *x)
{
    pthread_t threads[THREADS];
    job jobs[THREADS];
    hd_tensor *want = hd_forward(m, x);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){m, x, want, 0, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(jobs[i].failed, 0);
        ck_assert_int_eq(jobs[i].differing, 0);
    }
}

START_TEST(one_model_on_four_threads)
{
    HD_SCOPE;
    hd_module *m =
        hd_sequential(hd_multi_head_attention_new(8, 8, 16, 0.5, 2, true), hd_layer_norm_new(8),
                      hd_linear_new(8, 8, true), hd_gelu_new("none"), hd_dropout_new(0.5, false));
    hd_tensor *x = hd_randn(HD_FLOAT32, 4, 16, 8);
    ck_assert(hd_module_eval(m));
    run_at_once(m, x);
    ck_assert(hd_module_requires_grad_(m, false));
    run_at_once(m, x);
    hd_module_free(m);

    hd_module *packed = hd_multihead_attention_new(8, 2, NULL);
    ck_assert(hd_module_eval(packed));
    run_at_once(packed, x);
    hd_module_free(packed);
}
END_TEST

static void *fail_here(void *arg)
{
    HD_SCOPE;
    job *j = arg;
    j->failed = !hd_forward(j->m, hd_ones(HD_FLOAT32, 5)) && hd_error_code() == HD_SHAPE;
    return NULL;
}

START_TEST(errors_are_the_threads_own)
{
    HD_SCOPE;
    hd_module *m = hd_linear_new(3, 2, true);
    job j = {m, NULL, NULL, 0, 0};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_here, &j), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(j.failed, 1);
    ck_no_error();
    ck_assert_ptr_nonnull(hd_forward(m, hd_ones(HD_FLOAT32, 3)));
    hd_module_free(m);
}
END_TEST

Suite *suite_threads(void)
{
    const TTest *const tests[] = {
        one_model_on_four_threads,
        errors_are_the_threads_own,
    };
    return SUITE("threads", tests);
}
