/* test_hooks.c - tests of hooks on tensors: when they run, what value they return, and which
 * tensors they leave unchanged. */
#include "heed/autograd.h"
#include "ops/leaf.h"
#include "ops/suites.h"
#include "support/support.h"

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
    warnings_expected();
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
    ck_error(HD_GRAD, "hd_register_hook: x of (1,) does not require grad");
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

/* ---------------------------------------------------------------- a gradient that a hook kept */

static hd_tensor *kept;

static hd_tensor *keeps_and_returns(hd_tensor *grad, void *user)
{
    kept = hd_retain(grad);
    return user ? grad : HD_NONE;
}

static hd_tensor *changes_what_was_kept(hd_tensor *grad, void *user)
{
    (void)grad, (void)user;
    ck_assert_ptr_null(hd_mul_scalar_(kept, 7));
    return HD_NONE;
}

#define LENT                                                                                       \
    " must not change, because it is a gradient that a hook or a backward was given, or shares "   \
    "its memory. Change a clone of it instead"

/* It may lie in the memory of the caller's tensor and of other gradients. */
START_TEST(a_kept_gradient_is_not_changed_later)
{
    for (int returned = 0; returned < 2; returned++) {
        HD_SCOPE;
        char message[200];
        hd_tensor *a = LEAF(1, 2), *b = LEAF(3, 4), *g = vec(HD_FLOAT32, 5, 6);
        hd_tensor *z = hd_add(a, b);
        ck_assert_int_gt(hd_register_hook(z, keeps_and_returns, returned ? g : NULL), 0);
        int64_t id = hd_register_hook(a, changes_what_was_kept, NULL);
        ck_assert(!hd_backward_with(z, g, true));
        snprintf(message, sizeof message,
                 "hd_mul_scalar_: x of (2,) lies in the memory of the gradient that hook %lld of "
                 "AccumulateGrad was given, which must not change. Return another tensor instead",
                 (long long)id);
        ck_error(HD_GRAD, message);
        hd_release(kept);
        ck_assert(hd_remove_hook(a, id));
        ck_assert(hd_backward_with(z, g, true));
        ck_assert_ptr_null(hd_mul_scalar_(kept, 7)); /* after the backward */
        ck_error(HD_GRAD, "hd_mul_scalar_: x of (2,)" LENT);
        ck_assert_ptr_null(hd_zero_(hd_slice(hd_view(kept, 1, 2), 1, 0, 1)));
        ck_error(HD_GRAD, "hd_zero_: x of (1, 1)" LENT);
        ck_assert_ptr_null(hd_data_mut(hd_detach(kept)));
        ck_error(HD_GRAD, "hd_data_mut: x of (2,)" LENT);
        ck_elements(hd_mul_scalar_(hd_clone(kept), 7), 35, 42);
        ck_elements(g, 5, 6);
        ck_elements(hd_grad(a), 5, 6);
        ck_assert(hd_mul_scalar_(hd_grad(a), 2) && hd_mul_scalar_(hd_grad(b), 3));
        ck_elements(kept, 5, 6);
        ck_assert(hd_mul_scalar_(g, 2)); /* the caller's own */
        hd_tensor *first = kept;
        ck_assert(hd_backward_with(z, first, false)); /* a gradient again */
        ck_assert(hd_mul_scalar_(hd_grad(a), 2));
        ck_no_error();
        hd_release(first);
        hd_release(kept);
    }
}
END_TEST

static hd_tensor *changes_in_the_graph(hd_tensor *grad, void *user)
{
    (void)grad;
    hd_set_grad_mode(true);
    return hd_mul_scalar_(user, 3) ? HD_NONE : NULL;
}

/* torch: h.grad is 5, 5. Its gradient was put aside before x's hook ran. */
START_TEST(a_retained_gradient_goes_with_its_tensor)
{
    HD_SCOPE;
    hd_tensor *x = LEAF(1, 1), *h = hd_retain_grad(hd_mul_scalar(x, 2));
    ck_assert_int_gt(hd_register_hook(x, changes_in_the_graph, h), 0);
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(h, 5))));
    ck_elements(h, 6, 6);
    ck_elements(hd_grad(h), 5, 5);
    ck_elements(hd_grad(x), 10, 10);
    ck_no_error();
}
END_TEST

Suite *suite_hooks(void)
{
    const TTest *const tests[] = {
        a_kept_gradient_is_not_changed_later,
        a_retained_gradient_goes_with_its_tensor,
        hooks_run_once_on_the_sum,
        a_gradient_that_was_seen_stays,
        a_hook_keeps_shape_and_dtype,
        a_failing_hook_leaves_every_grad,
        a_hook_may_remove_itself_and_others,
        nothing_leaks_on_any_way,
    };
    return SUITE_OF("hooks", tests);
}
