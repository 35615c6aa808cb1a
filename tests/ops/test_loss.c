/* test_loss.c - tests of mse_loss, cross_entropy and layer_norm: values, reductions, ignored rows,
 * errors. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/level.h"
#include "support/support.h"

/* A tensor of numbers with many digits, around `middle`. */
static hd_tensor *digits(hd_dtype d, double middle, int ndim, const int64_t *sizes)
{
    hd_tensor *x = hd_empty_n(HD_FLOAT64, ndim, sizes);
    double *v = hd_data_mut(x);
    for (int64_t i = 0; i < hd_numel(x); i++) {
        v[i] = middle + (double)((i * 7919 + 13) % 2003 - 1001) * 0.007;
    }
    return hd_to(x, d);
}
#define DIGITS(d, middle, ...) digits(d, middle, HD__LIST(__VA_ARGS__))

static hd_tensor *ints(int64_t n, const int64_t *v)
{
    return hd_from_data_n(HD_INT64, v, 1, &n);
}
#define INTS(...) ints(HD__LIST(__VA_ARGS__))

#define ck_near(got, want, room)                                                                   \
    ck_assert_msg(fabs((got) - (want)) <= (room) * (1 + fabs(want)), "%.9g, expected %.9g",        \
                  (double)(got), (double)(want))

#define ck_close(got, want, room)                                                                  \
    ck_assert_msg(hd_allclose(hd_to(got, HD_FLOAT64), want, room, room, false), "%s, expected %s", \
                  hd_repr(got), hd_repr(want))

/* ---------------------------------------------------------------- mse_loss */

START_TEST(mse_against_plain_loops)
{
    HD_SCOPE;
    const int before = leave_plain();
    for (int64_t n = 1; n < 200000; n = n * 3 + 1) {
        for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
            hd_tensor *x = DIGITS(d, 0, n), *t = DIGITS(d, 0.5, n);
            const int level = at_plain();
            double sum =
                hd_item(hd_mse_loss_with(hd_to(x, HD_FLOAT64), hd_to(t, HD_FLOAT64), HD_SUM));
            double room = d == HD_FLOAT64 ? 1e-13 : 2e-6;
            hd__level = level;
            ck_near(hd_item(hd_mse_loss_with(x, t, HD_SUM)), sum, room);
            ck_near(hd_item(hd_mse_loss(x, t)), sum / (double)n, room);
            hd_tensor *gaps = hd_select(hd_stack(1, x, x), 1, 1); /* another way through */
            ck_assert(hd_equal(hd_mse_loss(gaps, t), hd_mse_loss(x, t)));
            hd_tensor *each = hd_mse_loss_with(x, t, HD_REDUCE_NONE);
            ck_assert(hd_equal(hd_mean(each), hd_mse_loss(x, t)));
        }
    }
    hd__level = before;
    ck_no_error();
}
END_TEST

START_TEST(mse_broadcasts_and_promotes)
{
    warnings_expected();
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(DIGITS(HD_FLOAT32, 0, 2, 3), true);
    hd_tensor *t = hd_requires_grad_(DIGITS(HD_FLOAT64, 1, 3), true);
    hd_tensor *y = hd_mse_loss(x, t), *row = hd_zeros(HD_FLOAT32, 3);
    int64_t before = hd_scope_count();
    ck_assert_ptr_nonnull(hd_mse_loss(x, row));
    ck_assert_int_eq(hd_scope_count(), before + 1); /* what it broadcasts does not stay */
    ck_assert_int_eq(hd_dtype_of(y), HD_FLOAT64);
    ck_assert_str_eq(hd_grad_fn(y), "MseLossBackward0");
    ck_assert(hd_backward(y));
    ck_assert_int_eq(hd_dtype_of(hd_grad(x)), HD_FLOAT32);
    ck_assert_str_eq(hd_shape_repr(hd_grad(t)), "torch.Size([3])");
    ck_near(hd_item(hd_sum(hd_grad(x))), -hd_item(hd_sum(hd_grad(t))), 1e-6);
    hd_tensor *i = hd_from_data(HD_INT64, ((int64_t[]){1, 2, 3}), 3);
    ck_elements(hd_mse_loss(i, vec(HD_FLOAT32, 1, 2, 6)), 3);
    /* A 0-d target is expanded first, and so its dtype counts. */
    y = hd_mse_loss(x, hd_scalar_tensor(HD_FLOAT64, 0.5));
    ck_assert_int_eq(hd_dtype_of(y), HD_FLOAT64);
    hd_tensor *each = hd_mse_loss_with(hd_scalar_tensor(HD_FLOAT32, 2), t, HD_REDUCE_NONE);
    ck_assert_int_eq(hd_dtype_of(each), HD_FLOAT64);
    ck_repr(hd_mse_loss(hd_zeros(HD_FLOAT32, 0), hd_zeros(HD_FLOAT32, 0)), "tensor(nan)");
    ck_no_error();
}
END_TEST

/* The shapes for which PyTorch warns: all that differ. */
START_TEST(mse_warns_of_two_sizes)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 4, 1), *t = hd_ones(HD_FLOAT32, 4), *y;
    ck_warning(y = hd_mse_loss(x, t),
               "hd_mse_loss: x (4, 1) and target (4,) differ in shape, so the loss is taken over "
               "their broadcast (4, 4), which is probably wrong. Give both the same shape, for "
               "example with hd_view");
    ck_assert_ptr_nonnull(y);
    ck_warning(hd_mse_loss_with(t, hd_scalar_tensor(HD_FLOAT32, 1), HD_REDUCE_NONE),
               "hd_mse_loss_with: x (4,) and target () differ in shape, so the loss is taken over "
               "their broadcast (4,), which is probably wrong. Give both the same shape, for "
               "example with hd_view");
    ck_no_warning(hd_mse_loss(x, hd_view(t, 4, 1)));
    ck_no_warning(hd_mse_loss_with(t, t, HD_SUM));
}
END_TEST

START_TEST(mse_errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *i = hd_ones(HD_INT64, 2, 3);
    ck_assert_ptr_null(hd_mse_loss(x, NULL));
    ck_error(HD_NULL_ARG, "hd_mse_loss: target is NULL");
    ck_assert_ptr_null(hd_mse_loss(x, hd_ones(HD_FLOAT32, 2)));
    ck_error(HD_SHAPE, "hd_mse_loss: (2, 3) and (2,): sizes 3 and 2 at dim -1 do not broadcast");
    ck_assert_ptr_null(hd_mse_loss(i, i));
    ck_error(HD_DTYPE, "hd_mse_loss: int64 and int64: expected float32 or float64 in one of them");
    ck_assert_ptr_null(hd_mse_loss_with(x, x, (hd_reduction)3));
    ck_error(HD_VALUE, "hd_mse_loss_with: reduction 3: expected HD_MEAN, HD_SUM or HD_REDUCE_NONE");
}
END_TEST

/* ---------------------------------------------------------------- cross_entropy */

static hd_tensor *entropy(hd_tensor *x, hd_tensor *t, int64_t ignore, hd_reduction r)
{
    hd_cross_entropy_options o = hd_cross_entropy_defaults();
    o.ignore_index = ignore;
    o.reduction = r;
    return hd_cross_entropy_with(x, t, &o);
}

/* What the level plain makes of x (n, c) in float64: the losses of the rows, of which some are
 * ignored, and the gradient of their sum. */
static hd_tensor *plain_entropy(hd_tensor *x, hd_tensor *t, hd_tensor **dx)
{
    const int level = at_plain();
    hd_tensor *leaf = hd_requires_grad_(hd_clone(hd_to(hd_detach(x), HD_FLOAT64)), true);
    hd_tensor *each = entropy(leaf, t, -100, HD_REDUCE_NONE);
    ck_assert(hd_backward(hd_sum(each)));
    *dx = hd_grad(leaf);
    hd__level = level;
    return each;
}

START_TEST(entropy_against_plain_loops)
{
    const int level = leave_plain();
    for (int64_t c = 1; c < 1100; c = c * 2 + c % 3) {
        HD_SCOPE;
        int64_t n = 9, target[9], counted = 0;
        for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
            double room = d == HD_FLOAT64 ? 1e-13 : 2e-6;
            for (int64_t i = 0; i < n; i++) {
                target[i] = i % 4 == 3 ? -100 : (i * 7) % c;
                counted += d == HD_FLOAT32 && target[i] >= 0;
            }
            hd_tensor *x = hd_requires_grad_(DIGITS(d, 0, n, c), true), *dx;
            hd_tensor *t = ints(n, target), *want = plain_entropy(x, t, &dx);
            ck_close(entropy(x, t, -100, HD_REDUCE_NONE), want, room);
            ck_assert(hd_backward(entropy(x, t, -100, HD_SUM)));
            ck_close(hd_grad(x), dx, room);
            ck_near(hd_item(hd_cross_entropy(x, t)), hd_item(hd_sum(want)) / (double)counted, room);
        }
        ck_no_error();
    }
    hd__level = level;
}
END_TEST

/* (n, c, d1, d2) is the same as (n d1 d2, c) */
START_TEST(entropy_of_more_dims)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(DIGITS(HD_FLOAT32, 0, 2, 5, 3, 4), true);
    hd_tensor *t = hd_randint(HD_INT64, 0, 5, 2, 3, 4);
    hd_tensor *rows = hd_reshape(hd_permute(x, 0, 2, 3, 1), 24, 5), *flat = hd_reshape(t, 24);
    for (int r = HD_MEAN; r <= HD_REDUCE_NONE; r++) {
        hd_tensor *a = entropy(x, t, 2, (hd_reduction)r);
        hd_tensor *b = entropy(rows, flat, 2, (hd_reduction)r);
        ck_assert(hd_equal(hd_flatten(a, 0, -1), hd_flatten(b, 0, -1)));
        hd_list *xs = hd_list_of(x), *ga = hd_grad_of(hd_list_of(hd_sum(a)), xs, NULL, NULL);
        hd_list *gb = hd_grad_of(hd_list_of(hd_sum(b)), xs, NULL, NULL);
        ck_assert(hd_equal(hd_list_get(ga, 0), hd_list_get(gb, 0)));
    }
    ck_no_error();
}
END_TEST

START_TEST(entropy_names)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 1, 1, 1), true);
    static const char *const mean[] = {"",
                                       "NllLossBackward0",
                                       "NllLossBackward0",
                                       "NllLoss2DBackward0",
                                       "NllLoss2DBackward0",
                                       "NllLoss2DBackward0"};
    static const char *const none[] = {"",
                                       "NllLossBackward0",
                                       "NllLossBackward0",
                                       "ViewBackward0",
                                       "NllLoss2DBackward0",
                                       "ViewBackward0"};
    for (int ndim = 1; ndim <= 5; ndim++) {
        int64_t sizes[] = {2, 3, 1, 1, 1}, target[] = {2, 1, 1, 1};
        hd_tensor *v =
            ndim == 1 ? hd_flatten(hd_narrow(x, 0, 0, 1), 0, -1) : hd_reshape_n(x, ndim, sizes);
        hd_tensor *t = hd_zeros_n(HD_INT64, ndim - 1, target);
        ck_assert_str_eq(hd_grad_fn(hd_cross_entropy(v, t)), mean[ndim]);
        ck_assert_str_eq(hd_grad_fn(entropy(v, t, -100, HD_REDUCE_NONE)), none[ndim]);
    }
    ck_no_error();
}
END_TEST

START_TEST(entropy_of_special_rows)
{
    HD_SCOPE;
    warnings_expected(); /* of a loss that is NaN, where diagnose is linked (check_one_file) */
    hd_tensor *x = hd_requires_grad_(DIGITS(HD_FLOAT32, 0, 2, 3), true);
    hd_tensor *all = INTS(-100, -100);
    ck_repr(hd_detach(hd_cross_entropy(x, all)), "tensor(nan)");
    ck_assert(hd_backward(hd_cross_entropy(x, all)));
    ck_elements(hd_grad(x), 0, 0, 0, 0, 0, 0);
    ck_repr(hd_detach(entropy(x, all, -100, HD_SUM)), "tensor(0.)");
    ck_repr(hd_cross_entropy(hd_zeros(HD_FLOAT32, 0, 3), hd_zeros(HD_INT64, 0)), "tensor(nan)");
    hd_tensor *extreme =
        hd_from_data(HD_FLOAT32, ((float[]){INFINITY, 1, -INFINITY, 2, -INFINITY, 2}), 3, 2);
    ck_elements(entropy(extreme, INTS(0, 1, 0), -100, HD_REDUCE_NONE), NAN, 0, INFINITY);
    ck_repr(hd_cross_entropy(vec(HD_FLOAT32, -1000, 1000), INTS(0)), "tensor(2000.)");
    ck_no_error();
}
END_TEST

START_TEST(entropy_errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true);
    ck_assert_ptr_null(hd_cross_entropy(x, HD_NONE));
    ck_error(HD_NULL_ARG, "hd_cross_entropy: target is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_cross_entropy(x, INTS(0, 3)));
    ck_error(HD_INDEX, "hd_cross_entropy: target 3 for 3 classes: expected 0 to 2, or "
                       "ignore_index -100");
    ck_assert_ptr_null(hd_cross_entropy(x, INTS(-1, 0)));
    ck_error(HD_INDEX, "hd_cross_entropy: target -1 for 3 classes: expected 0 to 2, or "
                       "ignore_index -100");
    ck_assert_ptr_null(hd_cross_entropy(x, INTS(0, 1, 2)));
    ck_error(HD_SHAPE, "hd_cross_entropy: x (2, 3) and target (3,): expected a target of (2,)");
    ck_assert_ptr_null(hd_cross_entropy(hd_ones(HD_FLOAT32, 2, 3, 4), INTS(0, 1)));
    ck_error(HD_SHAPE,
             "hd_cross_entropy: x (2, 3, 4) and target (2,): expected a target of (2, 4), because "
             "dim 1 of x holds the classes");
    ck_assert_ptr_null(hd_cross_entropy(x, vec(HD_FLOAT32, 0, 1)));
    ck_error(HD_DTYPE, "hd_cross_entropy: x of float32 and target of float32: expected a score of "
                       "float32 or float64 for each class in x, and class numbers of int64 in "
                       "target");
    ck_assert_ptr_null(hd_cross_entropy(hd_ones(HD_INT64, 2, 3), INTS(0, 1)));
    ck_error(HD_DTYPE, "hd_cross_entropy: x of int64 and target of int64: expected a score of "
                       "float32 or float64 for each class in x, and class numbers of int64 in "
                       "target");
    ck_assert_ptr_null(hd_cross_entropy(INTS(0, 1), x));
    ck_error(HD_DTYPE, "hd_cross_entropy: x of int64 and target of float32: expected a score of "
                       "float32 or float64 for each class in x, and class numbers of int64 in "
                       "target. Swap the two arguments");
    hd_tensor *scalar = hd_scalar_tensor(HD_FLOAT32, 1.0);
    ck_assert_ptr_null(hd_cross_entropy(scalar, INTS(0)));
    ck_error(HD_SHAPE, "hd_cross_entropy: x (): expected (c,), (n, c) or (n, c, d1, ...)");
    ck_assert_ptr_null(entropy(x, INTS(0, 1), -100, (hd_reduction)-1));
    ck_error(HD_VALUE,
             "hd_cross_entropy_with: reduction -1: expected HD_MEAN, HD_SUM or HD_REDUCE_NONE");
    hd_cross_entropy_options o = {.ignore_index = -100};
    ck_assert_ptr_null(hd_cross_entropy_with(x, INTS(0, 1), &o));
    ck_error(
        HD_VALUE,
        sized(
            "hd_cross_entropy_with: o->size 0: expected %zu, as hd_cross_entropy_defaults() gives",
            sizeof(hd_cross_entropy_options)));
}
END_TEST

/* ---------------------------------------------------------------- layer_norm */

static void check_norm(hd_dtype d, double middle, int64_t rows, int64_t n, double room)
{
    HD_SCOPE;
    hd_tensor *x = DIGITS(d, middle, rows, n), *w = DIGITS(d, 1, n), *b = DIGITS(d, -1, n);
    hd_tensor *y = hd_layer_norm_n(x, 1, &n, w, b, 1e-5);
    const int level = at_plain();
    hd_tensor *want = hd_layer_norm_n(hd_to(x, HD_FLOAT64), 1, &n, hd_to(w, HD_FLOAT64),
                                      hd_to(b, HD_FLOAT64), 1e-5);
    hd__level = level;
    ck_assert_msg(hd_allclose(hd_to(y, HD_FLOAT64), want, room, 15 * room, false),
                  "middle %g, n %d", middle, (int)n);
}

/* The message of a call with the classes last, as a language model gives them, names the calls that
 * are meant; those calls are then made. */
START_TEST(classes_last_are_named)
{
    HD_SCOPE;
    hd_tensor *x = DIGITS(HD_FLOAT32, 0, 2, 5, 10), *target = hd_randint(HD_INT64, 0, 10, 2, 5);
    ck_assert_ptr_null(hd_cross_entropy(x, target));
    ck_error(HD_SHAPE,
             "hd_cross_entropy: x (2, 5, 10) and target (2, 5): expected a target of (2, 10), "
             "because dim 1 of x holds the classes. To score every token, use hd_flatten(x, 0, 1) "
             "and hd_flatten(target, 0, 1)");
    hd_tensor *loss = hd_cross_entropy(hd_flatten(x, 0, 1), hd_flatten(target, 0, 1));
    ck_assert(hd_allclose(loss, hd_cross_entropy(hd_transpose(x, 1, 2), target), 0, 1e-6, false));

    ck_assert_ptr_null(hd_cross_entropy(x, hd_flatten(target, 0, 1)));
    ck_error(HD_SHAPE,
             "hd_cross_entropy: x (2, 5, 10) and target (10,): expected a target of (2, 10), "
             "because dim 1 of x holds the classes. To score every token, use hd_flatten(x, 0, "
             "1)");
    ck_assert_ptr_null(hd_cross_entropy(hd_flatten(x, 0, 1), target));
    ck_error(HD_SHAPE, "hd_cross_entropy: x (10, 10) and target (2, 5): expected a target of "
                       "(10,). Use hd_flatten(target, 0, 1)");
    hd_tensor *x4 = DIGITS(HD_FLOAT32, 0, 2, 3, 5, 10), *target3 = hd_zeros(HD_INT64, 2, 3, 5);
    ck_assert_ptr_null(hd_cross_entropy_with(x4, target3, NULL));
    ck_error(HD_SHAPE,
             "hd_cross_entropy_with: x (2, 3, 5, 10) and target (2, 3, 5): expected a target of "
             "(2, 5, 10), because dim 1 of x holds the classes. To score every token, use "
             "hd_flatten(x, 0, 2) and hd_flatten(target, 0, 2)");
    ck_assert_ptr_nonnull(hd_cross_entropy(hd_flatten(x4, 0, 2), hd_flatten(target3, 0, 2)));
    ck_assert_ptr_null(hd_cross_entropy(x, hd_zeros(HD_INT64, 5, 2))); /* no guess */
    ck_error(HD_SHAPE, "hd_cross_entropy: x (2, 5, 10) and target (5, 2): expected a target of (2, "
                       "10), because dim 1 of x holds the classes");
}
END_TEST

START_TEST(norm_against_plain_loops)
{
    const int level = leave_plain();
    for (int64_t n = 1; n < 1200; n = n * 2 + n % 3) {
        check_norm(HD_FLOAT32, 0, 5, n, 1e-6);
        check_norm(HD_FLOAT32, 1e4, 5, n, 1e-6); /* the mean alone would lose 4 digits */
        check_norm(HD_FLOAT64, 1e4, 3, n, 1e-11);
    }
    hd__level = level;
}
END_TEST

START_TEST(norm_of_layouts_and_threads)
{
    HD_SCOPE;
    hd_tensor *x = DIGITS(HD_FLOAT32, 0, 400, 3, 70), *w = DIGITS(HD_FLOAT32, 1, 3, 70);
    hd_tensor *b = DIGITS(HD_FLOAT32, 0, 3, 70), *g[2][4];
    int before = hd_num_threads();
    for (int k = 0; k < 2; k++) { /* contiguous on one thread; transposed in memory on four */
        ck_assert(hd_set_num_threads(k ? 4 : 1));
        hd_tensor *in[3] = {x, w, b};
        for (int i = 0; i < 3; i++) {
            hd_tensor *v = hd_transpose(hd_contiguous(hd_transpose(in[i], 0, -1)), 0, -1);
            in[i] = hd_requires_grad_(k ? hd_detach(v) : hd_contiguous(hd_detach(v)), true);
        }
        g[k][3] = hd_layer_norm_n(in[0], 2, hd_sizes(w), in[1], in[2], 1e-5);
        ck_assert(hd_backward_with(g[k][3], x, false));
        for (int i = 0; i < 3; i++) {
            g[k][i] = hd_grad(in[i]);
        }
    }
    ck_assert(hd_set_num_threads(before));
    for (int i = 0; i < 4; i++) {
        ck_assert(hd_equal(g[0][i], g[1][i]));
    }
    ck_assert_str_eq(hd_grad_fn(g[0][3]), "NativeLayerNormBackward0");
    ck_no_error();
}
END_TEST

/* Where squares overflow, the level plain gives NaN. Rows of 0 would hide it. */
START_TEST(norm_of_huge_rows_at_plain)
{
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int level = hd__level;
    const int64_t n = 4;
    hd__level = HD__PLAIN;
    for (hd_dtype d = HD_FLOAT32; d <= HD_FLOAT64; d++) {
        HD_SCOPE;
        const double huge = d == HD_FLOAT32 ? 1e20 : 1e160;
        hd_tensor *x = hd_mul_scalar(vec(d, 1, -1, 2, -2), huge);
        ck_elements(hd_layer_norm_n(x, 1, &n, HD_NONE, HD_NONE, 1e-5), NAN, NAN, NAN, NAN);
        hd_tensor *equal = hd_full(d, huge, 4); /* of which no difference is squared */
        ck_elements(hd_layer_norm_n(equal, 1, &n, HD_NONE, HD_NONE, 1e-5), 0, 0, 0, 0);
    }
    hd__level = level;
    ck_no_error();
}
END_TEST

/* Sums of 50,000 elements in float32 would be off by more than 1e-6 of their size. */
START_TEST(plain_adds_in_float64)
{
    HD_SCOPE;
    ck_assert_ptr_nonnull(hd_cpu_level());
    const int level = hd__level;
    const int64_t n = 50000;
    hd_tensor *in[] = {DIGITS(HD_FLOAT32, 3, 1, n), DIGITS(HD_FLOAT32, 1, n)}, *made[2][4];
    hd__level = HD__PLAIN;
    for (int wide = 0; wide < 2; wide++) {
        const hd_dtype d = wide ? HD_FLOAT64 : HD_FLOAT32;
        hd_tensor *x = hd_requires_grad_(hd_clone(hd_to(in[0], d)), true);
        hd_tensor *w = hd_requires_grad_(hd_clone(hd_to(in[1], d)), true);
        made[wide][0] = hd_layer_norm_n(x, 1, &n, w, HD_NONE, 1e-5);
        ck_assert(hd_backward_with(made[wide][0], hd_abs(hd_detach(x)), false));
        made[wide][1] = hd_grad(x);
        made[wide][2] = hd_grad(w);
        made[wide][3] = hd_cross_entropy(hd_detach(x), INTS(7));
    }
    hd__level = level;
    for (int i = 0; i < 4; i++) {
        double off = hd_item(hd_max(hd_abs(hd_sub(made[0][i], made[1][i]))));
        double size = hd_item(hd_max(hd_abs(made[1][i])));
        ck_assert_msg(off < 1e-6 * size, "%d: off by %g of %g", i, off, size);
    }
    ck_no_error();
}
END_TEST

/* Rows whose sums for weight and bias are made apart from the results, and longer rows. */
START_TEST(norm_gradients_of_long_rows)
{
    for (int64_t n = 4095; n < 4099; n++) {
        HD_SCOPE;
        hd_tensor *in[] = {DIGITS(HD_FLOAT32, 0, 37, n), DIGITS(HD_FLOAT32, 1, n),
                           DIGITS(HD_FLOAT32, 0, n)};
        hd_tensor *dy = DIGITS(HD_FLOAT64, 1, 37, n);
        hd_tensor *u = hd_layer_norm_n(hd_to(in[0], HD_FLOAT64), 1, &n, HD_NONE, HD_NONE, 1e-5);
        hd_tensor *g = hd_mul(dy, hd_to(in[1], HD_FLOAT64));
        hd_tensor *means =
            hd_add(hd_mean_dim(g, 1, true), hd_mul(u, hd_mean_dim(hd_mul(g, u), 1, true)));
        hd_tensor *var = hd_var_dim(hd_to(in[0], HD_FLOAT64), 1, 0, true);
        hd_tensor *rstd = hd_rsqrt(hd_add_scalar(var, 1e-5));
        hd_tensor *want[] = {hd_mul(hd_sub(g, means), rstd), hd_sum_dim(hd_mul(dy, u), 0, false),
                             hd_sum_dim(dy, 0, false)};
        for (int i = 0; i < 3; i++) {
            ck_assert_ptr_nonnull(hd_requires_grad_(in[i], true));
        }
        hd_tensor *y = hd_layer_norm_n(in[0], 1, &n, in[1], in[2], 1e-5);
        ck_assert(hd_backward_with(y, hd_to(dy, HD_FLOAT32), false));
        for (int i = 0; i < 3; i++) {
            hd_tensor *got = hd_to(hd_grad(in[i]), HD_FLOAT64);
            double most = hd_item(hd_max(hd_abs(hd_sub(got, want[i]))));
            ck_assert_msg(most < 1e-4, "n %d, gradient %d: off by %g", (int)n, i, most);
        }
        ck_no_error();
    }
}
END_TEST

#define norm(x, weight, bias, ...) hd_layer_norm_n(x, HD__LIST(__VA_ARGS__), weight, bias, 1e-5)

START_TEST(norm_special_values)
{
    HD_SCOPE;
    ck_elements(norm(vec(HD_FLOAT32, 2, 2, 2), HD_NONE, HD_NONE, 3), 0, 0, 0);
    ck_elements(norm(vec(HD_FLOAT32, 1, INFINITY, 2), HD_NONE, HD_NONE, 3), NAN, NAN, NAN);
    ck_elements(norm(vec(HD_FLOAT32, 2, 2), vec(HD_FLOAT32, 5, 6), vec(HD_FLOAT32, 3, 4), 2), 3, 4);
    ck_repr(norm(hd_zeros(HD_FLOAT32, 0, 3), HD_NONE, HD_NONE, 3), "tensor([], size=(0, 3))");
    ck_repr(norm(hd_zeros(HD_FLOAT32, 2, 0), HD_NONE, HD_NONE, 0), "tensor([], size=(2, 0))");
    ck_no_error();
}
END_TEST

START_TEST(rms_norm_errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3);
    ck_assert_ptr_null(hd_rms_norm(hd_ones(HD_INT64, 3), HD_NONE, 1e-5));
    ck_error(HD_DTYPE, "hd_rms_norm: dtype int64: expected float32 or float64");
    ck_assert_ptr_null(hd_rms_norm(hd_scalar_tensor(HD_FLOAT32, 1), HD_NONE, 1e-5));
    ck_error(HD_SHAPE, "hd_rms_norm: x is 0-d: expected 1 dim or more");
    ck_assert_ptr_null(hd_rms_norm(x, hd_ones(HD_FLOAT32, 2), 1e-5));
    ck_error(HD_SHAPE, "hd_rms_norm: weight (2,): expected the normalized shape (3,)");
    ck_assert_ptr_null(hd_rms_norm(x, hd_ones(HD_FLOAT64, 3), 1e-5));
    ck_error(HD_DTYPE, "hd_rms_norm: x of float32 and weight of float64: expected the same dtype. "
                       "hd_to converts one of them");
}
END_TEST

START_TEST(norm_errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3);
    ck_assert_ptr_null(norm(x, HD_NONE, HD_NONE, 2));
    ck_error(
        HD_SHAPE,
        "hd_layer_norm_n: x (2, 3) and normalized shape (2,): expected the sizes of x's last dims");
    ck_assert_ptr_null(hd_layer_norm_n(x, 0, NULL, HD_NONE, HD_NONE, 1e-5));
    ck_error(HD_SHAPE, "hd_layer_norm_n: 0 normalized dims: expected 1 or more");
    ck_assert_ptr_null(norm(x, hd_ones(HD_FLOAT32, 2), HD_NONE, 3));
    ck_error(HD_SHAPE, "hd_layer_norm_n: weight (2,): expected the normalized shape (3,)");
    ck_assert_ptr_null(norm(x, HD_NONE, hd_ones(HD_FLOAT64, 3), 3));
    ck_error(HD_DTYPE, "hd_layer_norm_n: x of float32 and bias of float64: expected the same "
                       "dtype. hd_to converts one of them");
    ck_assert_ptr_null(norm(x, NULL, HD_NONE, 3));
    ck_error(HD_NULL_ARG, "hd_layer_norm_n: weight is NULL: expected a tensor or HD_NONE");
    ck_assert_ptr_null(norm(hd_ones(HD_INT64, 3), HD_NONE, HD_NONE, 3));
    ck_error(HD_DTYPE, "hd_layer_norm_n: dtype int64: expected float32 or float64");
}
END_TEST

Suite *suite_loss(void)
{
    const TTest *const tests[] = {
        mse_against_plain_loops,
        mse_broadcasts_and_promotes,
        mse_warns_of_two_sizes,
        mse_errors,
        classes_last_are_named,
        entropy_against_plain_loops,
        entropy_of_more_dims,
        entropy_names,
        entropy_of_special_rows,
        entropy_errors,
        norm_against_plain_loops,
        norm_of_huge_rows_at_plain,
        plain_adds_in_float64,
        norm_of_layouts_and_threads,
        norm_gradients_of_long_rows,
        norm_special_values,
        norm_errors,
        rms_norm_errors,
    };
    return SUITE_OF("loss", tests);
}
