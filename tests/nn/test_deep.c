/* test_deep.c - modules nested 100,000 deep, which no walk may visit by recursion; and a list of
 * 50,000 modules, on which no function may take quadratic time (tests/checks/check_linear). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "suites.h"

enum { DEEP = 100000, SMALL_STACK = 256 << 10 };

/* A probe in a probe in a probe ... The innermost one has a parameter and a buffer; with `all`, the
 * others have a parameter each, too. */
static hd_module *nested(bool all)
{
    HD_SCOPE;
    probe *m = probe_new();
    hd_register_parameter(&m->base, "a", &m->a, ramp_parameter(2));
    hd_register_buffer(&m->base, "b", &m->b, hd_ones(HD_FLOAT32, 3), true);
    for (int i = 1; i < DEEP; i++) {
        probe *around = probe_new();
        if (all) {
            HD_SCOPE;
            hd_register_parameter(&around->base, "a", &around->a, ramp_parameter(1));
        }
        hd_register_module(&around->base, "m", &around->left, &m->base);
        m = around;
    }
    return hd_module_ready(&m->base);
}

static bool count_eval(hd_module *m, const char *name, void *user)
{
    *(int64_t *)user += !hd_module_training(m) && strlen(name) > 0;
    return true;
}

static void ck_one(hd_dict *d, int64_t entries)
{
    ck_assert_ptr_nonnull(d);
    ck_assert_int_eq(hd_dict_len(d), entries);
    ck_assert_int_eq((int64_t)strlen(hd_dict_name(d, 0)), 2 * (DEEP - 1) + 1); /* "m.m. ... .a" */
    hd_dict_free(d);
}

static void *walk_one_parameter(void *unused)
{
    HD_SCOPE;
    hd_module *m = nested(false);
    int64_t n = 0;
    ck_assert(hd_module_eval(m) && !hd_module_training(m));
    ck_assert(hd_module_visit(m, count_eval, &n));
    ck_assert_int_eq(n, DEEP - 1);
    ck_assert(hd_module_train(m, true));
    n = 0;
    ck_assert(hd_module_visit(m, count_eval, &n));
    ck_assert_int_eq(n, 0);
    ck_assert_int_eq(hd_list_len(hd_module_parameters(m)), 1);
    ck_one(hd_module_named_parameters(m), 1);
    hd_dict *d = hd_module_state_dict(m);
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    const char *name = hd_dict_name(d, 0);
    hd_tensor *a = hd_module_get_parameter(m, name);
    ck_elements(a, 0, 1);
    ck_assert(hd_backward(hd_sum(a)));
    hd_dict *grads = hd_dict_new();
    ck_assert(hd_module_save_grads(m, grads, ""));
    ck_assert(hd_module_zero_grad(m));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_assert(hd_module_load_grads(m, grads, ""));
    ck_elements(hd_grad(a), 1, 1);
    ck_one(grads, 1);
    ck_assert(hd_module_to(m, HD_FLOAT64) && hd_module_requires_grad_(m, false));
    a = hd_module_get_parameter(m, name);
    ck_assert(hd_dtype_of(a) == HD_FLOAT64 && !hd_requires_grad(a));
    ck_one(d, 2);
    ck_assert_str_eq(hd_module_summary(m), "NULL");
    ck_error(HD_VALUE, "hd_module_summary: Probe: modules are nested more than 1000 levels deep: "
                       "expected fewer levels");
    hd_module_free(m);
    return unused;
}

static void *walk_many_parameters(void *unused)
{
    HD_SCOPE;
    hd_module *m = nested(true);
    hd_list *all = hd_module_parameters(m);
    ck_assert_int_eq(hd_list_len(all), DEEP);
    ck_elements(hd_list_get(all, 0), 0);
    ck_elements(hd_list_get(all, DEEP - 1), 0, 1);
    ck_assert(hd_module_zero_grad(m) && hd_module_requires_grad_(m, false));
    ck_assert(hd_module_to(m, HD_FLOAT64));
    ck_assert_int_eq(hd_dtype_of(((probe *)m)->a), HD_FLOAT64);
    hd_module_free(m);
    return unused;
}

/* The outer module is there before the inner one. */
static void *build_from_the_top(void *unused)
{
    HD_SCOPE;
    probe *top = probe_new(), *m = top;
    for (int i = 1; i < DEEP; i++) {
        probe *inner = probe_new();
        ck_assert(hd_register_module(&m->base, "m", &m->left, &inner->base));
        m = inner;
    }
    ck_assert(!hd_register_module(&m->base, "m", &m->left, &top->base));
    ck_error(HD_STATE, "hd_register_module: Probe cannot be below itself");
    ck_assert(hd_module_eval(&top->base) && !hd_module_training(&m->base));
    hd_module_free(&top->base);
    return unused;
}

static void with_a_small_stack(void *(*f)(void *))
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, SMALL_STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, f, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

START_TEST(one_parameter_far_below)
{
    with_a_small_stack(walk_one_parameter);
}
END_TEST

START_TEST(a_parameter_in_each)
{
    warnings_expected();
    with_a_small_stack(walk_many_parameters);
}
END_TEST

START_TEST(from_the_top)
{
    with_a_small_stack(build_from_the_top);
}
END_TEST

/* ---------------------------------------------------------------- a long list */

/* How many modules the list has. tests/checks/check_linear counts the instructions of two sizes. */
static int wide_of(void)
{
    const char *told = getenv("HEED_TEST_WIDE");
    return told ? atoi(told) : 50000;
}

/* A list of n LayerNorm(1) and its state. shared: they have one weight. */
static hd_module *wide(int n, hd_dict **state, bool shared)
{
    HD_SCOPE;
    hd_module *m = hd_module_list_n(0, NULL);
    hd_tensor *one = hd_parameter(hd_ones(HD_FLOAT32, 1), true);
    for (int i = 0; i < n; i++) {
        HD_SCOPE;
        hd_module_list_append(m, hd_layer_norm_new(1));
        if (shared) {
            hd_module_set_parameter(hd_module_list_get(m, i), "weight", one);
        }
    }
    *state = hd_module_state_dict(m);
    ck_assert_int_eq(hd_dict_len(*state), 2 * n);
    return m;
}

START_TEST(a_long_list)
{
    warnings_expected();
    HD_SCOPE;
    hd_dict *d, *other = hd_dict_new(), *report = hd_dict_new(), *grads = hd_dict_new();
    const int n = wide_of();
    hd_module *m = wide(n, &d, false);
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.gain", i);
        hd_dict_set(other, name, hd_dict_get(d, "0.weight"));
    }
    ck_assert(hd_module_load_state_dict(m, other, false, report));
    ck_assert_int_eq(hd_dict_len(report), 3 * n); /* each missing or unexpected */
    hd_list *parameters = hd_module_parameters(m);
    for (int i = 0; i < 2 * n; i++) {
        hd_tensor *p = hd_list_get(parameters, i);
        hd_set_grad(p, hd_detach(p));
    }
    ck_assert(hd_module_save_grads(m, grads, "g"));
    ck_assert(hd_module_load_grads(m, grads, "g"));
    ck_assert(hd_module_eval(m));
    ck_assert(hd_module_to(m, HD_FLOAT64));
    ck_no_error();
    hd_dict_free(d);
    hd_dict_free(other);
    hd_dict_free(report);
    hd_dict_free(grads);
    hd_module_free(m);
}
END_TEST

START_TEST(a_parameter_with_many_names)
{
    warnings_expected();
    HD_SCOPE;
    hd_dict *d, *last = hd_dict_new();
    const int n = wide_of();
    hd_module *m = wide(n, &d, true);
    ck_assert(hd_module_load_state_dict(m, d, true, NULL));
    char name[32];
    snprintf(name, sizeof name, "%d.weight", n - 1);
    hd_dict_set(last, name, hd_full(HD_FLOAT32, 5, 1));
    ck_assert(hd_module_load_state_dict(m, last, false, NULL));
    ck_elements(hd_module_get_parameter(m, "0.weight"), 5);
    ck_no_error();
    hd_dict_free(d);
    hd_dict_free(last);
    hd_module_free(m);
}
END_TEST

/* ---------------------------------------------------------------- the order of freeing */

static char freed_text[64];

static void note_freed(hd_module *self)
{
    snprintf(freed_text + strlen(freed_text), sizeof freed_text - strlen(freed_text), "%d ",
             (int)((probe *)self)->odd);
}

static const hd_module_type noting_type = {.size = sizeof(hd_module_type),
                                           .instance_size = sizeof(probe),
                                           .name = "Noting",
                                           .free = note_freed};

static probe *noting(int odd)
{
    probe *m = (probe *)hd_module_new(&noting_type);
    m->odd = odd;
    return m;
}

START_TEST(parents_are_freed_first)
{
    probe *m[6];
    for (int i = 0; i < 6; i++) {
        m[i] = noting(i);
    }
    hd_register_module(&m[1]->base, "left", &m[1]->left, &m[2]->base);
    hd_register_module(&m[1]->base, "right", &m[1]->right, &m[3]->base);
    hd_register_module(&m[0]->base, "left", &m[0]->left, &m[1]->base);
    hd_register_module(&m[0]->base, "right", &m[0]->right, &m[4]->base);
    hd_register_module(&m[4]->base, "left", &m[4]->left, &m[5]->base);
    freed_text[0] = '\0';
    hd_module_free(&m[0]->base);
    ck_assert_str_eq(freed_text, "0 1 2 3 4 5 ");
}
END_TEST

Suite *suite_deep(void)
{
    const TTest *const tests[] = {
        one_parameter_far_below,
        a_parameter_in_each,
        from_the_top,
        parents_are_freed_first,
    };
    return SUITE("deep", tests);
}

Suite *suite_wide(void)
{
    const TTest *const tests[] = {a_long_list, a_parameter_with_many_names};
    return SUITE("wide", tests);
}
