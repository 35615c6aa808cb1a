/* test_step.c - tests of the tensors that a step reads and writes: all or none, in place, outside
 * the graph. */
#include "suites.h"
#include "support/scarce.h"

#include <stdio.h>
#include <stdlib.h>

static hd_tensor *parameter(double value, int64_t n)
{
    return hd_parameter(hd_full(HD_FLOAT32, value, n), true);
}

static hd_optim *plain_sgd(const hd_list *parameters, double lr, double momentum)
{
    hd_sgd_options o = hd_sgd_defaults();
    o.lr = lr;
    o.momentum = momentum;
    return hd_sgd_new(parameters, &o);
}

START_TEST(a_parameter_without_gradient_is_left_alone)
{
    HD_SCOPE;
    hd_tensor *a = parameter(1, 2), *b = parameter(1, 2), *frozen = hd_ones(HD_FLOAT32, 2);
    hd_optim *o = plain_sgd(hd_list_of(a, b, frozen), 0.5, 0.9);
    hd_set_grad(a, hd_ones(HD_FLOAT32, 2));
    int64_t version_a = hd_version_of(a), version_b = hd_version_of(b);
    ck_assert(hd_optim_step(o));
    ck_elements(a, 0.5, 0.5);
    ck_elements(b, 1, 1);
    ck_elements(frozen, 1, 1);
    ck_assert_int_eq(hd_version_of(a), version_a + 1);
    ck_assert_int_eq(hd_version_of(b), version_b);
    ck_assert(hd_is_leaf(a) && hd_requires_grad(a) && hd_grad_mode());

    hd_set_grad(b, hd_ones(HD_FLOAT32, 2)); /* b's first step: no momentum yet */
    ck_assert(hd_optim_step(o));
    ck_elements(b, 0.5, 0.5);
    ck_assert_double_lt(fabs(element_at(a, 0) - (0.5 - 0.5 * 1.9)), 1e-6);
    ck_assert(hd_optim_zero_grad(o));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    hd_optim_free(o);
}
END_TEST

START_TEST(nothing_while_an_error_stands)
{
    HD_SCOPE;
    hd_tensor *a = parameter(1, 2);
    hd_optim *o = plain_sgd(hd_list_of(a), 0.5, 0);
    hd_set_grad(a, hd_ones(HD_FLOAT32, 2));
    hd_error_set(HD_USER, "older");
    ck_assert(!hd_optim_step(o));
    ck_error(HD_USER, "older");
    ck_elements(a, 1, 1);
    ck_assert(hd_optim_step(o));
    ck_elements(a, 0.5, 0.5);
    hd_optim_free(o);
}
END_TEST

/* In the hook, the gradient lies in the memory of `held`: of a parameter or of a state. */
typedef struct lent {
    hd_optim *o;
    hd_list *parameters; /* the first could be written */
    int64_t hook, runs;
} lent;

static hd_tensor *step_in_hook(hd_tensor *grad, void *user)
{
    lent *l = user;
    (void)grad;
    hd_tensor *first = hd_list_get(l->parameters, 0);
    int64_t version = hd_version_of(first);
    double value = element_at(first, 0);
    l->runs++;
    ck_assert(!hd_optim_step(l->o));
    char said[200];
    snprintf(said, sizeof said,
             "hd_optim_step: x of (2,) lies in the memory of the gradient that hook %d of "
             "AccumulateGrad was given, which must not change. Return another tensor instead",
             (int)l->hook);
    ck_error(HD_GRAD, said);
    ck_assert_int_eq(hd_version_of(first), version);
    ck_assert(element_at(first, 0) == value);
    return HD_NONE;
}

/* Both parameters have a gradient; the backward is given `gy`, whose memory the hook then holds. */
static void step_while_lent(lent *l, hd_tensor *gy)
{
    hd_tensor *x = parameter(1, 2);
    l->runs = 0;
    l->hook = hd_register_hook(x, step_in_hook, l);
    ck_assert(hd_backward_with(x, gy, false));
    ck_assert_int_eq(l->runs, 1);
}

START_TEST(nothing_while_a_hook_is_given_what_it_writes)
{
    HD_SCOPE;
    lent l = {.parameters = hd_list_of(parameter(1, 2), parameter(1, 2))};
    l.o = plain_sgd(l.parameters, 0.5, 0.9);
    for (int i = 0; i < 2; i++) {
        hd_set_grad(hd_list_get(l.parameters, i), hd_ones(HD_FLOAT32, 2));
    }
    step_while_lent(&l, hd_detach(hd_list_get(l.parameters, 1)));
    ck_assert(hd_optim_step(l.o)); /* the states are made */
    hd_dict *d = hd_dict_new();
    ck_assert(hd_optim_save(l.o, d, ""));
    step_while_lent(&l, hd_dict_get(d, "state.1.momentum_buffer"));
    ck_assert(hd_optim_step(l.o));
    ck_elements(hd_list_get(l.parameters, 0), -0.45F, -0.45F);
    ck_elements(hd_list_get(l.parameters, 1), -0.45F, -0.45F);
    hd_dict_free(d);
    hd_optim_free(l.o);
}
END_TEST

START_TEST(backward_sees_the_change)
{
    HD_SCOPE;
    hd_tensor *a = parameter(1, 2), *x = parameter(2, 2);
    hd_optim *o = plain_sgd(hd_list_of(a), 0.5, 0);
    hd_tensor *loss = hd_sum(hd_mul(a, x)); /* saves a, for x */
    hd_set_grad(a, hd_ones(HD_FLOAT32, 2));
    ck_assert(hd_optim_step(o));
    ck_assert(!hd_backward(loss));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    hd_optim_free(o);
}
END_TEST

START_TEST(a_gradient_may_be_the_parameter_itself)
{
    HD_SCOPE;
    hd_tensor *a = hd_parameter(vec(HD_FLOAT32, 1, 2, 3, 4), true);
    ck_assert(hd_set_grad(a, hd_detach(a)));
    hd_optim *o = plain_sgd(hd_list_of(a), 0.5, 0);
    ck_assert(hd_optim_step(o));
    ck_elements(a, 0.5, 1, 1.5, 2);
    hd_optim_free(o);

    hd_tensor *b = hd_parameter(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4), 2, 2), true);
    ck_assert(hd_set_grad(b, hd_t(hd_detach(b)))); /* is read as it was */
    o = plain_sgd(hd_list_of(b), 0.5, 0);
    ck_assert(hd_optim_step(o));
    ck_elements(b, 0.5, 0.5, 2, 2);
    hd_optim_free(o);
}
END_TEST

/* The largest v keeps NaN, as torch.maximum does. */
START_TEST(amsgrad_keeps_nan)
{
    HD_SCOPE;
    hd_tensor *a = parameter(1, 2);
    hd_adam_options options = hd_adam_defaults();
    options.amsgrad = true;
    options.beta1 = options.beta2 = 0; /* the largest v alone remembers the NaN */
    hd_optim *o = hd_adam_new(hd_list_of(a), &options);
    hd_dict *d = hd_dict_new();
    hd_set_grad(a, vec(HD_FLOAT32, 1, NAN));
    ck_assert(hd_optim_step(o) && hd_optim_save(o, d, "o"));
    ck_elements(hd_dict_get(d, "o.state.0.max_exp_avg_sq"), 1, NAN);
    hd_dict_free(d);
    hd_optim_free(o);
}
END_TEST

START_TEST(it_holds_its_parameters)
{
    hd_optim *o;
    hd_tensor *a;
    {
        HD_SCOPE;
        a = parameter(1, 2);
        o = plain_sgd(hd_list_of(a), 0.5, 0.9);
        hd_set_grad(a, hd_ones(HD_FLOAT32, 2));
    }
    HD_SCOPE;
    ck_assert(hd_optim_step(o));
    ck_elements(a, 0.5, 0.5);
    hd_optim_free(o);
}
END_TEST

START_TEST(empty_and_scalar_parameters)
{
    HD_SCOPE;
    hd_tensor *none = hd_parameter(hd_ones(HD_FLOAT32, 0, 3), true);
    hd_tensor *one = hd_parameter(hd_scalar_tensor(HD_FLOAT64, 3), true);
    hd_optim *o = plain_sgd(hd_list_of(none, one), 1, 0.5);
    hd_set_grad(none, hd_ones(HD_FLOAT32, 0, 3));
    hd_set_grad(one, hd_scalar_tensor(HD_FLOAT64, 2));
    ck_assert(hd_optim_step(o));
    ck_elements(one, 1);
    hd_optim_free(o);
}
END_TEST

/* Rows that are not contiguous: the strides of the parameter and of its gradient differ. */
START_TEST(strides_of_three_dimensions)
{
    HD_SCOPE;
    hd_tensor *x = hd_randn(HD_FLOAT32, 3, 4, 5), *g = hd_randn(HD_FLOAT32, 3, 4, 5);
    hd_tensor *dense = hd_parameter(hd_clone(x), true);
    hd_tensor *p = hd_parameter(hd_permute(hd_contiguous(hd_permute(x, 2, 0, 1)), 1, 2, 0),
                                true); /* (3, 4, 5) */
    hd_tensor *wide = hd_slice_step(hd_cat(2, g, g), 2, 0, 5, 1);
    ck_assert(!hd_is_contiguous(p) && !hd_is_contiguous(wide));
    hd_optim *a = hd_adamw_new(hd_list_of(dense), NULL), *b = hd_adamw_new(hd_list_of(p), NULL);
    for (int i = 0; i < 3; i++) {
        ck_assert(hd_set_grad(dense, g) && hd_set_grad(p, wide));
        ck_assert(hd_optim_step(a) && hd_optim_step(b));
    }
    ck_assert(hd_equal(p, dense));
    ck_assert(!hd_equal(p, x));
    hd_optim_free(a);
    hd_optim_free(b);
}
END_TEST

/* A parameter and its transpose are two parameters with the same memory. */
START_TEST(two_parameters_of_one_memory)
{
    HD_SCOPE;
    hd_tensor *a = hd_parameter(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4, 5, 6), 2, 3), true);
    hd_tensor *b = hd_parameter(hd_t(hd_detach(a)), true); /* (3, 2) */
    hd_optim *o = plain_sgd(hd_list_of(b, a), 0.5, 0);
    ck_assert(!hd_is_contiguous(b));
    ck_assert(hd_set_grad(a, hd_ones(HD_FLOAT32, 2, 3)));
    ck_assert(hd_set_grad(b, hd_full(HD_FLOAT32, 2, 3, 2)));
    ck_assert(hd_optim_step(o));
    ck_elements(a, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5); /* less 0.5 (1 + 2) */
    hd_optim_free(o);
}
END_TEST

/* Does hd_alloc keep what was freed? Under a sanitizer it does not. */
static bool blocks_are_kept(void)
{
    hd_free(hd_alloc(100));
    int64_t before = hd_system_allocs();
    hd_free(hd_alloc(100));
    return hd_system_allocs() == before;
}

/* After its first step an optimizer asks the system for no memory, and its bits do not depend on
 * the number of threads. */
START_TEST(large_parameters)
{
    HD_SCOPE;
    hd_tensor *x = hd_randn(HD_FLOAT32, 200001), *g = hd_randn(HD_FLOAT32, 200001), *p[2];
    bool kept = blocks_are_kept();
    for (int k = 0; k < 2; k++) {
        ck_assert(hd_set_num_threads(k ? 3 : 1));
        p[k] = hd_parameter(hd_clone(x), true);
        hd_set_grad(p[k], g);
        hd_optim *o = hd_adamw_new(hd_list_of(p[k]), NULL);
        ck_assert(hd_optim_step(o));
        int64_t before = hd_system_allocs();
        for (int i = 0; i < 5; i++) {
            ck_assert(hd_optim_step(o));
        }
        ck_assert(!kept || hd_system_allocs() == before);
        hd_optim_free(o);
    }
    ck_assert(hd_equal(p[0], p[1]));
}
END_TEST

/* ---------------------------------------------------------------- out of memory */

/* A step for which memory runs out changes no parameter, not even the first. */
START_TEST(no_memory_changes_nothing)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    {
        HD_SCOPE;
        hd_tensor *a = parameter(1, 2), *b = parameter(1, 2);
        hd_set_grad(a, hd_ones(HD_FLOAT32, 2));
        hd_set_grad(b, hd_ones(HD_FLOAT32, 2));
        hd_optim *o = plain_sgd(hd_list_of(a, b), 0.5, 0.9);
        bool done = false;
        int failures = 0;
        for (int64_t n = 0; !done && n < 100; n++) {
            s.left = n;
            done = hd_optim_step(o);
            s.left = -1;
            if (!done) {
                ck_assert_int_eq(hd_error_code(), HD_MEMORY);
                hd_error_clear();
                ck_elements(a, 1, 1);
                ck_elements(b, 1, 1);
                failures++;
            }
        }
        ck_assert(done);
        ck_assert_int_gt(failures, 3);
        ck_elements(a, 0.5, 0.5);
        ck_elements(b, 0.5, 0.5);
        hd_optim_free(o);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
    scarce_end();
}
END_TEST

Suite *suite_step(void)
{
    const TTest *const tests[] = {
        a_parameter_without_gradient_is_left_alone,
        nothing_while_an_error_stands,
        nothing_while_a_hook_is_given_what_it_writes,
        backward_sees_the_change,
        a_gradient_may_be_the_parameter_itself,
        amsgrad_keeps_nan,
        it_holds_its_parameters,
        empty_and_scalar_parameters,
        strides_of_three_dimensions,
        two_parameters_of_one_memory,
        large_parameters,
        no_memory_changes_nothing,
    };
    return SUITE("step", tests);
}
