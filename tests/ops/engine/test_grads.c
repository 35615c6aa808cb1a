/* test_grads.c - tests of leaves and their .grad: leaves that require a gradient, the sums of
 * backward, and hd_set_grad. */
#include "heed/autograd.h"
#include "ops/leaf.h"
#include "ops/suites.h"
#include "support/support.h"

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
    hd_tensor *recorded = hd_mul_scalar(LEAF(3, 4), 2);
    ck_assert(hd_set_grad(a, recorded)); /* x.grad has its values alone */
    ck_elements(hd_grad(a), 6, 8);
    ck_assert(hd_shares_storage(hd_grad(a), recorded) && !hd_requires_grad(hd_grad(a)));
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

START_TEST(non_leaves_keep_grad_when_asked)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(3), *b = hd_retain_grad(hd_mul_scalar(a, 2)), *c = hd_mul(b, b);
    hd_backward(c);
    ck_elements(hd_grad(b), 12);
    ck_elements(hd_grad(a), 24);
    ck_assert_ptr_null(hd_retain_grad(vec(HD_FLOAT32, 1)));
    ck_error(HD_GRAD, "hd_retain_grad: x of (1,) does not require grad");
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
        "hd_grad: (1,) with grad_fn=<MulBackward0> is not a leaf, and its gradient is not kept. "
        "Call hd_retain_grad for it before hd_backward";
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
    ck_error(HD_DTYPE, "hd_requires_grad_: dtype int64: expected float32 or float64");
    hd_tensor *a = LEAF(3), *b = hd_mul(a, a);
    ck_assert_ptr_null(hd_requires_grad_(b, false));
    ck_error(HD_GRAD, "hd_requires_grad_: (1,) with grad_fn=<MulBackward0> is not a leaf, and only "
                      "a leaf can stop requiring grad. Use hd_detach");
    ck_assert_ptr_eq(hd_requires_grad_(a, false), a);
    ck_assert(!hd_requires_grad(a));
    ck_repr(a, "tensor([3.])");
    ck_repr(hd_requires_grad_(a, true), "tensor([3.], requires_grad=True)");
    ck_repr(hd_parameter(a, true), "Parameter containing:\ntensor([3.], requires_grad=True)");
    ck_repr(hd_parameter(a, false), "Parameter containing:\ntensor([3.])");
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
    warnings_expected();
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2), *b = LEAF(3), *y = hd_mul(a, a), *old = vec(HD_FLOAT32, 7, 8);
    hd_list *both = hd_list_of(a, b);
    ck_assert(hd_set_grads(both, hd_list_of(old, HD_NONE)));
    ck_assert(hd_shares_storage(hd_grad(a), old));
    ck_assert_ptr_eq(hd_grad(b), HD_NONE);
    ck_assert(!hd_set_grads(both, hd_list_of(HD_NONE, vec(HD_FLOAT32, 1, 2))));
    ck_error(
        HD_SHAPE,
        "hd_set_grads: g (2,) of float32 for x (1,) of float32: expected the same shape and dtype");
    ck_assert(!hd_set_grads(hd_list_of(y, a), hd_list_of(old, a)));
    ck_error(HD_VALUE, "hd_set_grads: (2,) cannot be its own gradient: expected another tensor");
    ck_assert_ptr_eq(hd_grad(y), HD_NONE);
    ck_assert(!hd_set_grads(both, hd_list_of(HD_NONE)));
    ck_error(HD_VALUE, "hd_set_grads: 1 gradients for 2 tensors: expected one for each");
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
    ck_error(
        HD_SHAPE,
        "hd_set_grad: g (1,) of float32 for x (2,) of float32: expected the same shape and dtype");
    ck_assert(!hd_set_grad(a, vec(HD_FLOAT64, 1, 2)));
    ck_error(
        HD_SHAPE,
        "hd_set_grad: g (2,) of float64 for x (2,) of float32: expected the same shape and dtype");
    ck_assert(!hd_set_grad(y, y));
    uint64_t failures = hd_error_count(); /* while an error is set, a failure is counted too */
    ck_assert(!hd_set_grad(y, y));
    ck_assert(hd_error_count() == failures + 1);
    ck_error(HD_VALUE, "hd_set_grad: (2,) cannot be its own gradient: expected another tensor");
    ck_assert(!hd_set_grad(a, a));
    ck_error(HD_VALUE, "hd_set_grad: (2,) cannot be its own gradient: expected another tensor");
    ck_assert(hd_set_grad(a, hd_detach(a))); /* as in PyTorch */
    hd_tensor *whole = hd_arange(0, 2, 1);
    ck_assert(!hd_set_grad(whole, hd_arange(0, 2, 1)));
    ck_error(HD_DTYPE, "hd_set_grad: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_parameter(hd_arange(0, 2, 1), true));
    ck_error(HD_DTYPE, "hd_parameter: dtype int64: expected float32 or float64");
}
END_TEST

/* torch: y.grad may be set; backward adds to it if retain_grad was called, and not in place */
START_TEST(set_grad_of_a_non_leaf)
{
    warnings_expected();
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
    hd_tensor *of_a = hd_grad(a);
    ck_assert(hd_set_grad(b, of_a));
    ck_assert(hd_backward_with(hd_sum(y), HD_NONE, true));
    ck_elements(of_a, 35, 36); /* lies in a's .grad, which is added to in place */
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

Suite *suite_grads(void)
{
    const TTest *const tests[] = {
        accumulates_and_drops,
        one_gradient_for_two_leaves_is_not_shared,
        non_leaves_keep_grad_when_asked,
        grad_before_backward_prints_as_none,
        grad_warns_of_a_non_leaf,
        requires_grad_only_for_float_leaves,
        a_leaf_that_stopped_requiring_grad_gets_none,
        set_grads_of_all_or_none,
        set_grad_refuses,
        set_grad_of_a_non_leaf,
        backward_never_adds_into_a_tensor_of_the_callers,
        a_gradient_that_lies_in_a_grad,
    };
    return SUITE_OF("grads", tests);
}
