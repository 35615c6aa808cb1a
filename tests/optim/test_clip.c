/* test_clip.c - tests of gradient clipping: changed and unchanged gradients, accumulated
 * gradients. */
#include "suites.h"

static hd_tensor *with_grad(hd_tensor *g)
{
    hd_tensor *p = hd_parameter(hd_zeros_like(g, hd_dtype_of(g)), true);
    ck_assert(hd_set_grad(p, g));
    return p;
}

START_TEST(small_gradients_stay)
{
    HD_SCOPE;
    hd_tensor *g = vec(HD_FLOAT32, 3, 4), *p = with_grad(g);
    int64_t version = hd_version_of(g);
    ck_assert_double_eq(hd_clip_grad_norm_(hd_list_of(p), 6, 2, false), 5);
    ck_elements(g, 3, 4);
    ck_assert_int_eq(hd_version_of(g), version);
    ck_assert_double_eq(hd_clip_grad_norm_(hd_list_of(p), 0, 2, false), 5);
    ck_elements(g, 0, 0); /* PyTorch's 0 too */
    double norm;
    ck_warning(norm = hd_clip_grad_norm_(hd_list_n(0, NULL), 1, 2, true),
               "hd_clip_grad_norm_: the list of parameters is empty, so no gradient is clipped. "
               "Pass the parameters of the optimizer");
    ck_assert_double_eq(norm, 0);
    ck_assert_double_eq(hd_clip_grad_norm_(hd_list_of(hd_parameter(g, true)), 1, 2, true), 0);
}
END_TEST

START_TEST(numbers_that_are_not_finite)
{
    HD_SCOPE;
    hd_tensor *p = with_grad(vec(HD_FLOAT32, 1, INFINITY)), *q = with_grad(vec(HD_FLOAT32, 2));
    const hd_list *both = hd_list_of(p, q);
    ck_assert(isnan(hd_clip_grad_norm_(both, 1, 2, true)));
    ck_error(HD_VALUE,
             "hd_clip_grad_norm_: the norm of the gradients is inf: expected a finite number");
    ck_elements(hd_grad(q), 2);
    ck_assert_double_eq(hd_clip_grad_norm_(both, 1, 2, false), INFINITY);
    ck_elements(hd_grad(p), 0, NAN);
    ck_elements(hd_grad(q), 0);
    static const double types[] = {2, 1, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
        ck_assert(isnan(hd_clip_grad_norm_(both, 1, types[i], true)));
        ck_error(HD_VALUE,
                 "hd_clip_grad_norm_: the norm of the gradients is nan: expected a finite number");
    }
    hd_tensor *r = with_grad(vec(HD_FLOAT32, 3)), *nothing = with_grad(hd_zeros(HD_FLOAT32, 0));
    ck_assert(isnan(hd_clip_grad_norm_(hd_list_of(p, r), 1, 2, false)));
    ck_elements(hd_grad(r), NAN); /* as in PyTorch, no value is left that looks right */
    ck_assert(hd_set_grad(r, vec(HD_FLOAT32, 3)));
    ck_assert_double_eq(hd_clip_grad_norm_(hd_list_of(nothing, r), 9, -INFINITY, true), 3);
    hd_tensor *nan = with_grad(vec(HD_FLOAT32, NAN, -9, 9, 1));
    ck_assert(hd_clip_grad_value_(hd_list_of(nan), 2));
    ck_elements(hd_grad(nan), NAN, -2, 2, 1);
}
END_TEST

START_TEST(arguments)
{
    HD_SCOPE;
    hd_tensor *p = with_grad(hd_ones(HD_FLOAT32, 3));
    const hd_list *list = hd_list_of(p);
    ck_assert(isnan(hd_clip_grad_norm_(NULL, 1, 2, false)));
    ck_error(HD_NULL_ARG, "hd_clip_grad_norm_: parameters is NULL");
    ck_assert(isnan(hd_clip_grad_norm_(list, -1, 2, false)));
    ck_error(HD_VALUE, "hd_clip_grad_norm_: max_norm -1: expected 0 or more");
    ck_assert(isnan(hd_clip_grad_norm_(list, NAN, 2, false)));
    ck_error(HD_VALUE, "hd_clip_grad_norm_: max_norm nan: expected 0 or more");
    ck_assert(isnan(hd_clip_grad_norm_(list, 1, NAN, false)));
    ck_error(HD_VALUE, "hd_clip_grad_norm_: norm_type nan: expected a number");
    ck_assert(!hd_clip_grad_value_(list, -1));
    ck_error(HD_VALUE, "hd_clip_grad_value_: clip_value -1: expected 0 or more");
    ck_assert(!hd_clip_grad_value_(hd_list_of(p, HD_NONE), 0.5));
    ck_error(HD_NULL_ARG, "hd_clip_grad_value_: parameter 1 is HD_NONE: expected a tensor");
    hd_tensor *wide = hd_parameter(hd_ones(HD_FLOAT32, 3), true);
    ck_assert(hd_set_grad(wide, hd_expand(hd_ones(HD_FLOAT32, 1), 3)));
    ck_assert(isnan(hd_clip_grad_norm_(hd_list_of(p, wide), 0.5, 2, false)));
    ck_error(HD_VALUE, "hd_clip_grad_norm_: the gradient of parameter 1 of (3,) is expanded: "
                       "several elements share memory. Give hd_set_grad a clone");
    ck_elements(hd_grad(p), 1, 1, 1);
}
END_TEST

/* The bits do not depend on the number of threads, and the values hardly on the strides. */
START_TEST(large_gradients)
{
    HD_SCOPE;
    hd_tensor *g = hd_randn(HD_FLOAT32, 400, 501);
    double want = sqrt(hd_item(hd_sum(hd_mul(hd_to(g, HD_FLOAT64), hd_to(g, HD_FLOAT64)))));
    double norms[2];
    hd_tensor *p[2];
    for (int k = 0; k < 2; k++) {
        ck_assert(hd_set_num_threads(k ? 3 : 1));
        p[k] = with_grad(hd_clone(g));
        norms[k] = hd_clip_grad_norm_(hd_list_of(p[k]), 1, 2, true);
    }
    ck_assert_double_eq(norms[0], norms[1]);
    ck_assert(hd_equal(hd_grad(p[0]), hd_grad(p[1])));
    ck_assert_double_lt(fabs(norms[0] - want), 1e-12 * want);
    double again = hd_clip_grad_norm_(hd_list_of(p[0]), 1, 2, true);
    ck_assert_double_lt(fabs(again - 1), 1e-6);
    hd_tensor *turned = with_grad(hd_t(hd_contiguous(hd_t(g))));
    ck_assert_double_lt(fabs(hd_clip_grad_norm_(hd_list_of(turned), 1, 2, true) - want),
                        1e-12 * want);
    ck_assert(hd_allclose(hd_grad(turned), hd_grad(p[1]), 1e-6, 0, false));
}
END_TEST

/* Two halves of a batch, each with its loss divided by 2, give the step of the whole batch. */
START_TEST(accumulation)
{
    HD_SCOPE;
    hd_tensor *x = hd_randn(HD_FLOAT64, 8, 3), *y = hd_randn(HD_FLOAT64, 8, 1);
    hd_tensor *start = hd_randn(HD_FLOAT64, 3, 1), *w[2];
    for (int parts = 1; parts <= 2; parts++) {
        w[parts - 1] = hd_parameter(hd_clone(start), true);
        hd_optim *o = hd_adam_new(hd_list_of(w[parts - 1]), NULL);
        for (int step = 0; step < 5; step++) {
            ck_assert(hd_optim_zero_grad(o));
            for (int i = 0; i < parts; i++) {
                int64_t n = 8 / parts;
                hd_tensor *loss = hd_mse_loss(hd_matmul(hd_narrow(x, 0, i * n, n), w[parts - 1]),
                                              hd_narrow(y, 0, i * n, n));
                ck_assert(hd_backward(hd_div_scalar(loss, parts)));
            }
            ck_assert(hd_optim_step(o));
        }
        hd_optim_free(o);
    }
    ck_assert(hd_allclose(w[0], w[1], 1e-12, 0, false));
    ck_assert(!hd_allclose(w[0], start, 1e-4, 0, false));
}
END_TEST

static hd_tensor *clip_in_hook(hd_tensor *g, void *user)
{
    hd_tensor *w = user;
    ck_assert(hd_set_grad(w, g));
    ck_assert(isnan(hd_clip_grad_norm_(hd_list_of(w), 0.1, 2, false)));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    ck_assert(!hd_clip_grad_value_(hd_list_of(w), 0.1));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    ck_elements(g, 2, 2);
    return HD_NONE;
}

/* Another gradient, which could be changed, comes first. */
static hd_tensor *clip_two_in_hook(hd_tensor *g, void *user)
{
    const hd_list *both = user; /* v, w */
    hd_tensor *v = hd_list_get(both, 0);
    hd_set_grad(hd_list_get(both, 1), g);
    int64_t version = hd_version_of(hd_grad(v));
    ck_assert(isnan(hd_clip_grad_norm_(both, 0.1, 2, false)));
    ck_error(HD_GRAD,
             "hd_clip_grad_norm_: x of (2,) lies in the memory of the gradient that hook 2 "
             "of AccumulateGrad was given, which must not change. Return another tensor instead");
    ck_assert(!hd_clip_grad_value_(both, 0.1));
    ck_error(HD_GRAD,
             "hd_clip_grad_value_: x of (2,) lies in the memory of the gradient that hook "
             "2 of AccumulateGrad was given, which must not change. Return another tensor instead");
    ck_assert_int_eq(hd_version_of(hd_grad(v)), version);
    ck_elements(hd_grad(v), 1, 1);
    hd_set_grad(hd_list_get(both, 1), HD_NONE);
    return HD_NONE;
}

START_TEST(a_gradient_that_a_hook_is_given)
{
    HD_SCOPE;
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    int64_t id = hd_register_hook(w, clip_in_hook, w);
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(w, 2))) && hd_remove_hook(w, id));

    hd_tensor *v = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    hd_set_grad(v, hd_ones(HD_FLOAT32, 2));
    w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2), true);
    hd_register_hook(w, clip_two_in_hook, hd_list_of(v, w));
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(w, 2))));
}
END_TEST

Suite *suite_clip(void)
{
    const TTest *const tests[] = {
        small_gradients_stay, numbers_that_are_not_finite,     arguments, large_gradients,
        accumulation,         a_gradient_that_a_hook_is_given,
    };
    return SUITE("clip", tests);
}
