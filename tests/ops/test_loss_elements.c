/* test_loss_elements.c - tests of l1, smooth_l1, kl_div, the binary cross entropies, and nll_loss:
 * special values, dtypes, warnings, errors. The values are PyTorch's. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

static hd_tensor *leaf(hd_tensor *x)
{
    return hd_requires_grad_(x, true);
}

/* The gradients of x and t of a loss that is not reduced */
static void gradients(hd_tensor *loss, hd_tensor *x, hd_tensor *t, hd_tensor *g[2])
{
    hd_list *got = hd_grad_of(hd_list_of(hd_sum(loss)), hd_list_of(x, t), NULL, NULL);
    g[0] = hd_list_get(got, 0);
    g[1] = hd_list_get(got, 1);
}

START_TEST(distances_broadcast_and_promote)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 0, 3, -1), *wide = hd_scalar_tensor(HD_FLOAT64, 1), *y;
    hd_tensor *i = hd_from_data(HD_INT64, ((int64_t[]){1, 2, 3}), 3);
    ck_warning(y = hd_l1_loss(x, wide),
               "hd_l1_loss: x (3,) and target () differ in shape, so the loss is taken over their "
               "broadcast (3,), which is probably wrong. Give both the same shape, for example "
               "with hd_view");
    ck_repr(y, "tensor(1.6667, dtype=torch.float64)"); /* a 0-d one decides, too */
    ck_warning(y = hd_smooth_l1_loss(wide, x),
               "hd_smooth_l1_loss: x () and target (3,) differ in shape, so the loss is taken over "
               "their broadcast (3,), which is probably wrong. Give both the same shape, for "
               "example with hd_view");
    ck_repr(y, "tensor(1.1667, dtype=torch.float64)");
    ck_no_warning(y = hd_smooth_l1_loss_with(i, x, 2, HD_SUM));
    ck_repr(y, "tensor(3.5000)");
    ck_repr(hd_l1_loss_with(i, hd_add_scalar(i, 4), HD_SUM), "tensor(12)");
    ck_repr(hd_l1_loss(hd_zeros(HD_FLOAT32, 0), hd_zeros(HD_FLOAT32, 0)), "tensor(nan)");
    ck_no_error();
}
END_TEST

START_TEST(smooth_l1_at_its_ends)
{
    HD_SCOPE;
    hd_tensor *x = leaf(vec(HD_FLOAT32, 0, 0.5, 0.375, -0.5, NAN, INFINITY)), *g[2];
    hd_tensor *t = leaf(hd_zeros(HD_FLOAT32, 6));
    hd_tensor *y = hd_smooth_l1_loss_with(x, t, 0.5, HD_REDUCE_NONE);
    ck_elements(y, 0, 0.25, 0.140625, 0.25, NAN, INFINITY);
    gradients(y, x, t, g);
    ck_elements(g[0], 0, 1, 0.75, -1, NAN, 1);
    ck_elements(g[1], 0, -1, -0.75, 1, NAN, -1);
    ck_assert_str_eq(hd_grad_fn(hd_smooth_l1_loss_with(x, t, 0, HD_REDUCE_NONE)), "AbsBackward0");
    ck_elements(hd_smooth_l1_loss_with(x, t, INFINITY, HD_SUM), NAN);
    ck_no_error();
}
END_TEST

START_TEST(divergence_of_special_values)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 1, 1, 1, INFINITY), *t = vec(HD_FLOAT32, 0, 1, NAN, 1);
    ck_elements(hd_kl_div_with(x, t, false, HD_REDUCE_NONE), 0, -1, NAN, -INFINITY);
    hd_tensor *logs = vec(HD_FLOAT32, -INFINITY, 0, 0, -INFINITY);
    ck_elements(hd_kl_div_with(x, logs, true, HD_REDUCE_NONE), NAN, -1, -1, NAN);
    hd_tensor *p = leaf(vec(HD_FLOAT32, 0, 0.5)), *q = leaf(vec(HD_FLOAT32, -1, 2)), *g[2];
    gradients(hd_kl_div_with(q, p, false, HD_SUM), q, p, g);
    ck_elements(g[0], 0, -0.5);
    ck_assert(hd_get(g[1], 0) == 1); /* not NaN, as docs/differences.md says */
    ck_assert_str_eq(hd_grad_fn(hd_kl_div(q, p)), "MeanBackward0");
    ck_no_error();
}
END_TEST

START_TEST(binary_entropy_at_0_and_1)
{
    HD_SCOPE;
    hd_tensor *x = leaf(vec(HD_FLOAT64, 0, 1, 0, 1, 0.5)), *g[2];
    hd_tensor *t = leaf(vec(HD_FLOAT64, 0, 1, 1, 0, 1)), *y;
    y = hd_binary_cross_entropy_with(x, t, HD_REDUCE_NONE);
    ck_elements(y, 0, 0, 100, 100, -log(0.5));
    gradients(y, x, t, g);
    ck_elements(g[0], 0, 0, -1e12, 1e12, -2);
    ck_elements(g[1], INFINITY, -INFINITY, INFINITY, -INFINITY, 0);
    hd_tensor *tiny = vec(HD_FLOAT32, 1e-45), *one = hd_ones(HD_FLOAT32, 1); /* log: -103 */
    ck_elements(hd_binary_cross_entropy_with(tiny, one, HD_REDUCE_NONE), 100);
    hd_tensor *turned = hd_t(hd_zeros(HD_FLOAT32, 2, 3));
    ck_assert_int_eq(hd_stride(hd_binary_cross_entropy_with(turned, turned, HD_REDUCE_NONE), 0), 1);
    hd_tensor *none = hd_zeros(HD_FLOAT32, 0);
    ck_repr(hd_binary_cross_entropy(none, none), "tensor(nan)");
    ck_no_error();
}
END_TEST

START_TEST(binary_entropy_of_logits)
{
    HD_SCOPE;
    hd_tensor *x = leaf(vec(HD_FLOAT32, 0, -100, INFINITY, -INFINITY, 1000)), *g[2];
    hd_tensor *t = leaf(vec(HD_FLOAT32, 0, 1, 0, 1, 1));
    hd_tensor *y = hd_binary_cross_entropy_with_logits_with(x, t, HD_REDUCE_NONE);
    ck_elements(y, (float)log(2), 100, INFINITY, NAN, 0);
    gradients(y, x, t, g);
    ck_elements(g[0], 0.5, -1, 1, -1, 0);
    ck_elements(g[1], 0, 100, -INFINITY, INFINITY, -1000);
    ck_no_error();
}
END_TEST

START_TEST(element_losses_refuse)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, 0.5, 1.5), *t = vec(HD_FLOAT32, 0, 1);
    hd_tensor *i = hd_ones(HD_INT64, 2), *long_t = hd_ones(HD_FLOAT32, 3);
    ck_assert_ptr_null(hd_l1_loss(i, i));
    ck_error(HD_DTYPE, "hd_l1_loss: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_l1_loss_with(x, t, (hd_reduction)3));
    ck_error(HD_VALUE, "hd_l1_loss_with: reduction 3: expected HD_MEAN, HD_SUM or HD_REDUCE_NONE");
    ck_assert_ptr_null(hd_smooth_l1_loss(i, i));
    ck_error(HD_DTYPE,
             "hd_smooth_l1_loss: int64 and int64: expected float32 or float64 in one of them");
    ck_assert_ptr_null(hd_smooth_l1_loss_with(x, t, -1, HD_MEAN));
    ck_error(HD_VALUE, "hd_smooth_l1_loss_with: beta -1: expected 0 or more");
    ck_assert_ptr_null(hd_smooth_l1_loss_with(x, t, NAN, HD_MEAN));
    ck_error(HD_VALUE, "hd_smooth_l1_loss_with: beta nan: expected 0 or more");
    ck_assert_ptr_null(hd_kl_div(x, i));
    ck_error(HD_DTYPE, "hd_kl_div: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_binary_cross_entropy(x, t));
    ck_error(HD_VALUE, "hd_binary_cross_entropy: x has 1.5 at (1,): expected 0 to 1. Pass the "
                       "input of hd_sigmoid to hd_binary_cross_entropy_with_logits");
    ck_assert_ptr_null(hd_binary_cross_entropy_with(t, vec(HD_FLOAT32, NAN, 1), HD_SUM));
    ck_error(HD_VALUE, "hd_binary_cross_entropy_with: target has nan at (0,): expected 0 to 1");
    ck_assert_ptr_null(hd_binary_cross_entropy(t, long_t));
    ck_error(HD_SHAPE, "hd_binary_cross_entropy: x (2,) and target (3,): expected equal shapes");
    ck_assert_ptr_null(hd_binary_cross_entropy_with_logits(x, i));
    ck_error(HD_DTYPE, "hd_binary_cross_entropy_with_logits: x of float32 and target of int64: "
                       "expected the same dtype. hd_to converts one of them");
    ck_assert_ptr_null(hd_binary_cross_entropy_with_logits(i, i));
    ck_error(HD_DTYPE,
             "hd_binary_cross_entropy_with_logits: dtype int64: expected float32 or float64");
}
END_TEST

/* ---------------------------------------------------------------- nll_loss */

static hd_tensor *likelihood(hd_tensor *x, hd_tensor *t, hd_reduction r)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.reduction = r;
    return hd_nll_loss_with(x, t, &o);
}

/* It is what is left of cross_entropy behind log_softmax, for every rank and reduction. */
START_TEST(nll_is_cross_entropy_of_logs)
{
    HD_SCOPE;
    for (int ndim = 1; ndim <= 5; ndim++) {
        int64_t sizes[] = {2, 3, 2, 1, 2}, left[] = {2, 2, 1, 2};
        hd_tensor *x = ndim == 1 ? hd_randn(HD_FLOAT64, 3) : hd_randn_n(HD_FLOAT64, ndim, sizes);
        hd_tensor *t = hd_clone(hd_expand_n(hd_scalar_tensor(HD_INT64, 2), ndim - 1, left));
        if (ndim > 1) {
            hd_setitem_scalar(hd_flatten(t, 0, -1), -100, 0);
        }
        x = leaf(x);
        for (int r = HD_MEAN; r <= HD_REDUCE_NONE; r++) {
            hd_cross_entropy_options o = hd_cross_entropy_defaults();
            o.reduction = (hd_reduction)r;
            hd_tensor *a = likelihood(hd_log_softmax(x, ndim > 1), t, o.reduction);
            hd_tensor *b = hd_cross_entropy_with(x, t, &o);
            ck_assert_str_eq(hd_grad_fn(a), hd_grad_fn(b));
            ck_assert(hd_allclose(a, b, 0, 1e-14, false));
            hd_list *xs = hd_list_of(x), *ga = hd_grad_of(hd_list_of(hd_sum(a)), xs, NULL, NULL);
            hd_list *gb = hd_grad_of(hd_list_of(hd_sum(b)), xs, NULL, NULL);
            ck_assert(hd_allclose(hd_list_get(ga, 0), hd_list_get(gb, 0), 0, 1e-14, false));
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(nll_of_special_rows)
{
    HD_SCOPE;
    hd_tensor *x = leaf(hd_from_data(HD_FLOAT32, ((float[]){NAN, 1, 2, NAN, NAN, NAN}), 2, 3));
    hd_tensor *t = hd_from_data(HD_INT64, ((int64_t[]){1, -100}), 2);
    ck_elements(hd_nll_loss(x, t), -1);
    ck_assert(hd_backward(hd_nll_loss(x, t)));
    ck_elements(hd_grad(x), 0, -1, 0, 0, 0, 0);
    ck_repr(hd_detach(hd_nll_loss(x, hd_full(HD_INT64, -100, 2))), "tensor(nan)");
    ck_repr(hd_nll_loss(hd_zeros(HD_FLOAT32, 0, 3), hd_zeros(HD_INT64, 0)), "tensor(nan)");
    ck_repr(hd_nll_loss(hd_zeros(HD_FLOAT32, 3), hd_scalar_tensor(HD_INT64, 1)), "tensor(0.)");
    ck_repr(hd_nll_loss(vec(HD_FLOAT32, 1, 2), hd_ones(HD_INT64, 1)), "tensor(-2.)");
    ck_no_error();
}
END_TEST

START_TEST(nll_refuses)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *t = hd_zeros(HD_INT64, 2);
    ck_assert_ptr_null(hd_nll_loss(t, x));
    ck_error(HD_DTYPE, "hd_nll_loss: x of int64 and target of float32: expected a score of float32 "
                       "or float64 for each class in x, and class numbers of int64 in target. Swap "
                       "the two arguments");
    ck_assert_ptr_null(hd_nll_loss(x, hd_full(HD_INT64, 3, 2)));
    ck_error(HD_INDEX,
             "hd_nll_loss: target 3 for 3 classes: expected 0 to 2, or ignore_index -100");
    ck_assert_ptr_null(likelihood(x, hd_zeros(HD_INT64, 3), HD_SUM));
    ck_error(HD_SHAPE, "hd_nll_loss_with: x (2, 3) and target (3,): expected a target of (2,)");
    hd_cross_entropy_options o = {.ignore_index = -100};
    ck_assert_ptr_null(hd_nll_loss_with(x, t, &o));
    ck_error(
        HD_VALUE,
        sized("hd_nll_loss_with: o->size 0: expected %zu, as hd_cross_entropy_defaults() gives",
              sizeof(hd_cross_entropy_options)));
}
END_TEST

Suite *suite_loss_elements(void)
{
    const TTest *const tests[] = {
        distances_broadcast_and_promote, smooth_l1_at_its_ends,    divergence_of_special_values,
        binary_entropy_at_0_and_1,       binary_entropy_of_logits, element_losses_refuse,
        nll_is_cross_entropy_of_logs,    nll_of_special_rows,      nll_refuses,
    };
    return SUITE_OF("loss_elements", tests);
}
