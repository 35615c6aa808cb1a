/* test_threads.c - tests that results have the same bits for any number of threads, inside one call
 * and between calls: training steps on 1 to 4 threads of the pool, and on four threads of the
 * program at once. */
#include <pthread.h>

#include "suites.h"

enum { BATCH = 8, TOKENS = 64, WIDTH = 128, HEADS = 4, STEPS = 2, THREADS = 4 };

/* The result of a few steps: the losses, and a sum over the bits of parameters and gradients. */
typedef struct outcome {
    double loss[STEPS];
    uint64_t bits;
    bool failed;
} outcome;

static void add_bits(outcome *o, hd_tensor *x)
{
    x = hd_contiguous(hd_detach(x));
    const uint32_t *p = hd_data(x);
    for (int64_t i = 0; i < hd_numel(x); i++) {
        o->bits = (o->bits ^ p[i]) * 1099511628211u;
    }
}

static bool step(hd_module *m, hd_optim *optim, hd_tensor *x, hd_tensor *target, double *loss)
{
    HD_SCOPE;
    hd_tensor *l = hd_mse_loss(hd_forward(m, x), target);
    *loss = l ? hd_item(l) : NAN;
    return hd_optim_zero_grad(optim) && hd_backward(l) && hd_optim_step(optim);
}

/* A MultiHeadAttention of this width, trained from this seed with dropout. */
static outcome train(int64_t seed, int batch)
{
    HD_SCOPE;
    outcome o = {.bits = 14695981039346656037u};
    hd_manual_seed(seed);
    hd_module *m = hd_multi_head_attention_new(WIDTH, WIDTH, TOKENS, 0.1, HEADS, true);
    hd_list *parameters = hd_module_parameters(m);
    hd_optim *optim = hd_adamw_new(parameters, NULL);
    hd_tensor *x = hd_randn(HD_FLOAT32, batch, TOKENS, WIDTH);
    hd_tensor *target = hd_rand(HD_FLOAT32, batch, TOKENS, WIDTH);
    for (int i = 0; i < STEPS; i++) {
        o.failed |= !step(m, optim, x, target, &o.loss[i]);
    }
    for (int64_t i = 0; i < hd_list_len(parameters); i++) {
        add_bits(&o, hd_list_get(parameters, i));
        add_bits(&o, hd_grad(hd_list_get(parameters, i)));
    }
    hd_optim_free(optim);
    hd_module_free(m);
    return o;
}

static void same_outcome(const outcome *a, const outcome *b)
{
    ck_assert(!a->failed && !b->failed);
    ck_assert(a->loss[0] == b->loss[0] && a->loss[STEPS - 1] == b->loss[STEPS - 1]);
    ck_assert(a->bits == b->bits);
}

START_TEST(training_does_not_depend_on_the_pool)
{
    ck_assert(hd_set_num_threads(1));
    outcome alone = train(3, BATCH);
    ck_assert(isfinite(alone.loss[0]) && alone.loss[1] < alone.loss[0]);
    for (int n = 2; n <= 4; n++) {
        ck_assert(hd_set_num_threads(n));
        outcome together = train(3, BATCH);
        same_outcome(&alone, &together);
    }
    outcome other = train(4, BATCH);
    ck_assert(other.bits != alone.bits);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- several threads at once */

typedef struct job {
    int64_t seed;
    outcome o;
    hd_tensor *shared, *made;
} job;

static void *train_here(void *arg)
{
    job *j = arg;
    hd_generator *g = hd_generator_new(0);
    hd_generator_use(g);
    j->o = train(j->seed, 2);
    hd_generator_use(NULL);
    hd_generator_free(g);
    return NULL;
}

static void on_threads(void *(*f)(void *), job *jobs)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, f, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

START_TEST(models_trained_at_once_are_the_same_as_alone)
{
    job jobs[THREADS];
    ck_assert(hd_set_num_threads(2));
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.seed = i};
    }
    on_threads(train_here, jobs);
    for (int i = 0; i < THREADS; i++) {
        outcome alone = train(i, 2);
        same_outcome(&alone, &jobs[i].o);
    }
    ck_no_error();
}
END_TEST

/* Reads one tensor, builds on it, fails once, and leaves a tensor that outlives the thread. */
static void *use_and_make(void *arg)
{
    job *j = arg;
    for (int i = 0; i < 200; i++) {
        HD_SCOPE;
        hd_tensor *y = hd_sum(hd_mul(hd_expand(j->shared, 5, 4), hd_ones(HD_FLOAT32, 5, 4)));
        j->o.failed |= hd_item(y) != 50 || hd_error_code() != HD_OK;
        j->o.failed |= hd_add(j->shared, hd_ones(HD_FLOAT32, 3)) != NULL;
        j->o.failed |= hd_error_code() != HD_SHAPE;
        hd_error_clear();
        y = hd_full(HD_FLOAT32, i, 3);
        hd_assign(&j->made, y);
    }
    hd_release(j->shared);
    return NULL;
}

START_TEST(tensors_made_and_read_at_once)
{
    int64_t tensors = hd_tensor_count(), bytes = hd_bytes_live();
    {
        HD_SCOPE;
        job jobs[THREADS];
        hd_tensor *x =
            hd_requires_grad_(hd_from_data(HD_FLOAT32, ((float[]){1, 2, 3, 4}), 4), true);
        for (int i = 0; i < THREADS; i++) {
            jobs[i] = (job){.shared = hd_retain(x)};
        }
        on_threads(use_and_make, jobs);
        for (int i = 0; i < THREADS; i++) {
            ck_assert(!jobs[i].o.failed);
            ck_elements(jobs[i].made, 199, 199, 199);
            hd_release(jobs[i].made);
        }
        ck_elements(x, 1, 2, 3, 4);
    }
    ck_no_error();
    ck_assert_int_eq(hd_tensor_count(), tensors);
    ck_assert_int_eq(hd_bytes_live(), bytes);
}
END_TEST

/* Views of a base that was changed in place get their new place in the graph when they are used. */
static void *use_views(void *arg)
{
    job *j = arg;
    HD_SCOPE;
    hd_tensor *y = hd_mul_scalar(j->shared, 2);
    j->o.failed = !y || strcmp(hd_grad_fn(y), "MulBackward0") != 0 ||
                  strcmp(hd_grad_fn(j->shared), "AsStridedBackward0") != 0;
    return NULL;
}

START_TEST(one_view_of_a_changed_base_at_once)
{
    for (int round = 0; round < 20; round++) {
        HD_SCOPE;
        job jobs[THREADS];
        hd_tensor *base = hd_mul_scalar(hd_parameter(hd_ones(HD_FLOAT32, 4), true), 3);
        hd_tensor *view = hd_retain(hd_slice(base, 0, 1, 3));
        hd_mul_scalar_(base, 2);
        for (int i = 0; i < THREADS; i++) {
            jobs[i] = (job){.shared = view};
        }
        on_threads(use_views, jobs);
        for (int i = 0; i < THREADS; i++) {
            ck_assert(!jobs[i].o.failed);
        }
        hd_release(view);
    }
    ck_no_error();
}
END_TEST

Suite *suite_threads(void)
{
    const TTest *const tests[] = {
        training_does_not_depend_on_the_pool,
        models_trained_at_once_are_the_same_as_alone,
        tensors_made_and_read_at_once,
        one_view_of_a_changed_base_at_once,
    };
    return SUITE_OF("threads", tests);
}
