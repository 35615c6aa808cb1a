/* test_inplace.c - tests of in-place operations: PyTorch's values, shared memory, saved values,
 * errors. */
#include "heed/autograd.h"
#include "leaf.h"
#include "suites.h"
#include "support/support.h"

static hd_tensor *square(void) /* (3, 3): 0 .. 8 */
{
    return hd_view(hd_arange_as(HD_FLOAT32, 0, 9, 1), 3, 3);
}

START_TEST(returns_x_and_counts_a_change)
{
    HD_SCOPE;
    hd_tensor *x = square();
    int64_t before = hd_version_of(x);
    ck_assert_ptr_eq(hd_add_scalar_(x, 1), x);
    ck_assert_ptr_eq(hd_mul_(x, x), x);
    ck_assert_ptr_eq(hd_zero_(x), x);
    ck_assert_int_eq(hd_version_of(x), before + 3);
    hd_tensor *part = hd_select(x, 1, 2);
    ck_assert_ptr_eq(hd_fill_(part, 7), part);
    ck_elements(x, 0, 0, 7, 0, 0, 7, 0, 0, 7);
}
END_TEST

START_TEST(views_of_one_memory)
{
    HD_SCOPE;
    hd_tensor *x = square();
    hd_add_(hd_select(x, 0, 0), hd_select(x, 0, 1));
    ck_elements(x, 3, 5, 7, 3, 4, 5, 6, 7, 8);
    hd_add_(hd_select(x, 1, 0), hd_select(x, 1, 1)); /* columns lie interleaved, but apart */
    ck_elements(x, 8, 5, 7, 7, 4, 5, 13, 7, 8);
    x = square();
    hd_add_(x, hd_slice(x, 1, 0, 1)); /* b is read as it was */
    ck_elements(x, 0, 1, 2, 6, 7, 8, 12, 13, 14);
    /* They lie interleaved, and an element of b lies before x's first. */
    x = vec(HD_FLOAT32, 1, 2, 3, 4, 5, 6, 7, 8);
    hd_add_(hd_slice_step(x, 0, 2, 8, 2), hd_slice_step(x, 0, 0, 6, 2));
    ck_elements(x, 1, 2, 4, 4, 8, 6, 12, 8);
    x = square();
    ck_assert_ptr_eq(hd_copy_(x, x), x);
    ck_elements(hd_mul_(x, x), 0, 1, 4, 9, 16, 25, 36, 49, 64);
    ck_no_error();
}
END_TEST

START_TEST(partly_shared_memory_is_refused)
{
    HD_SCOPE;
    hd_tensor *x = square();
    hd_tensor *flat = hd_view(x, -1);
    int64_t before = hd_version_of(x);
    ck_assert_ptr_null(hd_add_(x, hd_select(x, 0, 0)));
    ck_error(HD_STATE, "hd_add_: (3, 3) and (3,) overlap in part, so writing to the first would "
                       "change the second. Clone the second");
    ck_assert_ptr_null(hd_copy_(x, hd_transpose(x, 0, 1)));
    ck_error(HD_STATE, "hd_copy_: (3, 3) and (3, 3) overlap in part, so writing to the first would "
                       "change the second. Clone the second");
    ck_assert_ptr_null(hd_mul_(hd_slice(flat, 0, 1, 9), hd_slice(flat, 0, 0, 8)));
    ck_error(HD_STATE, "hd_mul_: (8,) and (8,) overlap in part, so writing to the first would "
                       "change the second. Clone the second");
    ck_assert_int_eq(hd_version_of(x), before);
    ck_elements(x, 0, 1, 2, 3, 4, 5, 6, 7, 8);
}
END_TEST

/* ---------------------------------------------------------------- gradients */

START_TEST(products_remember_what_x_was)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *b = LEAF(4, 5, 6);
    hd_tensor *y = hd_mul_(hd_mul_scalar(a, 1), b);
    ck_assert_str_eq(hd_grad_fn(y), "MulBackward0");
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(a), 4, 5, 6);
    ck_elements(hd_grad(b), 1, 2, 3);
    hd_tensor *c = LEAF(2, 4);
    y = hd_div_(vec(HD_FLOAT32, 1, 1), c); /* x itself needed no gradient */
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(c), -0.25, -0.0625);
    ck_no_error();
}
END_TEST

START_TEST(x_times_itself)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3);
    hd_tensor *x = hd_mul_scalar(a, 1);
    ck_assert(hd_backward(hd_sum(hd_add_(x, x))));
    ck_elements(hd_grad(a), 2, 2, 2);
    x = hd_mul_scalar(a, 1);
    ck_elements(hd_mul_(x, x), 1, 4, 9);
    ck_assert(!hd_backward(hd_sum(x))); /* b was changed by the call itself: PyTorch refuses too */
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "MulBackward0"));
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "changed in place"));
    hd_error_clear();
}
END_TEST

START_TEST(what_is_overwritten_gets_zero)
{
    HD_SCOPE;
    hd_tensor *a = LEAF(1, 2, 3), *b = LEAF(4, 5, 6);
    hd_tensor *y = hd_copy_(hd_mul_scalar(a, 1), b);
    ck_assert_str_eq(hd_grad_fn(y), "CopyBackwards");
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(a), 0, 0, 0);
    ck_elements(hd_grad(b), 1, 1, 1);
    y = hd_fill_(hd_mul_scalar(a, 1), 2);
    ck_assert_str_eq(hd_grad_fn(y), "FillBackward2");
    ck_assert_str_eq(hd_grad_fn(hd_zero_(hd_mul_scalar(a, 1))), "ZeroBackward0");
    hd_tensor *mask = hd_eq_scalar(vec(HD_FLOAT32, 1, 0, 1), 1);
    y = hd_masked_fill_(hd_mul_scalar(a, 1), mask, -INFINITY);
    ck_assert_str_eq(hd_grad_fn(y), "MaskedFillBackward0");
    ck_assert(hd_backward_with(y, vec(HD_FLOAT32, 10, 20, 30), false));
    ck_elements(hd_grad(a), 0, 20, 0);
    hd_tensor *d = hd_copy_(hd_zeros(HD_FLOAT64, 2, 3), b); /* converts and broadcasts */
    ck_assert(hd_backward(hd_sum(d)));
    ck_elements(hd_grad(b), 3, 3, 3);
    ck_assert(!hd_requires_grad(hd_copy_(hd_zeros(HD_INT64, 3), b)));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(errors_change_nothing)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 1, 2, 3), *i = hd_arange(0, 3, 1), *t = hd_ones(HD_BOOL, 3);
    hd_tensor *wide = hd_ones(HD_FLOAT32, 2, 3);
    int64_t before = hd_version_of(x);
    ck_assert_ptr_null(hd_add_(x, NULL));
    ck_error(HD_NULL_ARG, "hd_add_: b is NULL. hd_add_scalar_ takes a number, such as 0");
    ck_assert_ptr_null(hd_zero_(HD_NONE));
    ck_error(HD_NULL_ARG, "hd_zero_: x is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_add_(x, wide));
    ck_error(HD_SHAPE, "hd_add_: (3,) and (2, 3): expected the second to broadcast to the first");
    ck_assert_ptr_null(hd_copy_(x, hd_ones(HD_FLOAT32, 1, 3)));
    ck_error(HD_SHAPE, "hd_copy_: (3,) and (1, 3): expected the second to broadcast to the first");
    ck_assert_ptr_null(hd_masked_fill_(x, hd_ones(HD_BOOL, 2), 0));
    ck_error(HD_SHAPE,
             "hd_masked_fill_: (3,) and (2,): expected the second to broadcast to the first");
    ck_assert_ptr_null(hd_masked_fill(x, hd_ones(HD_BOOL, 2), 0));
    ck_error(HD_SHAPE, "hd_masked_fill: (3,) and (2,): sizes 3 and 2 at dim -1 do not broadcast");
    ck_assert_ptr_null(hd_masked_fill_(x, i, 0));
    ck_error(HD_DTYPE, "hd_masked_fill_: mask of int64: expected bool");
    ck_assert_ptr_null(hd_add_scalar_(i, 1.5));
    ck_error(HD_DTYPE,
             "hd_add_scalar_: the result is float32, which x of int64 cannot hold. Convert x "
             "with hd_to first");
    ck_assert_ptr_null(hd_div_(i, i));
    ck_error(HD_DTYPE, "hd_div_: the result is float32, which x of int64 cannot hold. Convert x "
                       "with hd_to first");
    ck_assert_ptr_null(hd_mul_(t, i));
    ck_error(HD_DTYPE, "hd_mul_: the result is int64, which x of bool cannot hold. Convert x "
                       "with hd_to first");
    ck_assert_ptr_null(hd_sub_(t, t));
    ck_error(HD_DTYPE,
             "hd_sub_: bool and bool: expected no bool. Use hd_logical_xor or hd_logical_not");
    ck_assert_ptr_null(hd_fill_(i, NAN));
    ck_error(HD_VALUE, "hd_fill_: value nan: expected one that int64 can hold");
    ck_assert_ptr_null(hd_fill_(x, 1e40));
    ck_error(HD_VALUE, "hd_fill_: value 1e+40: expected one that float32 can hold");
    ck_assert_ptr_null(hd_masked_fill_(i, t, -INFINITY));
    ck_error(HD_VALUE, "hd_masked_fill_: value -inf: expected one that int64 can hold");
    ck_elements(x, 1, 2, 3);
    ck_elements(i, 0, 1, 2);
    ck_elements(t, 1, 1, 1);
    ck_assert_int_eq(hd_version_of(x), before);
}
END_TEST

START_TEST(targets_that_must_not_be_written)
{
    HD_SCOPE;
    hd_tensor *leaf = LEAF(1, 2, 3), *one = hd_ones(HD_FLOAT32, 1);
    ck_assert_ptr_null(hd_add_scalar_(leaf, 1));
    ck_error(HD_GRAD, "hd_add_scalar_: x of (3,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_assert_ptr_null(hd_add_(hd_expand(one, 3), leaf));
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "hd_add_: x of (3,) is expanded"));
    hd_error_clear();
    ck_elements(leaf, 1, 2, 3);
    ck_elements(one, 1);
    HD_NO_GRAD;
    ck_elements(hd_add_scalar_(leaf, 1), 2, 3, 4);
    ck_no_error();
}
END_TEST

/* As in PyTorch, the gradient of a broadcast src is summed in src's dtype. */
START_TEST(gradients_of_copies_between_dtypes)
{
    HD_SCOPE;
    hd_tensor *dy =
        hd_transpose(hd_stack(0, hd_full(HD_FLOAT32, 1e8, 3), hd_ones(HD_FLOAT32, 3)), 0, 1);
    hd_tensor *src = hd_requires_grad_(hd_ones(HD_FLOAT64, 1), true); /* dy sums to 3e8 + 3 */
    hd_tensor *x = hd_clone(hd_zeros(HD_FLOAT32, 3, 2));
    ck_assert(hd_backward_with(hd_copy_(x, src), dy, false));
    ck_elements(hd_grad(src), 300000003);
    ck_assert(hd_set_grad(src, HD_NONE));
    x = hd_clone(hd_zeros(HD_FLOAT32, 3, 2));
    ck_assert(hd_backward_with(hd_setitem(x, src, HD_ALL), dy, false));
    ck_elements(hd_grad(src), 300000003);
    ck_assert_int_eq(hd_dtype_of(hd_grad(src)), HD_FLOAT64);
    ck_no_error();
}
END_TEST

Suite *suite_inplace(void)
{
    const TTest *const tests[] = {
        returns_x_and_counts_a_change,
        views_of_one_memory,
        partly_shared_memory_is_refused,
        products_remember_what_x_was,
        x_times_itself,
        what_is_overwritten_gets_zero,
        errors_change_nothing,
        targets_that_must_not_be_written,
        gradients_of_copies_between_dtypes,
    };
    return SUITE_OF("inplace", tests);
}
