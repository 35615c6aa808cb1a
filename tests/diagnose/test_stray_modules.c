/* test_stray_modules.c - tests of debug mode's warning about a module that a forward runs and
 * nothing holds. Correct programs that look similar give none. */
#include "suites.h"

#include "support/warnings.h"

enum { STEPS = 4 };

static void debug_on(void)
{
    hd_set_debug(true);
}

static void debug_off(void)
{
    hd_set_debug(false);
}

typedef struct net {
    hd_module base;
    hd_module *head, *other;
} net;

static hd_tensor *net_forward(hd_module *self, hd_tensor *x) /* x (b, 3) */
{
    net *m = (net *)self;
    return hd_forward(m->other, hd_forward(m->head, x)); /* (b, 3) */
}

static const hd_module_type net_type = HD_MODULE_TYPE(net, "Net", net_forward),
                            pair_type = HD_MODULE_TYPE(net, "Pair", net_forward);

/* Registers `other` not. */
static net *net_new(const hd_module_type *type, hd_module *other)
{
    net *m = (net *)hd_module_new(type);
    hd_register_module(&m->base, "head", &m->head, hd_linear_new(3, 3, true));
    m->other = other;
    return (net *)hd_module_ready(&m->base);
}

/* ---------------------------------------------------------------- what the end tells */

enum { MOST_HEARD = 100 };
static char heard[MOST_HEARD][300];
static int n_heard;

/* Debug mode also tells of the live tensors, which are not what these tests are about. */
static void hear_strays(const char *message, void *user)
{
    (void)user;
    if (strstr(message, "parent")) {
        ck_assert_int_lt(n_heard, MOST_HEARD);
        snprintf(heard[n_heard++], sizeof heard[0], "%s", message);
    }
}

static int strays_at_the_end(void)
{
    n_heard = 0;
    hd_on_warning(hear_strays, NULL);
    hd_shutdown();
    hd_on_warning(warning_unexpected, NULL);
    ck_no_error();
    return n_heard;
}

static void run(net *m)
{
    HD_SCOPE;
    ck_assert_ptr_nonnull(hd_forward(&m->base, hd_ones(HD_FLOAT32, 2, 3)));
}

#define STRAY(what)                                                                                \
    "hd_shutdown: " what                                                                           \
    " that has no parent: hd_module_parameters and hd_module_state_dict leave it out, and "        \
    "nothing has freed it. Register it with hd_register_module; if it is to stay apart, free it "  \
    "with hd_module_free"

/* One is told of for each pair of types, and at one end alone. */
START_TEST(a_module_is_not_registered)
{
    net *first = net_new(&net_type, hd_linear_new(3, 3, true));
    net *second = net_new(&net_type, hd_linear_new(3, 3, true));
    net *pair = net_new(&pair_type, hd_sequential(hd_relu_new(false), hd_linear_new(3, 3, true)));
    net *all[] = {first, second, pair};
    ck_assert_int_eq(strays_at_the_end(), 0); /* nothing has run */
    for (int i = 0; i < 3; i++) {
        run(all[i]);
        run(all[i]);
    }
    ck_assert_int_eq(strays_at_the_end(), 2);
    bool swapped = strstr(heard[0], "Pair");
    ck_assert_str_eq(heard[swapped], STRAY("Net runs a Linear"));
    ck_assert_str_eq(heard[!swapped], STRAY("Pair runs a Sequential"));
    run(first);
    run(second);
    ck_assert_int_eq(strays_at_the_end(), 0);
    for (int i = 0; i < 3; i++) {
        hd_module_free(all[i]->other);
        hd_module_free(&all[i]->base);
    }
}
END_TEST

static hd_tensor *lookup_forward(hd_module *self, hd_tensor *x) /* x (b,), int64 */
{
    return hd_forward(((net *)self)->other, x); /* (b, 2) */
}

START_TEST(an_article_and_a_module_that_is_freed_before_it)
{
    static const hd_module_type type = HD_MODULE_TYPE(net, "Lookup", lookup_forward);
    net *m = net_new(&type, hd_embedding_new(4, 2, HD_NO_PADDING));
    hd_tensor *x = hd_zeros(HD_INT64, 3);
    for (int i = 0; i < 2; i++) { /* the first one was freed, so it is none */
        HD_SCOPE;
        ck_assert_ptr_nonnull(hd_forward(&m->base, x));
        if (i == 0) {
            hd_module_free(m->other);
            m->other = hd_embedding_new(4, 2, HD_NO_PADDING);
        }
    }
    hd_module *stray = m->other;
    hd_module_free(&m->base);
    ck_assert_int_eq(strays_at_the_end(), 1);
    ck_assert_str_eq(heard[0], STRAY("Lookup runs an Embedding"));
    hd_module_free(stray);
}
END_TEST

/* All of them are told of, however many there are. */
START_TEST(strays_of_a_hundred_types)
{
    static hd_module_type types[MOST_HEARD];
    static char names[MOST_HEARD][8];
    net *all[MOST_HEARD];
    for (int i = 0; i < MOST_HEARD; i++) {
        snprintf(names[i], sizeof names[i], "Net%d", i);
        types[i] = net_type;
        types[i].name = names[i];
        all[i] = net_new(&types[i], hd_linear_new(3, 3, true));
        run(all[i]);
    }
    ck_assert_int_eq(strays_at_the_end(), MOST_HEARD);
    for (int i = 0; i < MOST_HEARD; i++) {
        hd_module_free(all[i]->other);
        hd_module_free(&all[i]->base);
    }
}
END_TEST

/* Three strays of one type ran. Two of them are freed, and the one that stays is told of. */
START_TEST(the_others_of_its_type_are_freed)
{
    for (int stays = 0; stays < 3; stays++) {
        net *all[3];
        for (int i = 0; i < 3; i++) {
            all[i] = net_new(&net_type, hd_linear_new(3, 3, true));
            run(all[i]);
        }
        for (int i = 0; i < 3; i++) {
            hd_module_free(i == stays ? NULL : all[i]->other);
        }
        ck_assert_int_eq(strays_at_the_end(), 1);
        ck_assert_str_eq(heard[0], STRAY("Net runs a Linear"));
        hd_module_free(all[stays]->other);
        ck_assert_int_eq(strays_at_the_end(), 0);
        for (int i = 0; i < 3; i++) {
            hd_module_free(&all[i]->base);
        }
    }
}
END_TEST

/* A net runs a stray of each of two types. */
START_TEST(strays_of_two_types_in_one_net)
{
    net *linear = net_new(&net_type, hd_linear_new(3, 3, true));
    net *norm = net_new(&net_type, hd_layer_norm_new(3));
    run(linear);
    run(norm);
    ck_assert_int_eq(strays_at_the_end(), 2);
    bool swapped = strstr(heard[0], "LayerNorm");
    ck_assert_str_eq(heard[swapped], STRAY("Net runs a Linear"));
    ck_assert_str_eq(heard[!swapped], STRAY("Net runs a LayerNorm"));
    hd_module_free(linear->other);
    hd_module_free(norm->other);
    hd_module_free(&linear->base);
    hd_module_free(&norm->base);
}
END_TEST

/* ---------------------------------------------------------------- right programs */

/* The generator is registered, and trains first; the optimizer of the discriminator comes later. */
static void adversarial(net *m)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(m->head), NULL), *later = NULL;
    for (int i = 0; i < 2 * STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(hd_sum(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))));
        hd_optim_step(o);
        later = i == STEPS ? hd_sgd_new(hd_module_parameters(m->other), NULL) : later;
        ck_assert(!later || hd_optim_step(later));
        hd_module_zero_grad(m->other);
    }
    hd_optim_free(later);
    hd_optim_free(o);
}

/* A net whose features are compared, and which stays as it is. */
static void with_features(net *m)
{
    hd_optim *o = hd_sgd_new(hd_module_parameters(&m->base), NULL);
    for (int i = 0; i < STEPS; i++) {
        HD_SCOPE;
        hd_optim_zero_grad(o);
        hd_backward(hd_sum(hd_forward(&m->base, hd_rand(HD_FLOAT32, 2, 3))));
        hd_optim_step(o);
    }
    hd_optim_free(o);
}

/* None of them is registered; all are freed. */
START_TEST(modules_that_are_not_registered_on_purpose)
{
    void (*const runs[])(net *) = {adversarial, with_features};
    for (int i = 0; i < 4; i++) {
        net *m = net_new(&net_type, hd_sequential(hd_linear_new(3, 3, true), hd_relu_new(false)));
        hd_module *other = m->other;
        ck_no_warning(runs[i % 2](m));
        if (i < 2) { /* in both orders */
            hd_module_free(other);
        }
        hd_module_free(&m->base);
        if (i >= 2) {
            hd_module_free(other);
        }
        ck_assert_int_eq(strays_at_the_end(), 0);
    }
}
END_TEST

/* They are not freed at the end, and do not train: a target net, a frozen one, one without
 * parameters. Or they are held by then, or run alone. */
START_TEST(modules_that_are_no_strays)
{
    net *target = net_new(&net_type, hd_linear_new(3, 3, true));
    net *frozen = net_new(&net_type, hd_linear_new(3, 3, true));
    net *plain = net_new(&net_type, hd_sequential(hd_relu_new(false), hd_dropout_new(0.5, false)));
    net *held = net_new(&net_type, hd_linear_new(3, 3, true));
    net *all[] = {target, frozen, plain, held};
    hd_module *alone = hd_sequential(hd_linear_new(3, 3, true));
    hd_module_eval(target->other);
    hd_module_freeze(frozen->other, "");
    for (int i = 0; i < 4; i++) {
        run(all[i]);
    }
    hd_forward(alone, hd_ones(HD_FLOAT32, 2, 3));
    hd_module *holder = hd_sequential(held->other);
    ck_assert_int_eq(strays_at_the_end(), 0);
    for (int i = 0; i < 3; i++) {
        hd_module_free(all[i]->other);
        hd_module_free(&all[i]->base);
    }
    hd_module_free(&held->base);
    hd_module_free(holder);
    hd_module_free(alone);
}
END_TEST

/* Debug mode is off when the module runs, or when it is freed. */
START_TEST(while_debug_mode_is_off)
{
    net *m = net_new(&net_type, hd_linear_new(3, 3, true));
    hd_set_debug(false);
    run(m);
    hd_set_debug(true);
    ck_assert_int_eq(strays_at_the_end(), 0);
    run(m);
    hd_set_debug(false);
    hd_module_free(m->other);
    hd_set_debug(true);
    ck_assert_int_eq(strays_at_the_end(), 0);
    hd_module_free(&m->base);
}
END_TEST

Suite *suite_stray_modules(void)
{
    const TTest *const tests[] = {
        a_module_is_not_registered,     an_article_and_a_module_that_is_freed_before_it,
        strays_of_a_hundred_types,      the_others_of_its_type_are_freed,
        strays_of_two_types_in_one_net, modules_that_are_not_registered_on_purpose,
        modules_that_are_no_strays,     while_debug_mode_is_off,
    };
    return SUITE_BETWEEN("modules that nothing holds", tests, debug_on, debug_off);
}
