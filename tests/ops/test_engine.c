/* test_engine.c - backward: what reaches .grad, when it fails, hooks, hd_grad_of, long chains. */
#include <pthread.h>

#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

static hd_tensor *leaf(hd_dtype d, int64_t n, const double *v)
{
    return hd_requires_grad_(row_of(d, n, v), true);
}
#define LEAF(...)                                                                                  \
    leaf(HD_FLOAT32, (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                  \
         (double[]){__VA_ARGS__})

START_TEST(product_and_sum)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *b = LEAF(4, 5, 6);
    hd_tensor *y = hd_sum(hd_mul(a, b));
    ck_assert_str_eq(hd_grad_fn(y), "SumBackward0");
    ck_assert(hd_requires_grad(y) && !hd_is_leaf(y) && hd_is_leaf(a));
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 4, 5, 6);
    ck_elements(hd_grad(b), 1, 2, 3);
    ck_assert_ptr_eq(hd_grad(y), HD_NONE);
    ck_no_error();
}
END_TEST

START_TEST(accumulates_and_drops)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2);
    hd_backward(hd_sum(hd_mul_scalar(a, 3)));
    hd_backward(hd_sum(hd_mul_scalar(a, 4)));
    hd_tensor *alias = hd_grad(a);
    ck_elements(alias, 7, 7);
    ck_assert(hd_set_grad(a, HD_NONE));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_elements(alias, 7, 7); /* an alias outlives the tensor that it was made of */
    hd_tensor *given = vec(HD_FLOAT32, 10, 20);
    ck_assert(hd_set_grad(a, given));
    hd_backward(hd_sum(a));
    ck_elements(hd_grad(a), 11, 21);
    ck_no_error();
}
END_TEST

START_TEST(one_gradient_for_two_leaves_is_not_shared)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4), *g = vec(HD_FLOAT32, 5, 6);
    ck_assert(hd_backward_with(hd_add(a, b), g, false));
    ck_assert(!hd_shares_storage(hd_grad(a), hd_grad(b)));
    ck_assert(!hd_shares_storage(hd_grad(a), g));
    hd_backward(hd_sum(a));
    ck_elements(hd_grad(a), 6, 7);
    ck_elements(hd_grad(b), 5, 6);
    ck_elements(g, 5, 6);
    ck_no_error();
}
END_TEST

START_TEST(a_node_used_twice)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(2, 3), *b = hd_mul(a, a);
    hd_tensor *y = hd_add(hd_mul(b, b), b); /* a^4 + a^2: 4 a^3 + 2 a */
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(a), 36, 114);
}
END_TEST

START_TEST(broadcast_is_summed_and_dtype_is_the_leafs)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *s = leaf(HD_FLOAT64, 1, (double[]){2});
    hd_tensor *x = hd_view(vec(HD_FLOAT64, 1, 2, 3, 4, 5, 6), 2, 3);
    hd_tensor *y = hd_mul(hd_mul(x, a), s);
    ck_assert_int_eq(hd_dtype_of(y), HD_FLOAT64);
    ck_assert(hd_backward(hd_sum(y)));
    ck_assert_int_eq(hd_dtype_of(hd_grad(a)), HD_FLOAT32);
    ck_elements(hd_grad(a), 10, 14, 18);
    ck_elements(hd_grad(s), 46);
}
END_TEST

START_TEST(needs_one_element_or_a_gradient)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3);
    ck_assert(!hd_backward(hd_mul_scalar(a, 2)));
    ck_error(HD_GRAD, "hd_backward: loss (3,) has 3 elements: expected one, as of hd_sum or "
                      "hd_mean, or hd_backward_with and a gradient of that shape");
    ck_assert(!hd_backward_with(hd_mul_scalar(a, 2), vec(HD_FLOAT32, 1, 2), false));
    ck_error(HD_SHAPE, "hd_backward_with: a gradient of (2,) for (3,): expected the same shape");
    ck_assert(!hd_backward(hd_sum(hd_detach(a))));
    ck_error(HD_GRAD,
             "hd_backward: loss () does not require grad: nothing that it was computed from "
             "requires grad, or grad mode was off then (HD_NO_GRAD), or it is from hd_detach");
    hd_tensor *table = hd_reshape(hd_cat(0, a, a, hd_narrow(a, 0, 0, 2)), 4, 2);
    ck_assert(!hd_backward(table));
    ck_error(HD_GRAD, "hd_backward: loss (4, 2) has 8 elements: expected one, as of hd_sum or "
                      "hd_mean, or hd_backward_with and a gradient of that shape");
    ck_assert(!hd_backward_with(hd_detach(table), hd_ones(HD_FLOAT32, 4, 2), false));
    ck_error(HD_GRAD,
             "hd_backward_with: y (4, 2) does not require grad: nothing that it was computed from "
             "requires grad, or grad mode was off then (HD_NO_GRAD), or it is from hd_detach");
    ck_assert(!hd_backward(NULL));
    ck_error(HD_NULL_ARG, "hd_backward: loss is NULL");
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_assert(hd_backward_with(hd_mul_scalar(a, 2), vec(HD_FLOAT32, 1, 2, 3), false));
    ck_elements(hd_grad(a), 2, 4, 6);
}
END_TEST

START_TEST(twice_needs_retain_graph)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *y = hd_mul(a, a);
    ck_assert(hd_backward_with(y, HD_NONE, true));
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 12);
    ck_assert(!hd_backward(y));
    ck_error(HD_GRAD, "hd_backward: MulBackward0: its graph was freed by an earlier backward; "
                      "hd_backward_with(y, HD_NONE, true) keeps it");
    ck_elements(hd_grad(a), 12);
}
END_TEST

/* Nothing was saved, so nothing was freed; as in PyTorch, the graph may be walked again. */
START_TEST(twice_through_what_saves_nothing)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = hd_clone(a);
    hd_add_(b, vec(HD_FLOAT32, 3, 4));
    hd_tensor *y = hd_sum(b);
    ck_assert(hd_backward(y));
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 2, 2);
    ck_no_error();
}
END_TEST

static hd_tensor *changed_in_part(hd_tensor *x)
{
    return hd_setitem_scalar(x, 5, 0);
}

/* torch: these save nothing but a number, or rewrite history, and refuse a second walk. */
START_TEST(twice_through_numbers)
{
    for (int i = 0; i < 6; i++) {
        HD_SCOPE;
        hd_tensor *a = LEAF(1, 2), *b = hd_clone(a);
        hd_tensor *y = i == 0   ? hd_mul_scalar(a, 2)
                       : i == 1 ? hd_div_scalar(a, 2)
                       : i == 2 ? hd_mul_scalar_(b, 2)
                       : i == 3 ? hd_div_scalar_(b, 2)
                       : i == 4 ? changed_in_part(b)
                                : hd_pow_scalar(a, 0);
        const char *const names[] = {"MulBackward0", "DivBackward0", "MulBackward0",
                                     "DivBackward0", "CopySlices",   "PowBackward0"};
        char message[200];
        snprintf(message, sizeof message,
                 "hd_backward: %s: its graph was freed by an earlier backward; "
                 "hd_backward_with(y, HD_NONE, true) keeps it",
                 names[i]);
        y = hd_sum(y);
        ck_assert(hd_backward_with(y, HD_NONE, true));
        ck_assert(hd_backward(y));
        ck_assert(!hd_backward(y));
        ck_error(HD_GRAD, message);
    }
}
END_TEST

/* torch: the ops whose saved tensors must not have changed though the gradient needs no value of
 * them. */
START_TEST(saved_tensors_that_no_gradient_needs)
{
    for (int i = 0; i < 3; i++) {
        HD_SCOPE;
        hd_tensor *a = LEAF(1, 2), *x = hd_clone(a), *one = hd_ones(HD_FLOAT32, 2);
        hd_tensor *y = i == 0   ? hd_pow_scalar(x, 0)
                       : i == 1 ? hd_gather(x, 0, hd_arange(0, 2, 1))
                                : hd_layer_norm_n(a, 1, (int64_t[]){2}, one, x, 1e-5);
        ck_assert(hd_add_scalar_(x, 1));
        ck_assert(!hd_backward(hd_sum(y)));
        ck_assert_int_eq(hd_error_code(), HD_GRAD);
        ck_assert_ptr_nonnull(strstr(hd_error_message(), "was changed in place: version 1"));
        hd_error_clear();
    }
}
END_TEST

/* torch: the version is 1, and backward refuses the product, since b was saved as it was. */
START_TEST(a_product_with_itself_in_place)
{
    HD_SCOPE;
    hd_tensor *plain = hd_ones(HD_FLOAT32, 2), *a = LEAF(2, 3), *x = hd_clone(a);
    ck_assert(hd_mul_(plain, plain));
    ck_assert_int_eq(hd_version_of(plain), 1);
    ck_assert(hd_mul_(x, x));
    ck_assert_int_eq(hd_version_of(x), 1);
    ck_elements(x, 4, 9);
    ck_assert(!hd_backward(hd_sum(x)));
    ck_error(HD_GRAD, "hd_backward: MulBackward0: its saved tensor 1 of (2,) was changed in place: "
                      "version 1, expected 0; hd_set_debug(true) at the start names both calls");
    x = hd_clone(a);
    ck_assert(hd_div_(x, hd_slice(x, 0, 0, 2)));
    ck_assert_int_eq(hd_version_of(x), 1);
    ck_assert(!hd_backward(hd_sum(x)));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
}
END_TEST

START_TEST(no_grad_and_detach_cut)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3);
    {
        HD_NO_GRAD;
        ck_assert(!hd_grad_mode());
        ck_assert(!hd_requires_grad(hd_mul(a, a)));
    }
    ck_assert(hd_grad_mode());
    hd_tensor *y = hd_mul(a, hd_detach(a));
    ck_assert(hd_backward(y));
    ck_elements(hd_grad(a), 3);
}
END_TEST

START_TEST(non_leaves_keep_grad_when_asked)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = hd_retain_grad(hd_mul_scalar(a, 2)), *c = hd_mul(b, b);
    hd_backward(c);
    ck_elements(hd_grad(b), 12);
    ck_elements(hd_grad(a), 24);
    ck_assert_ptr_null(hd_retain_grad(vec(HD_FLOAT32, 1)));
    ck_error(HD_GRAD, "hd_retain_grad: (1,) does not require grad");
}
END_TEST

START_TEST(grad_before_backward_prints_as_none)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3);
    ck_repr(hd_grad(a), "None");
    ck_assert(hd_backward(hd_mul(a, a)));
    ck_repr(hd_grad(a), "tensor([6.])");
    ck_no_error();
}
END_TEST

START_TEST(grad_warns_of_a_non_leaf)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = hd_mul_scalar(a, 2), *kept = hd_retain_grad(hd_exp(b)), *g;
    static const char lost[] =
        "hd_grad: x (1,) with grad_fn=<MulBackward0> is not a leaf, and its gradient is not kept: "
        "call hd_retain_grad(x) before hd_backward";
    ck_warning(g = hd_grad(b), lost);
    ck_assert_ptr_eq(g, HD_NONE);
    ck_no_warning(hd_grad(a));
    ck_no_warning(hd_grad(kept));
    ck_no_warning(hd_grad(hd_detach(b)));
    hd_backward(kept);
    ck_warning(g = hd_grad(b), lost);
    ck_assert_ptr_eq(g, HD_NONE);
    ck_no_warning(hd_grad(a));
    ck_no_warning(hd_grad(kept));
}
END_TEST

START_TEST(requires_grad_only_for_float_leaves)
{
    HD_SCOPE;
    ck_assert_ptr_null(hd_requires_grad_(hd_arange(0, 3, 1), true));
    ck_error(HD_DTYPE, "hd_requires_grad_: int64: expected float32 or float64");
    hd_tensor *a = LEAF(3), *b = hd_mul(a, a);
    ck_assert_ptr_null(hd_requires_grad_(b, false));
    ck_error(HD_GRAD, "hd_requires_grad_: (1,) with grad_fn=<MulBackward0>: only a leaf can stop "
                      "requiring grad; hd_detach gives one");
    ck_assert_ptr_eq(hd_requires_grad_(a, false), a);
    ck_assert(!hd_requires_grad(a));
    ck_repr(a, "tensor([3.])");
    ck_repr(hd_requires_grad_(a, true), "tensor([3.], requires_grad=True)");
    ck_repr(hd_parameter(a, true), "Parameter containing:\ntensor([3.], requires_grad=True)");
    ck_repr(hd_parameter(a, false), "Parameter containing:\ntensor([3.])");
}
END_TEST

/* ---------------------------------------------------------------- hooks */

static hd_tensor *twice(hd_tensor *grad, void *user)
{
    ++*(int *)user;
    ck_assert(!hd_grad_mode());
    return hd_mul_scalar(grad, 2);
}

static hd_tensor *look(hd_tensor *grad, void *user)
{
    *(double *)user = hd_item(grad);
    return HD_NONE;
}

static hd_tensor *broken(hd_tensor *grad, void *user)
{
    (void)user;
    hd_view(grad, 7); /* fails, and nothing uses its result */
    return grad;
}

START_TEST(hooks_run_once_on_the_sum)
{
    HD_SCOPE;
    int calls = 0;
    double seen = 0;
    hd_tensor *a = LEAF(3), *b = hd_mul_scalar(a, 1);
    int64_t first = hd_register_hook(b, twice, &calls);
    hd_register_hook(b, look, &seen);
    hd_backward_with(hd_add(hd_mul(b, b), b), HD_NONE, true); /* 2 b + 1 = 7, doubled */
    ck_assert_int_eq(calls, 1);
    ck_assert(seen == 14);
    ck_elements(hd_grad(a), 14);
    ck_assert(hd_remove_hook(b, first));
    ck_assert(!hd_remove_hook(b, first));
    hd_error_clear();
    hd_set_grad(a, HD_NONE);
    hd_backward(hd_mul(b, b));
    ck_elements(hd_grad(a), 6);
    ck_assert_int_eq(calls, 1);
    ck_no_error();
}
END_TEST

static hd_tensor *misshaped(hd_tensor *grad, void *user)
{
    (void)user;
    return hd_zeros(hd_dtype_of(grad), 5);
}

static hd_tensor *keep(hd_tensor *grad, void *user)
{
    *(hd_tensor **)user = hd_retain(grad);
    return HD_NONE;
}

static hd_tensor *half_dropped(hd_tensor *x)
{
    return hd_dropout(x, 0.5, true);
}

/* These ops write the gradient of their input over the gradient of their output. They must not do
 * so when that one is seen: when it is kept by retain_grad or by a hook, is the gradient of another
 * leaf, too, or belongs to the caller. */
START_TEST(a_gradient_that_was_seen_stays)
{
    hd_tensor *(*const f[])(hd_tensor *) = {hd_relu, hd_tanh,      hd_sigmoid,  hd_abs,
                                            hd_gelu, hd_gelu_tanh, half_dropped};
    enum { RETAINED, HOOKED, SHARED, GIVEN, WAYS };
    for (int i = 0; i < (int)(sizeof f / sizeof *f) * WAYS; i++) {
        HD_SCOPE;
        int way = i % WAYS;
        hd_tensor *a = LEAF(3, -0.5), *b = LEAF(1, 1), *plain = LEAF(3, -0.5), *seen = NULL;
        hd_tensor *given = hd_full(HD_FLOAT32, 3, 2);
        hd_manual_seed(1);
        ck_assert(hd_backward(hd_sum(hd_mul_scalar(f[i / WAYS](plain), 3))));
        hd_manual_seed(1);
        hd_tensor *y = f[i / WAYS](a);
        if (way == RETAINED) {
            hd_retain_grad(y);
        } else if (way == HOOKED) {
            hd_register_hook(y, keep, &seen);
        }
        ck_assert(way == GIVEN
                      ? hd_backward_with(y, given, false)
                      : hd_backward(hd_sum(hd_mul_scalar(way == SHARED ? hd_add(y, b) : y, 3))));
        hd_tensor *const kept[] = {hd_grad(y), seen, hd_grad(b), given};
        ck_elements(kept[way], 3, 3);
        ck_elements(hd_grad(a), hd_get(hd_grad(plain), 0), hd_get(hd_grad(plain), 1));
        hd_release(seen);
    }
}
END_TEST

START_TEST(a_hook_keeps_shape_and_dtype)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3);
    hd_register_hook(a, misshaped, NULL);
    ck_assert(!hd_backward(hd_mul(a, a)));
    ck_error(HD_SHAPE, "hd_backward: a hook returned (5,) of float32: expected (1,) of float32");
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
}
END_TEST

START_TEST(a_failing_hook_leaves_every_grad)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4);
    hd_backward(hd_add(a, b));
    hd_register_hook(a, broken, NULL);
    ck_assert(!hd_backward(hd_mul(a, b)));
    ck_error(HD_SHAPE, "hd_view: (1,) as (7,): the 1 elements do not fit");
    ck_elements(hd_grad(a), 1);
    ck_elements(hd_grad(b), 1);
    ck_assert_int_eq(hd_register_hook(hd_detach(a), look, NULL), -1);
    ck_error(HD_GRAD, "hd_register_hook: (1,) does not require grad");
}
END_TEST

static int64_t remove_these[2];

static hd_tensor *removes(hd_tensor *grad, void *user)
{
    (void)grad;
    hd_remove_hook(user, remove_these[0]); /* itself */
    hd_remove_hook(user, remove_these[1]); /* the next */
    return HD_NONE;
}

START_TEST(a_hook_may_remove_itself_and_others)
{
    HD_SCOPE;
    int calls = 0, last = 0;
    hd_tensor *a = LEAF(3);
    remove_these[0] = hd_register_hook(a, removes, a);
    remove_these[1] = hd_register_hook(a, twice, &calls);
    hd_register_hook(a, twice, &last);
    ck_assert(hd_backward(hd_mul_scalar(a, 5)));
    ck_elements(hd_grad(a), 10);
    ck_assert_int_eq(calls, 0);
    ck_assert_int_eq(last, 1);
    ck_no_error();
}
END_TEST

START_TEST(a_leaf_that_stopped_requiring_grad_gets_none)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4), *y = hd_mul(a, b);
    hd_requires_grad_(a, false);
    ck_assert(hd_backward(y));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_elements(hd_grad(b), 3);
}
END_TEST

START_TEST(set_grads_of_all_or_none)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3), *y = hd_mul(a, a), *old = vec(HD_FLOAT32, 7, 8);
    hd_list *both = hd_list_of(a, b);
    ck_assert(hd_set_grads(both, hd_list_of(old, HD_NONE)));
    ck_assert(hd_shares_storage(hd_grad(a), old));
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    ck_assert(!hd_set_grads(both, hd_list_of(HD_NONE, vec(HD_FLOAT32, 1, 2))));
    ck_error(HD_SHAPE, "hd_set_grads: (2,) of float32 for (1,) of float32: expected the same");
    ck_assert(!hd_set_grads(hd_list_of(y, a), hd_list_of(old, a)));
    ck_error(HD_VALUE, "hd_set_grads: (2,) is to be its own gradient: expected another tensor");
    ck_assert_ptr_eq(hd_grad(y), HD_NONE);
    ck_assert(!hd_set_grads(both, hd_list_of(HD_NONE)));
    ck_error(HD_VALUE, "hd_set_grads: 1 gradients for 2 tensors: expected as many");
    ck_assert(!hd_set_grads(hd_list_of(a, HD_NONE), hd_list_of(HD_NONE, old)));
    ck_error(HD_NULL_ARG, "hd_set_grads: x is HD_NONE: expected a tensor");
    ck_elements(hd_grad(a), 7, 8);
    ck_assert(hd_set_grads(both, hd_list_of(HD_NONE, vec(HD_FLOAT32, 9))));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_elements(hd_grad(b), 9);
}
END_TEST

START_TEST(set_grad_refuses)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *y = hd_mul(a, a);
    ck_assert(!hd_set_grad(a, vec(HD_FLOAT32, 1)));
    ck_error(HD_SHAPE, "hd_set_grad: (1,) of float32 for (2,) of float32: expected the same");
    ck_assert(!hd_set_grad(a, vec(HD_FLOAT64, 1, 2)));
    ck_error(HD_SHAPE, "hd_set_grad: (2,) of float64 for (2,) of float32: expected the same");
    ck_assert(!hd_set_grad(y, y));
    uint64_t failures = hd_error_count(); /* while an error stands, a failure is counted too */
    ck_assert(!hd_set_grad(y, y));
    ck_assert(hd_error_count() == failures + 1);
    ck_error(HD_VALUE, "hd_set_grad: (2,) is to be its own gradient: expected another tensor");
    ck_assert(!hd_set_grad(a, a));
    ck_error(HD_VALUE, "hd_set_grad: (2,) is to be its own gradient: expected another tensor");
    ck_assert(hd_set_grad(a, hd_detach(a))); /* as in PyTorch */
    hd_tensor *whole = hd_arange(0, 2, 1);
    ck_assert(!hd_set_grad(whole, hd_arange(0, 2, 1)));
    ck_error(HD_DTYPE, "hd_set_grad: int64: expected float32 or float64");
    ck_assert_ptr_null(hd_parameter(hd_arange(0, 2, 1), true));
    ck_error(HD_DTYPE, "hd_parameter: int64: expected float32 or float64");
}
END_TEST

/* torch: y.grad may be set; backward adds to it if retain_grad was called, and not in place */
START_TEST(set_grad_of_a_non_leaf)
{
    HD_SCOPE;
    hd_tensor *x = LEAF(1, 1), *y = hd_mul_scalar(x, 2), *g = vec(HD_FLOAT32, 5, 6);
    ck_assert(hd_set_grad(y, g));
    ck_elements(hd_grad(y), 5, 6);
    ck_assert(hd_shares_storage(hd_grad(y), g));
    ck_assert(hd_backward_with(hd_sum(y), HD_NONE, true));
    ck_elements(hd_grad(y), 5, 6);
    hd_retain_grad(y);
    ck_assert(hd_backward_with(hd_sum(y), HD_NONE, true));
    ck_elements(hd_grad(y), 6, 7);
    ck_elements(g, 5, 6);
    hd_mul_scalar_(y, 3); /* .grad stays with the tensor */
    ck_elements(hd_grad(y), 6, 7);
    ck_assert(hd_set_grad(y, HD_NONE));
    ck_assert_ptr_eq(hd_grad(y), HD_NONE);
    hd_tensor *z = hd_mul_scalar(x, 2);
    ck_assert(hd_set_grad(z, g));
    hd_mul_scalar_(z, 3);
    ck_elements(hd_grad(z), 5, 6);
    ck_assert(hd_set_grad(z, HD_NONE));
    ck_assert_ptr_eq(hd_grad(z), HD_NONE);
    ck_no_error();
}
END_TEST

/* PyTorch adds to the tensor that x.grad was set to. heed adds to a copy that takes its place. So
 * two leaves with one tensor for their .grad get a sum each, where PyTorch adds both to both. */
START_TEST(backward_never_adds_into_a_tensor_of_the_callers)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 1), *b = LEAF(1, 1), *g = vec(HD_FLOAT32, 5, 6);
    hd_tensor *y = hd_add(hd_mul_scalar(a, 10), hd_mul_scalar(b, 20));
    ck_assert(hd_set_grad(a, g) && hd_set_grad(b, g));
    ck_assert(hd_backward_with(hd_sum(y), HD_NONE, true));
    ck_elements(hd_grad(a), 15, 16);
    ck_elements(hd_grad(b), 25, 26);
    ck_elements(g, 5, 6);
    ck_assert(hd_backward_with(hd_sum(y), HD_NONE, true)); /* now in place */
    ck_elements(hd_grad(a), 25, 26);
    ck_elements(hd_grad(b), 45, 46);
    ck_assert(hd_set_grad(b, hd_grad(a)));
    ck_assert(hd_backward_with(hd_sum(y), HD_NONE, true));
    ck_elements(hd_grad(a), 35, 36);
    ck_elements(hd_grad(b), 45, 46);
    ck_no_error();
}
END_TEST

/* The gradient of b lies in the .grad of a, which backward adds to first. */
START_TEST(a_gradient_that_lies_in_a_grad)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 1), *b = LEAF(1, 1);
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(a, 5))) && hd_backward(hd_sum(b)));
    ck_assert(hd_backward_with(hd_add(a, b), hd_grad(a), false));
    ck_elements(hd_grad(a), 10, 10);
    ck_elements(hd_grad(b), 6, 6);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- hd_grad_of */

START_TEST(grad_of_looks_at_its_options_size)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3);
    hd_list *y = hd_list_of(hd_mul(a, a)), *x = hd_list_of(a);
    hd_grad_options o = {.retain_graph = true};
    ck_assert_ptr_null(hd_grad_of(y, x, NULL, &o));
    ck_error(HD_VALUE, "hd_grad_of: o->size 0: expected 16, as hd_grad_defaults() gives");
    o.size = sizeof o + 8;
    ck_assert_ptr_null(hd_grad_of(y, x, NULL, &o));
    ck_error(HD_VALUE, "hd_grad_of: o->size 24: expected 16, as hd_grad_defaults() gives");
    o.size = sizeof o;
    ck_elements(hd_list_get(hd_grad_of(y, x, NULL, &o), 0), 6);
}
END_TEST

START_TEST(grad_of_leaves_grad_alone)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = LEAF(4), *m = hd_mul(a, b), *y = hd_mul(m, m);
    hd_grad_options o = hd_grad_defaults();
    o.retain_graph = true;
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(a, m), NULL, &o);
    ck_assert_int_eq(hd_list_len(g), 2);
    ck_elements(hd_list_get(g, 0), 96);
    ck_elements(hd_list_get(g, 1), 24);
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    hd_tensor *apart = LEAF(1);
    ck_assert_ptr_null(hd_grad_of(hd_list_of(y), hd_list_of(a, apart), NULL, &o));
    ck_error(HD_GRAD, "hd_grad_of: input 1 of (1,): the outputs do not depend on it; allow_unused "
                      "gives HD_NONE there");
    o.allow_unused = true;
    g = hd_grad_of(hd_list_of(y, a), hd_list_of(a, apart), NULL, &o);
    ck_elements(hd_list_get(g, 0), 97);
    ck_assert_ptr_eq(hd_list_get(g, 1), HD_NONE);
    ck_assert(hd_backward(y)); /* the graph was retained */
    ck_elements(hd_grad(a), 96);
}
END_TEST

static hd_tensor *five_times(hd_tensor *grad, void *user)
{
    ++*(int *)user;
    return hd_mul_scalar(grad, 5);
}

/* torch: 5 for y itself, and 10 for a leaf with a hook */
START_TEST(grad_of_what_has_a_hook)
{
    HD_SCOPE;
    int calls = 0;
    hd_tensor *x = LEAF(1), *y = hd_mul_scalar(x, 3), *z = LEAF(1);
    hd_register_hook(y, five_times, &calls);
    hd_list *g = hd_grad_of(hd_list_of(y), hd_list_of(y), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 5);
    ck_assert_int_eq(calls, 1);
    g = hd_grad_of(hd_list_of(y, y), hd_list_of(y), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 10);
    ck_assert_int_eq(calls, 2);
    hd_register_hook(z, five_times, &calls);
    g = hd_grad_of(hd_list_of(hd_mul_scalar(z, 2)), hd_list_of(z), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 10);
    g = hd_grad_of(hd_list_of(z), hd_list_of(z), NULL, NULL);
    ck_elements(hd_list_get(g, 0), 5);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- several threads */

static void *square_elsewhere(void *arg)
{
    hd_tensor **h = arg;
    *h = hd_retain(hd_mul(*h, *h)); /* the first node of this thread */
    return NULL;
}

/* A node of another thread comes after its inputs in order, however many nodes this thread has
 * made. */
START_TEST(a_graph_of_two_threads)
{
    HD_SCOPE;
    hd_tensor *x = LEAF(3);
    for (int i = 0; i < 100; i++) {
        hd_mul(x, x);
    }
    hd_tensor *h = hd_mul(x, x), *far = hd_retain(h);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, square_elsewhere, &far), 0);
    pthread_join(thread, NULL);
    ck_assert(hd_backward(hd_add(far, hd_mul_scalar(h, 5)))); /* x^4 + 5 x^2 */
    ck_elements(hd_grad(x), 138);
    hd_release(far);
    hd_release(h);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- size */

enum { CHAIN = 1000000 };

START_TEST(a_million_nodes)
{
    int64_t before = hd_tensor_count(), live = hd_bytes_live();
    {
        HD_SCOPE;
        hd_tensor *a = hd_retain(LEAF(1)), *y = hd_retain(hd_mul_scalar(a, 1));
        for (int i = 0; i < CHAIN; i++) {
            HD_SCOPE;
            hd_assign(&y, hd_add_scalar(y, 1));
        }
        ck_assert(hd_item(y) == CHAIN + 1);
        ck_assert(hd_backward_with(y, HD_NONE, true));
        ck_elements(hd_grad(a), 1);
        hd_release(y);
        hd_release(a);
    }
    ck_assert_int_eq(hd_tensor_count(), before);
    ck_assert_int_eq(hd_bytes_live(), live);
}
END_TEST

START_TEST(nothing_leaks_on_any_way)
{
    int64_t before = hd_tensor_count(), live = hd_bytes_live();
    for (int i = 0; i < 3; i++) {
        HD_SCOPE;
        hd_tensor *a = LEAF(1, 2), *y = hd_mul(hd_mul(a, a), a);
        if (i == 1) {
            hd_backward(y); /* fails: two elements */
            hd_error_clear();
            continue;
        }
        hd_register_hook(y, broken, NULL);
        hd_backward_with(y, vec(HD_FLOAT32, 1, 1), false);
        hd_error_clear();
    }
    ck_assert_int_eq(hd_tensor_count(), before);
    ck_assert_int_eq(hd_bytes_live(), live);
}
END_TEST

Suite *suite_engine(void)
{
    const TTest *const tests[] = {
        product_and_sum,
        accumulates_and_drops,
        one_gradient_for_two_leaves_is_not_shared,
        a_node_used_twice,
        broadcast_is_summed_and_dtype_is_the_leafs,
        needs_one_element_or_a_gradient,
        twice_needs_retain_graph,
        twice_through_what_saves_nothing,
        twice_through_numbers,
        saved_tensors_that_no_gradient_needs,
        a_product_with_itself_in_place,
        grad_of_what_has_a_hook,
        no_grad_and_detach_cut,
        non_leaves_keep_grad_when_asked,
        grad_before_backward_prints_as_none,
        grad_warns_of_a_non_leaf,
        requires_grad_only_for_float_leaves,
        hooks_run_once_on_the_sum,
        a_gradient_that_was_seen_stays,
        a_hook_keeps_shape_and_dtype,
        a_failing_hook_leaves_every_grad,
        a_graph_of_two_threads,
        a_hook_may_remove_itself_and_others,
        a_leaf_that_stopped_requiring_grad_gets_none,
        set_grads_of_all_or_none,
        set_grad_refuses,
        set_grad_of_a_non_leaf,
        backward_never_adds_into_a_tensor_of_the_callers,
        a_gradient_that_lies_in_a_grad,
        grad_of_looks_at_its_options_size,
        grad_of_leaves_grad_alone,
        a_million_nodes,
        nothing_leaks_on_any_way,
    };
    return SUITE_OF("engine", tests);
}
