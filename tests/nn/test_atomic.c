/* test_atomic.c - calls that fail in states that tests/faults_memory lacks: they change nothing and
 * draw no random number. Sizes that are too large are refused before anything is written. */
#include "nn/names.h"
#include "suites.h"
#include "support/atomic.h"

/* ---------------------------------------------------------------- modules */

static void free_module(world *w)
{
    hd_module_free(w->object);
}

/* Two levels and dropout. */
static void a_block(world *w)
{
    w->object = hd_sequential(hd_linear_new(2, 3, true), hd_dropout_new(0.5, false),
                              hd_sequential(hd_dropout_new(0.5, false), hd_linear_new(3, 2, true)));
    ck_assert_ptr_nonnull(w->object);
}

static uint64_t look_at_parameters(const world *w)
{
    uint64_t h = 0;
    hd__nn_items found = {0};
    ck_assert(hd__nn_collect(w->object, HD__PARAMETER, &found));
    for (int64_t i = 0; i < found.n; i++) {
        bool requires_grad = hd_requires_grad(*found.v[i].field);
        h = mix(h, &requires_grad, sizeof requires_grad);
    }
    hd__nn_items_free(&found);
    return h;
}

static void a_plain_block(world *w)
{
    a_block(w);
    hd_module *m = w->object;
    /* these were never leaves, so each needs memory */
    hd_tensor *plain[] = {hd_parameter(hd_ones(HD_FLOAT32, 3, 2), false),
                          hd_parameter(hd_ones(HD_FLOAT32, 2, 3), false)};
    ck_assert(hd_module_set_parameter(m, "0.weight", plain[0]) &&
              hd_module_set_parameter(m, "2.1.weight", plain[1]));
}

static bool require_grad(world *w)
{
    return hd_module_requires_grad_(w->object, true);
}

START_TEST(a_module_changes_as_a_whole)
{
    static const atomic_call calls[] = {
        {"hd_module_requires_grad_", a_plain_block, require_grad, look_at_parameters, free_module},
    };
    ATOMIC_AT_EACH(calls);
}
END_TEST

START_TEST(a_part_is_evaluated_alone)
{
    world w = {0};
    a_block(&w);
    ck_assert(hd_module_eval(hd_module_get(w.object, "2")));
    ck_assert(hd_module_training(w.object) && hd_module_training(hd_module_get(w.object, "0")) &&
              !hd_module_training(hd_module_get(w.object, "2.0")) &&
              !hd_module_training(hd_module_get(w.object, "2.1")));
    free_module(&w);
}
END_TEST

/* ---------------------------------------------------------------- init */

/* Numbers are drawn one by one in a tensor with gaps, and in blocks in one without: what
 * trunc_normal_ draws is the same. */
START_TEST(trunc_normal_draws_as_normal_does)
{
    HD_SCOPE;
    hd_tensor *wide = hd_zeros(HD_FLOAT32, 8, 6), *want = hd_zeros(HD_FLOAT32, 8, 6);
    for (int i = 0; i < 3; i++) {
        hd_tensor *x = i == 0 ? wide : i == 1 ? hd_narrow(wide, 1, 1, 4) : hd_t(wide);
        hd_tensor *y = i == 0 ? want : i == 1 ? hd_narrow(want, 1, 1, 4) : hd_t(want);
        hd_manual_seed(3);
        ck_assert_ptr_nonnull(hd_normal_(y, 0, 1));
        hd_manual_seed(3);
        ck_assert_ptr_nonnull(hd_init_trunc_normal_(x, 0, 1, -50, 50));
        ck_assert_msg(same_bits(x, y), "layout %d", i);
    }
}
END_TEST

/* ---------------------------------------------------------------- too large */

/* Far more than there is memory: refused at once, and nothing is drawn or filled before. */
START_TEST(what_is_too_large_is_refused_before_anything_is_filled)
{
    const int64_t many = INT64_C(1) << 31;
    hd_manual_seed(7);
    uint64_t before = look_at_generator(0, hd_default_generator());
    for (int i = 0; i < 8; i++) {
        hd_bytes_peak_reset();
        int64_t live = hd_bytes_live();
        hd_module *m = i == 0   ? hd_linear_new(many, many, true)
                       : i == 1 ? hd_self_attention_v1_new(many, many)
                       : i == 2 ? hd_self_attention_v2_new(many, many, true)
                       : i == 3 ? hd_multi_head_attention_new(3, 4, INT64_MAX / 2, 0, 2, true)
                       : i == 4 ? hd_multihead_attention_new(INT64_C(1) << 62, 1, NULL)
                       : i == 5 ? hd_feed_forward_new(many, many)
                       : i == 6 ? hd_embedding_new(many, many, 1)
                                : hd_causal_attention_new(3, 4, INT64_MAX / 2, 0, true);
        ck_assert_msg(!m && hd_error_code() == HD_MEMORY, "%d: %s", i, hd_error_message());
        hd_error_clear();
        ck_assert_msg(hd_bytes_peak() - live < 1 << 20, "%d took %lld bytes", i,
                      (long long)(hd_bytes_peak() - live));
    }
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
}
END_TEST

/* ---------------------------------------------------------------- drawing in a forward */

static hd_tensor *draws_and_fails(hd_module *self, hd_tensor *x)
{
    (void)self;
    hd_tensor *dropped = hd_dropout(x, 0.5, true);
    return hd_matmul(dropped, hd_rand(HD_FLOAT32, 5, 5));
}

static hd_tensor *draws_from_its_own(hd_module *self, hd_tensor *x)
{
    hd_generator *g = hd_generator_new(1);
    hd_generator_use(g);
    x = hd_dropout(x, 0.5, true);
    hd_generator_use(NULL);
    hd_generator_free(g);
    return x ? draws_and_fails(self, x) : NULL;
}

static hd_tensor *goes_on(hd_module *self, hd_tensor *x)
{
    (void)self;
    probe *inner = probe_new();
    inner->hook = draws_and_fails;
    uint64_t before = look_at_generator(0, hd_default_generator());
    ck_assert_ptr_null(hd_forward(&inner->base, x));
    hd_error_clear();
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
    hd_module_free(&inner->base);
    return hd_dropout(x, 0.5, true);
}

START_TEST(a_forward_that_fails_has_drawn_nothing)
{
    probe *p = probe_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 4, 3);
    hd_manual_seed(7);
    ck_assert_ptr_nonnull(hd_randn(HD_FLOAT32, 3));
    uint64_t before = look_at_generator(0, hd_default_generator());
    p->hook = draws_and_fails;
    ck_assert_ptr_null(hd_forward(&p->base, x));
    hd_error_clear();
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
    p->hook = draws_from_its_own; /* which is gone when the default one is drawn from */
    ck_assert_ptr_null(hd_forward(&p->base, x));
    hd_error_clear();
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
    p->hook = goes_on;
    before = look_at_generator(0, hd_default_generator());
    ck_assert_ptr_nonnull(hd_forward(&p->base, x));
    ck_assert_msg(look_at_generator(0, hd_default_generator()) != before,
                  "a forward that succeeds draws");
    /* begun and never ended */
    ck_assert(hd_forward_begin(&p->base) && hd_forward_begin(&p->base));
    before = look_at_generator(0, hd_default_generator());
    ck_assert_ptr_nonnull(hd_rand(HD_FLOAT32, 700));
    ck_assert_ptr_null(hd_forward_end(&p->base, hd_matmul(x, x)));
    hd_error_clear();
    ck_assert(look_at_generator(0, hd_default_generator()) == before);
    ck_assert_ptr_null(hd_forward_end(&p->base, NULL));
    hd_error_clear();
    hd_module_free(&p->base);
}
END_TEST

Suite *suite_atomic(void)
{
    const TTest *const tests[] = {
        a_module_changes_as_a_whole,
        a_part_is_evaluated_alone,
        trunc_normal_draws_as_normal_does,
        what_is_too_large_is_refused_before_anything_is_filled,
        a_forward_that_fails_has_drawn_nothing,
    };
    return SUITE_OF("atomic", tests);
}
