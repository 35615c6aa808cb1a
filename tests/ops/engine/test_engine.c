/* test_engine.c - tests of backward: the gradients of a graph, failures, threads, long chains. */
#include <pthread.h>

#include "heed/autograd.h"
#include "ops/leaf.h"
#include "ops/suites.h"
#include "support/support.h"

START_TEST(product_and_sum)
{
    warnings_expected();
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
    hd_tensor *a = LEAF(1, 2, 3), *s = hd_requires_grad_(vec(HD_FLOAT64, 2), true);
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
    ck_error(HD_GRAD, "hd_backward: loss (3,) has 3 elements: expected 1. Reduce it by hd_sum or "
                      "hd_mean, or pass a gradient of its shape to hd_backward_with");
    ck_assert(!hd_backward_with(hd_mul_scalar(a, 2), vec(HD_FLOAT32, 1, 2), false));
    ck_error(HD_SHAPE, "hd_backward_with: a gradient of (2,) for (3,): expected the same shape");
    ck_assert(!hd_backward(hd_sum(hd_detach(a))));
    ck_error(HD_GRAD,
             "hd_backward: loss () does not require grad: no tensor that it was computed from "
             "requires grad, or grad mode was off then (HD_NO_GRAD), or hd_detach made it");
    hd_tensor *table = hd_reshape(hd_cat(0, a, a, hd_narrow(a, 0, 0, 2)), 4, 2);
    ck_assert(!hd_backward(table));
    ck_error(HD_GRAD, "hd_backward: loss (4, 2) has 8 elements: expected 1. Reduce it by hd_sum or "
                      "hd_mean, or pass a gradient of its shape to hd_backward_with");
    ck_assert(!hd_backward_with(hd_detach(table), hd_ones(HD_FLOAT32, 4, 2), false));
    ck_error(HD_GRAD,
             "hd_backward_with: y (4, 2) does not require grad: no tensor that it was computed "
             "from requires grad, or grad mode was off then (HD_NO_GRAD), or hd_detach made it");
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
    ck_error(HD_GRAD, "hd_backward: MulBackward0: its graph was freed by an earlier backward. "
                      "Call hd_backward_with(y, HD_NONE, true) to keep a graph, or hd_detach to "
                      "get a tensor without one");
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
        snprintf(
            message, sizeof message,
            "hd_backward: %s: its graph was freed by an earlier backward. Call hd_backward_with(y, "
            "HD_NONE, true) to keep a graph, or hd_detach to get a tensor without one",
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

/* Ops whose backward reads what they saved, each of them refused by its own name, and by the last
 * tensor that changed: q, k and v are one here. */
START_TEST(saved_tensors_that_a_gradient_needs)
{
    static const char *const names[] = {"VarBackward0",
                                        "ScaledDotProductFlashAttentionForCpuBackward0"};
    for (int i = 0; i < 2; i++) {
        HD_SCOPE;
        char message[300];
        hd_tensor *a = hd_requires_grad_(hd_ones(HD_FLOAT32, 1, 1, 128, 2), true);
        hd_tensor *x = hd_clone(a); /* (b, h, l, e) */
        hd_tensor *y =
            i == 0 ? hd_var(x, 1) : hd_scaled_dot_product_attention(x, x, x, HD_NONE, 0, false);
        ck_assert(hd_add_scalar_(x, 1));
        ck_assert(!hd_backward(hd_sum(y)));
        snprintf(message, sizeof message,
                 "hd_backward: %s: its saved tensor %d of (1, 1, 128, 2) was changed in place: "
                 "version 1, expected 0. Call hd_set_debug(true) at the start to see the calls "
                 "that saved and changed it",
                 names[i], i == 0 ? 0 : 2);
        ck_error(HD_GRAD, message);
        ck_assert_ptr_eq(hd_grad(a), HD_NONE);
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
                      "version 1, expected 0. Call hd_set_debug(true) at the start to see the "
                      "calls that saved and changed it");
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

/* The gradient of the output is x's own .grad, turned: it is read as it was before. */
START_TEST(a_gradient_that_shares_memory_with_grad)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 2), true);
    hd_tensor *dy = hd_view(vec(HD_FLOAT32, 1, 2, 3, 4), 2, 2);
    ck_assert(hd_backward_with(hd_add_scalar(x, 1), dy, false));
    hd_tensor *turned = hd_transpose(hd_grad(x), 0, 1);
    ck_assert(hd_backward_with(hd_add_scalar(x, 1), turned, false));
    ck_elements(hd_grad(x), 2, 5, 5, 8);
    ck_no_error();
}
END_TEST

static hd_tensor *keeps(hd_tensor *g, void *user)
{
    hd_tensor **kept = user;
    *kept = *kept ? *kept : hd_retain(g);
    return HD_NONE;
}

/* What a view's backward gives becomes .grad without a copy, unless somebody else holds what it is
 * a view of: then .grad has memory of its own. */
START_TEST(gradients_that_come_through_views)
{
    enum { N = 1 << 20 };
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, N / 2, 2), true);
    hd_tensor *c = hd_to(hd_arange(0, N, 1), HD_FLOAT32), *kept = NULL;
    for (int keep = 0; keep < 2; keep++) {
        HD_SCOPE;
        hd_tensor *flat = hd_view(x, -1), *y = hd_sum(hd_mul_scalar(flat, 3));
        ck_assert(!keep || hd_register_hook(flat, keeps, &kept) > 0);
        hd_set_grad(x, HD_NONE);
        hd_bytes_peak_reset();
        int64_t before = hd_bytes_live(), one = N * (int64_t)sizeof(float);
        ck_assert(hd_backward_with(y, HD_NONE, true));
        ck_assert_int_eq((hd_bytes_live() - before) / one, 1 + keep);
        ck_assert_int_eq((hd_bytes_peak() - before) / one, 1 + keep);

        hd_tensor *g = hd_grad(x);
        ck_assert_str_eq(hd_shape_repr(g), "torch.Size([524288, 2])");
        ck_assert_ptr_nonnull(hd_copy_(g, hd_view(c, N / 2, 2)));
        ck_assert(!keep || hd_item(hd_sum(kept)) == 3.0 * N);
        ck_assert(hd_backward(y));
        ck_assert(hd_equal(hd_view(hd_grad(x), -1), hd_add_scalar(c, 3)));
    }
    hd_release(kept);
    ck_no_error();
}
END_TEST

/* A leaf passes the caller's gradient on. It is the caller's, and no base of a view of its own. */
START_TEST(a_given_view_stays_a_view)
{
    HD_SCOPE;
    hd_tensor *w = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 2), true), *v = NULL;
    {
        HD_SCOPE;
        hd_tensor *product = hd_mul_scalar(w, 2);
        HD_NO_GRAD;
        v = hd_retain(hd_view(product, 4));
    }
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 4), true), *y = hd_add_scalar(x, 1);
    ck_assert(hd_requires_grad(v));
    ck_assert(hd_backward_with(y, v, false));
    ck_assert(hd_requires_grad(v));
    ck_elements(hd_grad(x), 2, 2, 2, 2);
    hd_release(v);
    ck_no_error();
}
END_TEST

Suite *suite_engine(void)
{
    const TTest *const tests[] = {
        product_and_sum,
        a_node_used_twice,
        broadcast_is_summed_and_dtype_is_the_leafs,
        needs_one_element_or_a_gradient,
        twice_needs_retain_graph,
        twice_through_what_saves_nothing,
        twice_through_numbers,
        saved_tensors_that_no_gradient_needs,
        saved_tensors_that_a_gradient_needs,
        a_product_with_itself_in_place,
        no_grad_and_detach_cut,
        a_graph_of_two_threads,
        a_million_nodes,
        a_gradient_that_shares_memory_with_grad,
        gradients_that_come_through_views,
        a_given_view_stays_a_view,
    };
    return SUITE_OF("engine", tests);
}
