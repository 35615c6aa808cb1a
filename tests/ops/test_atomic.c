/* test_atomic.c - tests that a failed random op draws nothing, in the mode that tests/faults_memory
 * lacks, and that sizes that overflow are refused. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/atomic.h"

static void native(world *w)
{
    ck_assert(hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE));
    w->x = hd_requires_grad_(hd_full(HD_FLOAT32, 0.5, 2, 3, 4), true);
}

static bool dropout(world *w)
{
    return hd_dropout(w->x, 0.5, true);
}

static bool attention(world *w)
{
    return hd_scaled_dot_product_attention(w->x, w->x, w->x, HD_NONE, 0.5, false);
}

START_TEST(nothing_is_drawn_if_memory_runs_out)
{
    static const atomic_call calls[] = {
        {"hd_dropout, native", native, dropout, NULL, NULL},
        {"attention, native", native, attention, NULL, NULL},
    };
    ATOMIC_AT_EACH(calls);
}
END_TEST

static hd_tensor *dropped_sum(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_sum(hd_dropout(x[0], 0.5, true));
}

static hd_tensor *no_tensor(hd_tensor *const *x, int n, void *user)
{
    (void)n, (void)user;
    return hd_dropout(x[0], 0.5, true) ? hd_error_set(HD_USER, "no tensor") : NULL;
}

START_TEST(a_failed_gradcheck_leaves_the_generator)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_full(HD_FLOAT64, 0.5, 3), true);
    hd_manual_seed(7);
    uint64_t before = look_at_generator(0, hd_default_generator());
    ck_assert(!hd_gradcheck_n(no_tensor, NULL, 1, &x, NULL));
    ck_error(HD_USER, "no tensor");
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
    ck_assert(hd_gradcheck_n(dropped_sum, NULL, 1, &x, NULL));
    ck_assert(look_at_generator(0, hd_default_generator()) != before);
}
END_TEST

/* ---------------------------------------------------------------- sizes */

START_TEST(scores_that_overflow_are_refused)
{
    HD_SCOPE;
    const int64_t many = INT64_C(1) << 31;
    hd_tensor *q = hd_expand(hd_ones(HD_FLOAT32, 1, 1, 1, 1), many, 1, 1, 1);
    hd_tensor *k = hd_expand(hd_ones(HD_FLOAT32, 1, 1, 1, 1), 1, many, 1, 1);
    ck_assert_ptr_null(hd_scaled_dot_product_attention(q, k, k, HD_NONE, 0.5, false));
    ck_error(HD_MEMORY, "hd_scaled_dot_product_attention: scores of (2147483648, 2147483648, 1, "
                        "1): the size overflows");
    float b[1];
    ck_assert(!hd_copy_to(hd_expand(hd_ones(HD_FLOAT32, 1), INT64_C(1) << 62), b, 0));
    ck_error(HD_MEMORY, "hd_copy_to: (4611686018427387904,) of float32: the size overflows");
}
END_TEST

START_TEST(scratch_that_overflows_is_refused)
{
    HD_SCOPE;
    const int64_t wide = INT64_C(1) << 54;
    hd_tensor *q = hd_expand(hd_ones(HD_FLOAT64, 1, 1), 1, wide); /* (1, wide) */
    hd_tensor *k = hd_expand(hd_ones(HD_FLOAT64, 1, 1), 128, wide),
              *v = hd_ones(HD_FLOAT64, 128, 4);
    ck_assert_ptr_null(hd_scaled_dot_product_attention(q, k, v, HD_NONE, 0, false));
    ck_error(HD_MEMORY,
             "hd_scaled_dot_product_attention: 1 queries and 128 keys of "
             "18014398509481984 elements, values of 4: the scratch memory would be too large");
    if (SIZE_MAX == UINT32_MAX) {
        q = hd_ones(HD_FLOAT32, 1, 1024);
        k = hd_expand(hd_ones(HD_FLOAT32, 1, 1024), 1 << 20, 1024);
        v = hd_expand(hd_ones(HD_FLOAT32, 1, 1), 1 << 20, 1);
        ck_assert_ptr_null(hd_scaled_dot_product_attention(q, k, v, HD_NONE, 0, false));
        ck_error(HD_MEMORY, "hd_scaled_dot_product_attention: 1 queries and 1048576 keys of 1024 "
                            "elements, values of 1: the scratch memory would be too large");
    }
}
END_TEST

Suite *suite_atomic(void)
{
    const TTest *const tests[] = {
        nothing_is_drawn_if_memory_runs_out,
        a_failed_gradcheck_leaves_the_generator,
        scores_that_overflow_are_refused,
        scratch_that_overflows_is_refused,
    };
    return SUITE_OF("atomic", tests);
}
