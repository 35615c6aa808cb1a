/* test_atomic.c - calls that fail because memory runs out: no part of them is done, and nothing is
 * drawn. And what is too large for memory is refused before anything is written. */
#include "nn/nn_internal.h"
#include "suites.h"
#include "support/atomic.h"
#include "support/module_rows.h"

/* ---------------------------------------------------------------- modules */

static void free_module(world *w)
{
    hd_module_free(w->object);
}

/* Two levels, dropout, a shared dtype of mask and parameters, and gradients of some of them. */
static void a_block(world *w)
{
    w->object = hd_sequential(hd_linear_new(2, 3, true), hd_dropout_new(0.5, false),
                              hd_sequential(hd_dropout_new(0.5, false), hd_linear_new(3, 2, true)));
    w->x = hd_ones(HD_FLOAT32, 4, 2);
    ck_assert_ptr_nonnull(w->object);
}

static uint64_t look_at_training(const world *w)
{
    uint64_t h = 0;
    for (hd_module *m = w->object; m; m = hd__module_after(w->object, m)) {
        bool training = hd_module_training(m);
        h = mix(h, &training, sizeof training);
    }
    hd__items found = {0};
    ck_assert(hd__collect(w->object, HD__PARAMETER, &found));
    for (int64_t i = 0; i < found.n; i++) {
        bool requires_grad = hd_requires_grad(*found.v[i].field);
        h = mix(h, &requires_grad, sizeof requires_grad);
    }
    hd__items_free(&found);
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

static bool forward(world *w)
{
    return hd_forward(w->object, w->x);
}

static void with_gradients(world *w)
{
    a_block(w);
    w->d = hd_dict_new();
    hd_tensor *stays = hd_ones(HD_FLOAT32, 1);
    ck_assert(hd_dict_set(w->d, "g.0.bias", stays) && hd_dict_set(w->d, "g.2.1.bias", stays));
    hd_tensor *p = hd_module_get_parameter(w->object, "0.weight");
    ck_assert(hd_set_grad(p, hd_ones(HD_FLOAT32, 3, 2)));
    p = hd_module_get_parameter(w->object, "2.1.bias");
    ck_assert(hd_set_grad(p, hd_ones(HD_FLOAT32, 2)));
}

static bool save_grads(world *w)
{
    return hd_module_save_grads(w->object, w->d, "g");
}

static void a_state_and_a_report(world *w)
{
    a_block(w);
    w->other = hd_module_state_dict(w->object);
    w->d = hd_dict_new(); /* the report */
    ck_assert(hd_dict_set_string(w->d, "0.bias", "old") && hd_dict_remove(w->other, "0.bias") &&
              hd_dict_remove(w->other, "2.1.bias") &&
              hd_dict_set(w->other, "unknown", hd_ones(HD_FLOAT32, 1)));
}

static bool load_with_a_report(world *w)
{
    return hd_module_load_state_dict(w->object, w->other, false, w->d);
}

static void free_state(world *w)
{
    hd_dict_free(w->other);
    hd_module_free(w->object);
}

static bool get_state(world *w)
{
    w->other = hd_module_state_dict(w->object);
    return w->other;
}

START_TEST(a_module_changes_as_a_whole)
{
    static const atomic_call calls[] = {
        {"hd_module_requires_grad_", a_plain_block, require_grad, look_at_training, free_module},
        {"hd_forward", a_block, forward, look_at_training, free_module},
        {"hd_module_save_grads", with_gradients, save_grads, NULL, free_module},
        {"hd_module_load_state_dict", a_state_and_a_report, load_with_a_report, NULL, free_state},
        {"hd_module_state_dict", a_block, get_state, NULL, free_state},
    };
    ATOMIC_AT_EACH(calls);
}
END_TEST

/* They need no memory, so that they cannot stop half-way. */
START_TEST(train_and_eval_need_no_memory)
{
    scarce s = {.left = -1};
    hd_shutdown();
    scarce_use(&s);
    world w = {0};
    a_block(&w);
    s.left = 0;
    ck_assert(hd_module_eval(w.object));
    for (hd_module *m = w.object; m; m = hd__module_after(w.object, m)) {
        ck_assert(!hd_module_training(m));
    }
    ck_assert(hd_module_train(w.object, true));
    for (hd_module *m = w.object; m; m = hd__module_after(w.object, m)) {
        ck_assert(hd_module_training(m));
    }
    ck_no_error();
    /* a part alone */
    ck_assert(hd_module_eval(hd_module_get(w.object, "2")));
    ck_assert(hd_module_training(w.object) && hd_module_training(hd_module_get(w.object, "0")) &&
              !hd_module_training(hd_module_get(w.object, "2.0")) &&
              !hd_module_training(hd_module_get(w.object, "2.1")));
    s.left = -1;
    free_module(&w);
    hd_shutdown();
    scarce_end();
}
END_TEST

/* ---------------------------------------------------------------- constructors */

static void nothing(world *w)
{
    (void)w;
}

#define CONSTRUCTOR(name, expression)                                                              \
    static bool name(world *w)                                                                     \
    {                                                                                              \
        w->object = (expression);                                                                  \
        return w->object;                                                                          \
    }

CONSTRUCTOR(new_self_v1, hd_self_attention_v1_new(3, 2))
CONSTRUCTOR(new_self_v2, hd_self_attention_v2_new(3, 2, true))
CONSTRUCTOR(new_causal, hd_causal_attention_new(3, 2, 4, 0.5, true))
CONSTRUCTOR(new_wrapper, hd_multi_head_attention_wrapper_new(3, 2, 4, 0.5, 2, true))
CONSTRUCTOR(new_multi_head, hd_multi_head_attention_new(3, 2, 4, 0.5, 2, true))
CONSTRUCTOR(new_feed_forward, hd_feed_forward_new(3, 4))
CONSTRUCTOR(new_packed, hd_multihead_attention_new(4, 2, NULL))

static int row; /* of the table of modules */

static bool new_row(world *w)
{
    w->object = module_row_new(row);
    return w->object;
}

static bool new_block(world *w)
{
    hd_module *att = hd_multi_head_attention_new(4, 4, 3, 0, 2, false);
    hd_module *ff = hd_feed_forward_new(4, 8);
    w->object = hd_transformer_block_new(att, ff, hd_layer_norm_new(4), hd_layer_norm_new(4), 0.5);
    return w->object;
}

static bool new_apart(world *w)
{
    hd_multihead_attention_options o = hd_multihead_attention_defaults();
    o.kdim = 3;
    o.vdim = 5;
    o.add_bias_kv = true;
    w->object = hd_multihead_attention_new(4, 2, &o);
    return w->object;
}

START_TEST(constructors_draw_nothing_if_memory_runs_out)
{
    static const atomic_call calls[] = {
        {"hd_self_attention_v1_new", nothing, new_self_v1, NULL, free_module},
        {"hd_self_attention_v2_new", nothing, new_self_v2, NULL, free_module},
        {"hd_causal_attention_new", nothing, new_causal, NULL, free_module},
        {"hd_multi_head_attention_wrapper_new", nothing, new_wrapper, NULL, free_module},
        {"hd_multi_head_attention_new", nothing, new_multi_head, NULL, free_module},
        {"hd_feed_forward_new", nothing, new_feed_forward, NULL, free_module},
        {"hd_multihead_attention_new", nothing, new_packed, NULL, free_module},
        {"hd_multihead_attention_new, apart", nothing, new_apart, NULL, free_module},
    };
    ATOMIC_AT_EACH(calls);
    for (row = 0; row < MODULE_ROWS; row++) {
        const atomic_call each[] = {{module_row_texts[row], nothing, new_row, NULL, free_module}};
        ATOMIC_AT_EACH(each);
    }
}
END_TEST

/* Its parts are made before it, and may have drawn; the block itself draws nothing. */
START_TEST(a_block_survives_no_memory)
{
    hd_shutdown();
    int64_t left = 0;
    for (bool refused = true; refused; left++) {
        scarce s = {.left = left, .once = true};
        scarce_use(&s);
        world w = {0};
        bool ok = new_block(&w);
        refused = s.refused > 0;
        ck_assert_int_eq(hd_error_code(), refused ? HD_MEMORY : HD_OK);
        ck_assert_msg(ok == !refused, "a block without the memory after %d", (int)left);
        hd_error_clear();
        hd_module_free(w.object);
        hd_shutdown();
        ck_assert_int_eq(s.blocks, 0);
        scarce_end();
    }
    ck_assert_int_gt(left, 30); /* as many as its parts have */
}
END_TEST

/* The padding row is zero, or there is no module. */
START_TEST(a_padding_row_is_zero)
{
    hd_shutdown();
    int64_t left = 0;
    for (bool ok = false; !ok; left++) {
        scarce s = {.left = left, .once = true};
        scarce_use(&s);
        hd_module *m = hd_embedding_new(3, 2, 1);
        ok = s.refused == 0;
        ck_assert_int_eq(hd_error_code(), ok ? HD_OK : HD_MEMORY);
        ck_assert_msg(ok || !m, "a module without the block after %d", (int)left);
        hd_error_clear();
        if (m) {
            hd_tensor *weight = hd_module_get_parameter(m, "weight");
            ck_assert(hd_get(weight, 1, 0) == 0 && hd_get(weight, 1, 1) == 0);
            ck_assert(hd_get(weight, 0, 0) != 0 && hd_get(weight, 2, 1) != 0);
        }
        hd_module_free(m);
        hd_shutdown();
        scarce_end();
    }
    ck_assert_int_gt(left, 3);
}
END_TEST

/* ---------------------------------------------------------------- init */

static void a_weight(world *w)
{
    w->x = hd_parameter(hd_ones(HD_FLOAT32, 5, 4), true);
}

static bool init_trunc_normal(world *w)
{
    return hd_init_trunc_normal_(w->x, 0, 1, -1, 1);
}

static bool init_by_density(world *w)
{
    return hd_init_trunc_normal_(w->x, 0, 1, 1.5, 1.6);
}

static bool init_orthogonal(world *w)
{
    return hd_init_orthogonal_(w->x, 2);
}

static bool init_kaiming(world *w)
{
    return hd_init_kaiming_normal_(w->x, 0, HD_FAN_IN, "relu");
}

START_TEST(init_changes_a_tensor_as_a_whole)
{
    static const atomic_call calls[] = {
        {"hd_init_trunc_normal_", a_weight, init_trunc_normal, NULL, NULL},
        {"hd_init_trunc_normal_, far", a_weight, init_by_density, NULL, NULL},
        {"hd_init_orthogonal_", a_weight, init_orthogonal, NULL, NULL},
    };
    ATOMIC_AT_EACH(calls);
    scarce s = {.left = -1};
    scarce_use(&s);
    world w = {0};
    a_weight(&w);
    s.left = 0;
    ck_assert(init_kaiming(&w)); /* it needs no memory */
    ck_no_error();
    hd_shutdown();
    scarce_end();
}
END_TEST

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
        train_and_eval_need_no_memory,
        constructors_draw_nothing_if_memory_runs_out,
        a_block_survives_no_memory,
        a_padding_row_is_zero,
        init_changes_a_tensor_as_a_whole,
        trunc_normal_draws_as_normal_does,
        what_is_too_large_is_refused_before_anything_is_filled,
        a_forward_that_fails_has_drawn_nothing,
    };
    return SUITE_OF("atomic", tests);
}
