/* test_atomic.c - random ops that fail because memory runs out have drawn nothing. */
#include "autograd/autograd_internal.h"
#include "suites.h"
#include "support/atomic.h"

static void plain(world *w)
{
    w->x = hd_requires_grad_(hd_full(HD_FLOAT32, 0.5, 4, 5), true);
}

static void native(world *w)
{
    ck_assert(hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE));
    plain(w);
}

static void transposed(world *w)
{
    hd_tensor *x = hd_full(HD_FLOAT32, 0.5, 4, 5);
    w->x = hd_transpose(hd_requires_grad_(x, true), 0, 1);
}

static bool dropout(world *w)
{
    return hd_dropout(w->x, 0.5, true);
}

static bool bernoulli(world *w)
{
    return hd_bernoulli(w->x);
}

static bool race_for_one(world *w)
{
    return hd_multinomial(w->x, 1, true);
}

static bool race_for_some(world *w)
{
    return hd_multinomial(w->x, 3, false);
}

static bool with_replacement(world *w)
{
    return hd_multinomial(w->x, 3, true);
}

static void changed_before(world *w)
{
    w->x = hd_mul_scalar(hd_requires_grad_(hd_full(HD_FLOAT32, 0.5, 4, 5), true), 2);
}

static bool fill_uniform(world *w)
{
    return hd_uniform_(w->x, 0, 1);
}

static bool fill_normal(world *w)
{
    return hd_normal_(w->x, 0, 1);
}

static bool fill_exponential(world *w)
{
    return hd_exponential_(w->x, 1);
}

static bool fill_bernoulli(world *w)
{
    return hd_bernoulli_(w->x, 0.5);
}

/* ---------------------------------------------------------------- attention */

static bool attend(world *w, bool with_weights)
{
    hd_attention_options o = hd_attention_defaults();
    o.dropout_p = 0.5;
    hd_tensor *marker = w->x, *weights = marker;
    hd_tensor *y =
        hd_scaled_dot_product_attention_with(w->x, w->x, w->x, &o, with_weights ? &weights : NULL);
    ck_assert_msg(y || !with_weights || !weights, "weights of a call that failed");
    return y;
}

static bool attention(world *w)
{
    return attend(w, false);
}

static bool attention_with_weights(world *w)
{
    return attend(w, true);
}

static void heads(world *w)
{
    w->x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 4), true);
}

static void native_heads(world *w)
{
    ck_assert(hd_generator_set_bernoulli(hd_default_generator(), HD_BERNOULLI_NATIVE));
    heads(w);
}

static void plain_heads(world *w)
{
    hd_set_fused_attention(false);
    heads(w);
}

static void fuse_again(world *w)
{
    (void)w;
    hd_set_fused_attention(true);
}

START_TEST(nothing_is_drawn_if_memory_runs_out)
{
    static const atomic_call calls[] = {
        {"hd_dropout", plain, dropout, NULL, NULL},
        {"hd_dropout, native", native, dropout, NULL, NULL},
        {"hd_dropout, transposed", transposed, dropout, NULL, NULL},
        {"hd_bernoulli", plain, bernoulli, NULL, NULL},
        {"hd_multinomial of one", plain, race_for_one, NULL, NULL},
        {"hd_multinomial of some", plain, race_for_some, NULL, NULL},
        {"hd_multinomial with replacement", plain, with_replacement, NULL, NULL},
        {"hd_uniform_", changed_before, fill_uniform, NULL, NULL},
        {"hd_normal_", changed_before, fill_normal, NULL, NULL},
        {"hd_exponential_", changed_before, fill_exponential, NULL, NULL},
        {"hd_bernoulli_", changed_before, fill_bernoulli, NULL, NULL},
        {"attention", heads, attention, NULL, NULL},
        {"attention, native", native_heads, attention, NULL, NULL},
        {"attention with weights", heads, attention_with_weights, NULL, NULL},
        {"attention in plain ops", plain_heads, attention_with_weights, NULL, fuse_again},
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
             "18014398509481984 elements, values of 4: the size of the scratch overflows");
    if (SIZE_MAX == UINT32_MAX) {
        q = hd_ones(HD_FLOAT32, 1, 1024);
        k = hd_expand(hd_ones(HD_FLOAT32, 1, 1024), 1 << 20, 1024);
        v = hd_expand(hd_ones(HD_FLOAT32, 1, 1), 1 << 20, 1);
        ck_assert_ptr_null(hd_scaled_dot_product_attention(q, k, v, HD_NONE, 0, false));
        ck_error(HD_MEMORY, "hd_scaled_dot_product_attention: 1 queries and 1048576 keys of 1024 "
                            "elements, values of 1: the size of the scratch overflows");
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
