/* test_inplace_history.c - tests of in-place changes, of plain tensors and through views: which are
 * refused, and how they rewrite the graph. The expected values are PyTorch's. */
#include <pthread.h>

#include "heed/autograd.h"
#include "ops/suites.h"
#include "support/support.h"
#include "support/warnings.h"

static hd_tensor *leaf(hd_tensor *x)
{
    return hd_requires_grad_(x, true);
}

START_TEST(scores_are_masked_in_place)
{
    HD_SCOPE;
    hd_tensor *a = leaf(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4), 2, 2));
    hd_tensor *scores = hd_mul_scalar(a, 2);
    hd_tensor *mask = hd_to(hd_triu(hd_ones(HD_FLOAT32, 2, 2), 1), HD_BOOL);
    ck_assert_ptr_eq(hd_masked_fill_(scores, mask, -INFINITY), scores);
    ck_repr(scores, "tensor([[2., -inf],\n        [6., 8.]], grad_fn=<MaskedFillBackward0>)");
    ck_assert(hd_backward(hd_sum(hd_softmax(scores, -1))));
    ck_assert(hd_get(hd_grad(a), 0, 1) == 0);
}
END_TEST

START_TEST(a_saved_tensor_that_changed)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1, 2)), *b = hd_mul_scalar(a, 1);
    hd_tensor *y = hd_sum(hd_mul(b, b));
    hd_add_scalar_(b, 1);
    ck_assert(!hd_backward(y));
    ck_error(HD_GRAD, "hd_backward: MulBackward0: its saved tensor 1 of (2,) was changed in place: "
                      "version 1, expected 0. Call hd_set_debug(true) at the start to see the "
                      "calls that saved and changed it");
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
}
END_TEST

START_TEST(leaves_that_require_grad_are_not_written)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1, 2));
    int64_t version = hd_version_of(a);
    ck_assert_ptr_null(hd_add_scalar_(a, 1));
    ck_error(HD_GRAD, "hd_add_scalar_: x of (2,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_assert_ptr_null(hd_mul_scalar_(hd_slice(a, 0, 0, 1), 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of (1,) is a view of a leaf that requires grad. Change it "
                      "under HD_NO_GRAD");
    ck_assert_ptr_null(hd_data_mut(a));
    ck_error(HD_GRAD, "hd_data_mut: x of (2,) is a leaf that requires grad. Change it under "
                      "HD_NO_GRAD, or change a clone of it");
    ck_assert(!hd_set(a, 5, 0));
    hd_error_clear();
    ck_assert(!hd_copy_from(a, (float[]){7, 8}, 8));
    hd_error_clear();
    ck_elements(a, 1, 2);
    ck_assert_int_eq(hd_version_of(a), version);
    HD_NO_GRAD;
    ck_assert_ptr_eq(hd_add_scalar_(a, 1), a);
    ck_assert_ptr_nonnull(hd_data_mut(a));
    ck_elements(a, 2, 3);
    ck_assert_int_eq(hd_version_of(a), version + 2);
    ck_assert(hd_is_leaf(a));
}
END_TEST

/* PyTorch's answers: the view keeps its node, and the leaf wants no gradient. */
START_TEST(views_of_a_leaf_that_stops_requiring_grad)
{
    HD_SCOPE;
    hd_tensor *w = leaf(vec(HD_FLOAT32, 2, 3, 4, 5));
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1, 2, 3, 4)), *v = hd_slice(a, 0, 1, 3);
    hd_requires_grad_(a, false);
    ck_assert(hd_requires_grad(v));
    ck_assert_ptr_null(hd_mul_scalar_(v, 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of (2,) is a view of a leaf and requires grad. Change it "
                      "under HD_NO_GRAD");
    ck_assert_ptr_null(hd_data_mut(hd_select(v, 0, 0)));
    ck_error(
        HD_GRAD,
        "hd_data_mut: x of () is a view of a leaf and requires grad. Change it under HD_NO_GRAD");
    ck_assert_str_eq(hd_grad_fn(v), "SliceBackward0");
    {
        HD_NO_GRAD;
        hd_mul_scalar_(v, 2);
    }
    ck_assert_str_eq(hd_grad_fn(v), "AsStridedBackward0");
    hd_mul_scalar_(a, 2);
    ck_assert(!hd_requires_grad(a) && !hd_is_leaf(v));
    ck_assert_ptr_null(hd_mul_scalar_(v, 2));
    hd_error_clear();
    ck_assert(hd_backward(hd_sum(v)));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    hd_requires_grad_(a, true); /* v's node leads nowhere until a changes again */
    ck_assert(hd_backward(hd_sum(v)));
    ck_assert_ptr_eq(hd_grad(a), HD_NONE);
    hd_requires_grad_(a, false);
    hd_mul_scalar_(a, 2);
    hd_requires_grad_(a, true);
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(v, 3))));
    ck_elements(hd_grad(a), 0, 3, 3, 0);
    hd_requires_grad_(a, false);
    ck_assert_ptr_eq(hd_mul_(a, w), a);
    ck_assert(hd_backward(hd_sum(v)));
    ck_elements(hd_grad(w), 0, 16, 24, 0);
    ck_no_error();
}
END_TEST

START_TEST(other_views_of_such_a_leaf)
{
    HD_SCOPE;
    hd_tensor *a = vec(HD_FLOAT32, 1, 2), *early = hd_slice(a, 0, 0, 1);
    hd_requires_grad_(a, true);
    hd_tensor *part = hd_list_get(hd_chunk(a, 2, 0), 0);
    ck_assert_ptr_null(hd_mul_scalar_(early, 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of (1,) is a view of a leaf that requires grad. Change it "
                      "under HD_NO_GRAD");
    hd_requires_grad_(a, false);
    ck_assert_ptr_eq(hd_mul_scalar_(early, 2), early); /* it has no node */
    ck_assert(!hd_requires_grad(early) && hd_is_leaf(early));
    ck_assert_ptr_null(hd_neg(part));
    ck_error(HD_GRAD, "hd_neg: (1,) is an output of split, chunk or unbind, and its base was "
                      "changed in place since. Clone it before that change");
    /* of a leaf that is a view itself, and of a base that never required grad */
    hd_tensor *b = vec(HD_FLOAT32, 1, 2, 3), *v = hd_requires_grad_(hd_slice(b, 0, 1, 3), true);
    hd_tensor *u = hd_select(v, 0, 0);
    part = hd_list_get(hd_unbind(v, 0), 0);
    ck_assert_ptr_null(hd_mul_scalar_(u, 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of () is a view of a leaf and requires grad. Change it "
                      "under HD_NO_GRAD");
    hd_mul_scalar_(b, 2);
    ck_assert(hd_is_leaf(v) && !hd_requires_grad(b));
    ck_assert_str_eq(hd_grad_fn(u), "AsStridedBackward0");
    ck_assert(hd_backward(hd_mul_scalar(u, 3)));
    ck_assert_ptr_eq(hd_grad(v), HD_NONE);
    ck_assert_ptr_null(hd_neg(part));
    hd_error_clear();
    hd_mul_scalar_(hd_detach(b), 2);
    ck_assert(hd_is_leaf(v));
    ck_no_error();
}
END_TEST

START_TEST(views_that_are_not_written)
{
    HD_SCOPE;
    hd_tensor *a = hd_mul_scalar(leaf(vec(HD_FLOAT32, 1, 2, 3, 4)), 1);
    hd_tensor *part = hd_list_get(hd_split(a, 2, 0), 0);
    ck_assert_ptr_null(hd_mul_scalar_(part, 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of (2,) is an output of split, chunk or unbind, so it "
                      "must not change in place. Clone it first");
    hd_tensor *quiet;
    {
        HD_NO_GRAD;
        quiet = hd_slice(a, 0, 0, 2);
    }
    ck_assert_ptr_null(hd_mul_(quiet, leaf(vec(HD_FLOAT32, 1, 2))));
    ck_error(HD_GRAD, "hd_mul_: x of (2,) is a view taken while grad mode was off, so it must not "
                      "change in place. Clone it first");
    ck_assert_ptr_null(hd_mul_scalar_(quiet, 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of (2,) is a view taken while grad mode was off, so it "
                      "must not change in place. Clone it first");
    hd_tensor *part_of_it = hd_slice(quiet, 0, 0, 1);
    ck_assert_ptr_null(hd_mul_scalar_(part_of_it, 2));
    ck_error(HD_GRAD, "hd_mul_scalar_: x of (1,) is a view taken while grad mode was off, so it "
                      "must not change in place. Clone it first");
    hd_tensor *wide = hd_expand(hd_zeros(HD_FLOAT32, 1), 3);
    ck_assert_ptr_null(hd_add_scalar_(wide, 1));
    ck_error(
        HD_STATE,
        "hd_add_scalar_: x of (3,) is expanded: several elements share memory. Clone it first");
    ck_elements(a, 1, 2, 3, 4);
}
END_TEST

/* b = a * 1; b.view(-1)[2] = 5 */
/* A view of x (1, 1, 1, 1), taken while grad mode is off. */
static hd_tensor *unseen_half(hd_tensor *x)
{
    HD_NO_GRAD;
    return hd_slice(x, 0, 0, 2);
}

static void ck_invalid(hd_tensor *v)
{
    static const char rest[] = ": (2,) is a view taken while grad mode was off, and its base was "
                               "changed in place since. Take the view again";
    char message[200];
    ck_assert(hd_requires_grad(v));
    ck_assert_ptr_nonnull(strstr(hd_repr(v), "grad_fn=<Invalid>"));
    ck_assert_ptr_null(hd_grad_fn(v));
    snprintf(message, sizeof message, "hd_grad_fn%s", rest);
    ck_error(HD_GRAD, message);
    ck_assert_ptr_null(hd_mul_scalar(v, 2));
    snprintf(message, sizeof message, "hd_mul_scalar%s", rest);
    ck_error(HD_GRAD, message);
    ck_assert_ptr_null(hd_mul_scalar_(v, 2));
    snprintf(message, sizeof message, "hd_mul_scalar_%s", rest);
    ck_error(HD_GRAD, message);
    ck_assert(!hd_is_leaf(v));
    hd_error_clear();
    HD_NO_GRAD;
    ck_assert_ptr_nonnull(
        hd_mul_scalar(v, 2)); /* without the graph it is a tensor like any other */
    ck_assert(!hd_requires_grad(hd_detach(v)));
}

static hd_tensor *leaf_of_ones(void)
{
    return hd_requires_grad_(hd_ones(HD_FLOAT32, 4), true);
}

/* torch: it says that it requires grad, is a leaf without a gradient, and is lost when its base
 * changes. It is a view of a leaf or, where _i is 1, of a result. */
START_TEST(views_taken_while_grad_mode_was_off)
{
    HD_SCOPE;
    hd_tensor *leaf = leaf_of_ones(), *x = _i ? hd_mul_scalar(leaf, 1) : leaf, *v = unseen_half(x);
    ck_repr(v, "tensor([1., 1.], requires_grad=True)");
    ck_assert(hd_requires_grad(v) && hd_is_leaf(v));
    ck_assert_str_eq(hd_grad_fn(v), "");
    hd_tensor *y = hd_mul_scalar(v, 2);
    ck_assert_str_eq(hd_grad_fn(y), "MulBackward0");
    ck_assert(hd_backward(hd_sum(y)));
    ck_assert(hd_backward(hd_sum(hd_exp(hd_view(v, 1, 2)))));
    y = hd_mul_scalar(v, 2); /* nothing is saved of it */
    ck_assert(hd_backward(hd_sum(y)) && hd_backward(hd_sum(y)));
    y = hd_exp(hd_unsqueeze(v, 0));
    ck_assert(hd_backward(hd_sum(y)));
    ck_assert(!hd_backward(hd_sum(y)));
    ck_assert_int_eq(hd_error_code(), HD_GRAD);
    hd_error_clear();
    ck_assert_ptr_eq(hd_grad(v), HD_NONE);
    ck_assert_ptr_eq(hd_grad(leaf), HD_NONE);
    ck_assert_ptr_eq(hd_retain_grad(v), v);
}
END_TEST

START_TEST(an_unseen_view_has_no_node)
{
    HD_SCOPE;
    hd_tensor *leaf = leaf_of_ones(), *v = unseen_half(_i ? hd_mul_scalar(leaf, 1) : leaf);
    ck_assert_int_gt(hd_register_hook(v, NULL, NULL), -2);
    ck_error(HD_NULL_ARG, "hd_register_hook: hook is NULL");
    ck_assert_ptr_null(hd_grad_node(v));
    ck_error(HD_GRAD, "hd_grad_node: x of (2,) has no node: it is a view taken while grad mode was "
                      "off, or before its base required grad");
    ck_assert(!hd_backward_with(v, hd_ones(HD_FLOAT32, 2), false));
    ck_error(HD_GRAD, "hd_backward_with: y (2,) is a view that was taken while grad mode was off, "
                      "so no gradient goes from it to its base");
    ck_assert_ptr_null(
        hd_grad_of(hd_list_of(hd_sum(hd_mul_scalar(v, 2))), hd_list_of(v), NULL, NULL));
    ck_error(HD_GRAD, "hd_grad_of: the outputs do not depend on input 0, of shape (2,). Set "
                      "allow_unused to get HD_NONE for it");
}
END_TEST

START_TEST(an_unseen_view_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *leaf = leaf_of_ones(), *x = _i ? hd_mul_scalar(leaf, 1) : leaf, *v = unseen_half(x);
    hd_set_grad_mode(_i); /* a leaf is changed while grad mode is off */
    ck_assert(hd_mul_scalar_(x, 2));
    hd_set_grad_mode(true);
    ck_invalid(v);
    hd_tensor *grad = NULL;
    ck_no_warning(grad = hd_grad(v));
    ck_assert_ptr_eq(grad, HD_NONE);
    ck_assert_ptr_eq(hd_retain_grad(v), v);
    v = unseen_half(x);
    {
        HD_NO_GRAD;
        hd_mul_scalar_(v, 2); /* it has changed its base itself */
    }
    ck_invalid(v);
}
END_TEST

/* The base requires grad later, or the view itself does. */
START_TEST(unseen_views_that_require_grad_later)
{
    HD_SCOPE;
    hd_tensor *plain = hd_ones(HD_FLOAT32, 4), *v = unseen_half(plain);
    ck_repr(v, "tensor([1., 1.])");
    ck_assert(hd_mul_scalar_(plain, 2) && hd_mul_scalar_(v, 2)); /* nothing requires grad */
    ck_repr(v, "tensor([4., 4.])");
    hd_mul_(plain, leaf_of_ones());
    ck_invalid(v);
    v = unseen_half(leaf_of_ones());
    hd_requires_grad_(v, true); /* now a leaf of its own */
    ck_assert(hd_backward(hd_sum(hd_mul_scalar(v, 3))));
    ck_elements(hd_grad(v), 3, 3);
    plain = hd_ones(HD_FLOAT32, 4);
    v = hd_slice(plain, 0, 0, 2); /* seen, before its base requires grad */
    hd_requires_grad_(plain, true);
    ck_assert(hd_requires_grad(v) && hd_is_leaf(v));
    ck_no_error();
}
END_TEST

START_TEST(assignment_through_a_view)
{
    HD_SCOPE;
    hd_tensor *a = leaf(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4), 2, 2));
    hd_tensor *b = hd_mul_scalar(a, 1);
    ck_assert_ptr_nonnull(hd_setitem_scalar(hd_view(b, -1), 5, 2));
    ck_repr(b, "tensor([[1., 2.],\n        [5., 4.]], grad_fn=<CopySlices>)");
    ck_assert(hd_backward(hd_sum(hd_mul(b, b))));
    ck_elements(hd_grad(a), 2, 4, 0, 8);
}
END_TEST

/* the gradient of what is assigned */
START_TEST(assignment_of_a_tensor)
{
    HD_SCOPE;
    hd_tensor *w = leaf(vec(HD_FLOAT32, 2, 3)), *b = hd_zeros(HD_FLOAT32, 3, 2);
    ck_assert(!hd_requires_grad(b));
    hd_setitem(b, hd_mul_scalar(w, 10), 1);
    hd_setitem(b, vec(HD_FLOAT32, 7, 8, 9), HD_ALL, 1);
    ck_elements(b, 0, 7, 20, 8, 0, 9);
    ck_assert_str_eq(hd_grad_fn(b), "CopySlices");
    ck_assert(hd_backward(hd_sum(hd_mul(b, b))));
    ck_elements(hd_grad(w), 400, 0);
}
END_TEST

/* v1 = b[0]; v2 = b[1]; v1.mul_(w): the base and the other view get the change, too. */
START_TEST(other_views_follow_the_base)
{
    HD_SCOPE;
    hd_tensor *w = leaf(vec(HD_FLOAT32, 3, 5)), *b = hd_ones(HD_FLOAT32, 2, 2);
    hd_tensor *v1 = hd_select(b, 0, 0), *v2 = hd_slice(b, 1, 0, 1);
    ck_assert_ptr_eq(hd_mul_(v1, w), v1);
    ck_assert_str_eq(hd_grad_fn(v1), "AsStridedBackward0");
    ck_assert_str_eq(hd_grad_fn(v2), "AsStridedBackward0");
    ck_assert_str_eq(hd_grad_fn(b), "CopySlices");
    ck_repr(v2, "tensor([[3.],\n        [1.]], grad_fn=<AsStridedBackward0>)");
    ck_assert(hd_backward(hd_sum(hd_mul(v2, v2)))); /* w0^2 + 1 */
    ck_elements(hd_grad(w), 6, 0);
}
END_TEST

START_TEST(a_view_of_a_transposed_base)
{
    HD_SCOPE;
    hd_tensor *a = leaf(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4, 5, 6), 2, 3));
    hd_tensor *b = hd_mul_scalar(hd_transpose(a, 0, 1), 1); /* (3, 2) */
    hd_mul_scalar_(hd_select(hd_transpose(b, 0, 1), 0, 1), 10);
    ck_elements(b, 1, 40, 2, 50, 3, 60);
    ck_assert(hd_backward(hd_sum(b)));
    ck_elements(hd_grad(a), 1, 1, 1, 10, 10, 10);
}
END_TEST

START_TEST(retain_grad_follows)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 2)), *b = hd_retain_grad(hd_mul_scalar(a, 3));
    hd_mul_scalar_(b, 5);
    ck_assert(hd_backward(hd_mul(b, b))); /* of the new value, 30: 60 */
    ck_elements(hd_grad(b), 60);
    ck_elements(hd_grad(a), 900);
}
END_TEST

START_TEST(a_retained_grad_stays)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 2)), *b = hd_retain_grad(hd_mul_scalar(a, 3));
    ck_assert(hd_backward_with(hd_mul_scalar(b, 7), HD_NONE, true));
    hd_mul_scalar_(b, 5);
    ck_elements(hd_grad(b), 7);
    ck_assert(hd_backward(hd_mul_scalar(b, 2)));
    ck_elements(hd_grad(b), 9);
    ck_elements(hd_grad(a), 21 + 30);
}
END_TEST

START_TEST(retain_grad_follows_a_view_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1, 2)), *b = hd_mul_scalar(a, 3);
    hd_tensor *v = hd_retain_grad(hd_slice(b, 0, 0, 1));
    hd_mul_scalar_(b, 2);
    ck_assert(hd_backward(hd_mul(v, v)));
    ck_elements(hd_grad(v), 12);
    ck_elements(hd_grad(a), 72, 0);
}
END_TEST

/* a detached slice is a base with gaps; nothing may be written outside of it */
START_TEST(a_base_with_gaps)
{
    HD_SCOPE;
    hd_tensor *w = leaf(vec(HD_FLOAT32, 3, 5));
    hd_tensor *d = hd_detach(hd_slice_step(hd_ones(HD_FLOAT32, 4, 4), 1, 0, HD_END, 2));
    hd_tensor *last = hd_select(d, 0, 3);
    ck_assert_ptr_nonnull(hd_mul_(last, w));
    ck_elements(d, 1, 1, 1, 1, 1, 1, 3, 5);
    ck_assert(hd_backward(hd_add(hd_sum(hd_mul(d, d)), hd_sum(last))));
    ck_elements(hd_grad(w), 7, 11);
}
END_TEST

START_TEST(an_expanded_view_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1)), *b = hd_mul_scalar(a, 2), *wide = hd_expand(b, 3);
    hd_mul_scalar_(b, 3);
    ck_elements(wide, 6, 6, 6);
    ck_assert(hd_backward(hd_sum(hd_mul(wide, wide))));
    ck_elements(hd_grad(a), 216);
}
END_TEST

/* v = b[0]; b.mul_(v.clone()): after that v belongs to the new b. */
START_TEST(a_base_changed_by_its_own_view)
{
    HD_SCOPE;
    hd_tensor *a = leaf(hd_view(vec(HD_FLOAT32, 1, 2, 3, 4), 2, 2)), *b = hd_mul_scalar(a, 1);
    hd_tensor *v = hd_select(b, 0, 0);
    ck_assert_ptr_nonnull(hd_mul_(b, hd_clone(v)));
    ck_assert(hd_backward(hd_sum(hd_mul(v, v))));
    ck_elements(hd_grad(a), 4, 32, 0, 0);
}
END_TEST

START_TEST(gradients_of_a_view_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1, 2, 3)), *b = hd_mul_scalar(a, 2);
    hd_tensor *v = hd_slice(b, 0, 1, 3);
    hd_add_scalar_(b, 1);
    hd_tensor *y = hd_sum(hd_mul(v, v));
    hd_grad_options o = hd_grad_defaults();
    o.retain_graph = true;
    ck_elements(hd_list_get(hd_grad_of(hd_list_of(y), hd_list_of(v), NULL, &o), 0), 10, 14);
    ck_elements(hd_list_get(hd_grad_of(hd_list_of(y), hd_list_of(b), NULL, &o), 0), 0, 10, 14);
    hd_tensor *one = hd_slice(v, 0, 0, 1);
    hd_add_scalar_(b, 1); /* the tensors that y saved are changed; `one` saved its own */
    ck_elements(hd_list_get(hd_grad_of(hd_list_of(one), hd_list_of(one), NULL, &o), 0), 1);
    ck_no_error();
}
END_TEST

START_TEST(parts_of_a_changed_base)
{
    HD_SCOPE;
    hd_tensor *a = leaf(vec(HD_FLOAT32, 1, 2)), *b = hd_mul_scalar(a, 3);
    hd_tensor *part = hd_list_get(hd_split(b, 1, 0), 0), *other = hd_ones(HD_FLOAT32, 1);
    hd_mul_scalar_(b, 2);
    ck_repr(part, "tensor([6.], grad_fn=<Invalid>)");
    ck_no_error();
    ck_assert_ptr_null(hd_mul(part, part));
    ck_error(HD_GRAD,
             "hd_mul: (1,) is an output of split, chunk or "
             "unbind, and its base was changed in place since. Clone it before that change");
    ck_assert_ptr_null(hd_add_(other, part));
    ck_error(HD_GRAD, "hd_add_: (1,) is an output of split, chunk or unbind, and its base was "
                      "changed in place since. Clone it before that change");
    ck_elements(other, 1);
    ck_assert_ptr_null(hd_grad_fn(part));
    ck_error(HD_GRAD, "hd_grad_fn: (1,) is an output of split, chunk or unbind, and its base was "
                      "changed in place since. Clone it before that change");
    HD_NO_GRAD;
    ck_elements(hd_mul(part, part), 36);
    ck_no_error();
}
END_TEST

static void *use_view(void *view)
{
    HD_SCOPE;
    ck_assert_str_eq(hd_grad_fn(hd_mul_scalar(view, 2)), "MulBackward0");
    ck_assert_str_eq(hd_grad_fn(view), "AsStridedBackward0");
    return NULL;
}

START_TEST(threads_may_use_one_view_of_a_changed_base)
{
    for (int round = 0; round < 50; round++) {
        HD_SCOPE;
        hd_tensor *b = leaf(vec(HD_FLOAT32, 1, 2)); /* every other round a leaf that stops */
        b = round % 2 ? b : hd_mul_scalar(b, 3);
        hd_tensor *v = hd_retain(hd_slice(b, 0, 0, 1));
        pthread_t thread[4];
        if (round % 2) {
            hd_requires_grad_(b, false);
        }
        hd_mul_scalar_(b, 2);
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(pthread_create(&thread[i], NULL, use_view, v), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], NULL);
        }
        hd_release(v);
    }
    ck_no_error();
}
END_TEST

START_TEST(in_place_chain_of_views_frees_itself)
{
    int64_t before = hd_tensor_count();
    {
        HD_SCOPE;
        hd_tensor *w = leaf(vec(HD_FLOAT32, 1)), *b = hd_zeros(HD_FLOAT32, 4);
        for (int i = 0; i < 50000; i++) {
            HD_SCOPE;
            hd_add_(hd_slice(b, 0, i % 4, i % 4 + 1), w);
        }
        ck_assert(hd_backward(hd_sum(b)));
        ck_elements(hd_grad(w), 50000);
    }
    ck_assert_int_eq(hd_tensor_count(), before);
}
END_TEST

Suite *suite_inplace_history(void)
{
    const TTest *const tests[] = {
        scores_are_masked_in_place,
        a_saved_tensor_that_changed,
        leaves_that_require_grad_are_not_written,
        views_of_a_leaf_that_stops_requiring_grad,
        other_views_of_such_a_leaf,
        views_that_are_not_written,
        unseen_views_that_require_grad_later,
        assignment_through_a_view,
        assignment_of_a_tensor,
        other_views_follow_the_base,
        a_view_of_a_transposed_base,
        retain_grad_follows,
        a_retained_grad_stays,
        retain_grad_follows_a_view_of_a_changed_base,
        a_base_with_gaps,
        an_expanded_view_of_a_changed_base,
        a_base_changed_by_its_own_view,
        gradients_of_a_view_of_a_changed_base,
        parts_of_a_changed_base,
        threads_may_use_one_view_of_a_changed_base,
        in_place_chain_of_views_frees_itself,
    };
    Suite *s = SUITE_OF("in-place history", tests);
    suite_add_loop(s, views_taken_while_grad_mode_was_off, 2);
    suite_add_loop(s, an_unseen_view_has_no_node, 2);
    suite_add_loop(s, an_unseen_view_of_a_changed_base, 2);
    return s;
}
