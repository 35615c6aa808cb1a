/* test_index.c - tests of selection by index: values, gradients in order, ties of topk, errors. */
#include "heed/autograd.h"
#include "ramp.h"
#include "suites.h"
#include "support/support.h"

#define ints(...) index_of(HD__LIST(__VA_ARGS__))

static hd_tensor *index_of(int n, const int64_t *values)
{
    return hd_from_data(HD_INT64, values, n);
}

/* ---------------------------------------------------------------- values */

/* The gradient of nothing takes no time. */
START_TEST(no_columns_of_many_rows)
{
    HD_SCOPE;
    const int64_t many = (int64_t)1 << 40;
    hd_tensor *x = hd_requires_grad_(hd_zeros(HD_FLOAT32, many, 0), true);
    hd_tensor *y = hd_index_select(x, 1, hd_zeros(HD_INT64, 0));
    ck_assert(hd_backward_with(y, hd_zeros_like(y, HD_FLOAT32), false));
    ck_assert_int_eq(hd_size(hd_grad(x), 0), many);
    ck_no_error();
}
END_TEST

START_TEST(index_select_of_any_layout)
{
    HD_SCOPE;
    static const int64_t order[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
    hd_tensor *at = ints(3, 0, 3, 1);
    for (hd_dtype d = HD_FLOAT32; d <= HD_BOOL; d++) {
        for (int k = 0; k < 3; k++) {
            hd_tensor *x =
                hd_permute_n(hd_to(ramp(d == HD_BOOL ? HD_INT64 : d, 4, 5, 6), d), 3, order[k]);
            for (int dim = 0; dim < 3; dim++) {
                hd_tensor *y = hd_index_select(x, dim, at), *parts[4];
                for (int i = 0; i < 4; i++) {
                    parts[i] = hd_select(x, dim, hd_get_int(at, i));
                }
                ck_assert(hd_dtype_of(y) == d && hd_is_contiguous(y));
                ck_assert(hd_equal(y, hd_stack_n(4, parts, dim)));
            }
        }
    }
    ck_assert(
        hd_equal(hd_index_select(ramp(HD_FLOAT32, 5), 0, hd_slice_step(ints(4, 9, 2), 0, 0, 3, 2)),
                 vec(HD_FLOAT32, 4, 2)));
    ck_no_error();
}
END_TEST

/* Rows that are copied in parts, where the parts end at no multiple of their length. */
START_TEST(wide_rows_with_gaps)
{
    HD_SCOPE;
    hd_tensor *at = ints(4, 0, 4, 2);
    for (int64_t columns = 4095; columns <= 9001; columns += 2453) {
        for (hd_dtype d = HD_FLOAT32; d <= HD_BOOL; d++) {
            hd_tensor *all = hd_to(hd_randint(HD_INT64, 0, 100, 5, 2 * columns), d);
            hd_tensor *x = hd_slice_step(all, 1, 0, HD_END, 2), *rows[4];
            for (int i = 0; i < 4; i++) {
                rows[i] = hd_select(x, 0, hd_get_int(at, i));
            }
            ck_assert_int_eq(hd_size(x, 1), columns);
            ck_assert(hd_equal(hd_index_select(x, 0, at), hd_stack_n(4, rows, 0)));
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(one_hot_of_many)
{
    HD_SCOPE;
    hd_tensor *at = hd_randint(HD_INT64, 0, 301, 700), *y = hd_one_hot(at, 301);
    ck_assert(hd_equal(hd_sum_dim(y, 1, false), hd_ones(HD_INT64, 700)));
    ck_assert(hd_equal(hd_argmax_dim(y, 1, false), at));
    ck_no_error();
}
END_TEST

START_TEST(single_elements)
{
    HD_SCOPE;
    hd_tensor *point = hd_scalar_tensor(HD_FLOAT32, 7), *zero = hd_scalar_tensor(HD_INT64, 0);
    ck_repr(hd_index_select(point, 0, zero), "tensor(7.)");
    ck_repr(hd_index_select(point, -1, ints(0)), "tensor(7.)");
    ck_repr(hd_index_select(ramp(HD_FLOAT32, 3), 0, zero), "tensor([0.])");
    ck_repr(hd_gather(point, 0, zero), "tensor(7.)");
    ck_repr(hd_gather(point, 0, ints(0, 0)), "tensor([7., 7.])");
    ck_repr(hd_gather(ramp(HD_FLOAT32, 3), 0, hd_scalar_tensor(HD_INT64, 2)), "tensor(2.)");
    ck_repr(hd_embedding(zero, ramp(HD_FLOAT32, 2, 3), HD_NO_PADDING), "tensor([0., 1., 2.])");
    ck_repr(hd_one_hot(hd_scalar_tensor(HD_INT64, 2), 4), "tensor([0, 0, 1, 0])");
    hd_tensor *one = hd_slice_step(ramp(HD_FLOAT64, 3), 0, 0, HD_END, INT64_MAX);
    ck_assert_int_eq(hd_stride(one, 0), INT64_MAX);
    ck_repr(hd_gather(one, 0, ints(0, 0)), "tensor([0., 0.], dtype=torch.float64)");
    hd_tensor *at = NULL;
    ck_repr(hd_topk(point, 0, 0, true, &at), "tensor(7.)"); /* PyTorch gives the same for k = 0 */
    ck_repr(at, "tensor(0)");
    ck_no_error();
}
END_TEST

START_TEST(gather_of_any_layout)
{
    HD_SCOPE;
    hd_tensor *x = hd_transpose(ramp(HD_FLOAT64, 6, 5), 0, 1); /* (5, 6) */
    for (int dim = 0; dim < 2; dim++) {
        hd_manual_seed(4);
        hd_tensor *at =
            hd_transpose(hd_randint(HD_INT64, 0, hd_size(x, dim), 4, 3), 0, 1); /* (3, 4) */
        hd_tensor *y = hd_gather(x, dim, at);
        for (int64_t i = 0; i < 3; i++) {
            for (int64_t j = 0; j < 4; j++) {
                int64_t k = hd_get_int(at, i, j);
                ck_assert_double_eq(hd_get(y, i, j), dim ? hd_get(x, i, k) : hd_get(x, k, j));
            }
        }
    }
    hd_tensor *nothing = hd_gather(x, 0, hd_zeros(HD_INT64, 0, 9, 2));
    ck_assert_str_eq(hd_shape_repr(nothing), "torch.Size([0, 9, 2])");
    hd_tensor *cube = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3, 4), true);
    ck_assert(hd_backward(hd_sum(hd_gather(cube, 2, hd_zeros(HD_INT64, 0))))); /* of fewer dims */
    ck_assert(hd_equal(hd_grad(cube), hd_zeros(HD_FLOAT32, 2, 3, 4)));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- gradients */

START_TEST(repeated_indices_add_in_their_order)
{
    HD_SCOPE;
    const float big[] = {1e8f, 1, -1e8f, 1}; /* in order: ((1e8 + 1) - 1e8) + 1 = 1 */
    hd_tensor *dy = hd_from_data(HD_FLOAT32, big, 4), *at = ints(1, 1, 1, 1);
    hd_tensor *x = hd_requires_grad_(hd_zeros(HD_FLOAT32, 3), true);
    ck_assert(hd_backward_with(hd_index_select(x, 0, at), dy, false));
    ck_elements(hd_grad(x), 0, 1, 0);
    hd_set_grad(x, HD_NONE);
    ck_assert(hd_backward_with(hd_gather(x, 0, at), dy, false));
    ck_elements(hd_grad(x), 0, 1, 0);
    hd_tensor *w = hd_requires_grad_(hd_zeros(HD_FLOAT32, 3, 1), true);
    ck_assert(hd_backward_with(hd_embedding(at, w, HD_NO_PADDING), hd_view(dy, 4, 1), false));
    ck_elements(hd_grad(w), 0, 1, 0);
    ck_no_error();
}
END_TEST

START_TEST(padding_gets_no_gradient)
{
    HD_SCOPE;
    hd_tensor *w = hd_requires_grad_(ramp(HD_FLOAT32, 3, 2), true);
    hd_tensor *y = hd_embedding(hd_view(ints(1, 2, 1, 0), 2, 2), w, 1);
    ck_assert_str_eq(hd_shape_repr(y), "torch.Size([2, 2, 2])");
    ck_elements(hd_select(y, 0, 0), 2, 3, 4, 5);
    ck_assert(hd_backward(hd_sum(y)));
    ck_elements(hd_grad(w), 1, 1, 0, 0, 1, 1);
    ck_assert(hd_backward(hd_sum(hd_embedding(ints(1, 2, 2), w, -1)))); /* from the end */
    ck_elements(hd_grad(w), 1, 1, 1, 1, 1, 1);
    ck_assert(hd_backward(hd_sum(hd_embedding(ints(2), w, HD_NO_PADDING))));
    ck_elements(hd_grad(w), 1, 1, 1, 1, 2, 2);
    ck_no_error();
}
END_TEST

START_TEST(names)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 3), true), *at = ints(0);
    ck_assert_str_eq(hd_grad_fn(hd_index_select(x, 0, at)), "IndexSelectBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_gather(x, 0, hd_view(at, 1, 1))), "GatherBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_embedding(at, x, HD_NO_PADDING)), "EmbeddingBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_topk(x, 1, 0, true, NULL)), "TopkBackward0");
}
END_TEST

START_TEST(threads_change_no_bit)
{
    HD_SCOPE;
    int before = hd_num_threads();
    hd_tensor *y1 = NULL, *g1 = NULL;
    for (int threads = 1; threads <= 4; threads *= 2) {
        hd_set_num_threads(threads);
        hd_manual_seed(5);
        hd_tensor *w = hd_requires_grad_(hd_randn(HD_FLOAT32, 50, 300), true);
        hd_tensor *y = hd_embedding(hd_randint(HD_INT64, 0, 50, 900), w, 3);
        hd_backward(hd_sum(hd_mul(y, y)));
        y1 = threads == 1 ? y : y1;
        g1 = threads == 1 ? hd_grad(w) : g1;
        ck_assert(hd_equal(y, y1) && hd_equal(hd_grad(w), g1));
    }
    hd_set_num_threads(before);
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- topk */

static void expect_order(hd_tensor *x, bool largest, int k, const int64_t *order)
{
    hd_tensor *at = NULL, *y = hd_topk(x, k, -1, largest, &at);
    ck_assert_ptr_nonnull(y);
    for (int i = 0; i < k; i++) {
        ck_assert_int_eq(hd_get_int(at, i), order[i]);
        double got = hd_get(y, i), want = hd_get(x, order[i]);
        ck_assert(got == want || (isnan(got) && isnan(want)));
    }
}
#define EXPECT_ORDER(x, largest, ...) expect_order(x, largest, HD__LIST(__VA_ARGS__))

/* The k largest or smallest, each found by looking through all that are left: of equal values the
 * one with the lower index comes first. */
static void expect_ties_in_order(hd_tensor *x, bool largest, int k)
{
    int64_t order[200], n = hd_numel(x);
    bool taken[200] = {false};
    for (int i = 0; i < k; i++) {
        order[i] = -1;
        for (int64_t j = 0; j < n; j++) {
            double v = hd_get(x, j), best = order[i] < 0 ? 0 : hd_get(x, order[i]);
            if (!taken[j] && (order[i] < 0 || (largest ? v > best : v < best))) {
                order[i] = j;
            }
        }
        taken[order[i]] = true;
    }
    expect_order(x, largest, k, order);
}

START_TEST(ties_and_nan)
{
    HD_SCOPE;
    hd_tensor *odd = vec(HD_FLOAT64, 1, NAN, 2, NAN, INFINITY, -INFINITY, 0);
    EXPECT_ORDER(odd, true, 1, 3, 4, 2, 0, 6, 5);
    EXPECT_ORDER(odd, false, 5, 6, 0, 2, 4, 1, 3);
    EXPECT_ORDER(vec(HD_FLOAT32, 0., -0., 0., -0.), true, 0, 1, 2);
    hd_tensor *none = hd_full(HD_FLOAT32, NAN, 40);
    int64_t first[20], b[200];
    for (int64_t i = 0; i < 20; i++) {
        first[i] = i;
    }
    expect_order(none, true, 20, first);
    expect_order(none, false, 3, first);
    for (int64_t i = 0; i < 200; i++) {
        b[i] = i * i * 3 % 17;
    }
    for (hd_dtype d = HD_FLOAT32; d <= HD_INT64; d++) {
        for (int n = 1; n <= 200; n = n * 3 + 1) {
            hd_tensor *x = hd_to(hd_from_data(HD_INT64, b, n), d);
            for (int k = 1; k <= n; k += 1 + k / 4) {
                expect_ties_in_order(x, true, k);
                expect_ties_in_order(x, false, k);
            }
        }
    }
    ck_no_error();
}
END_TEST

/* Sorted rows of every length, along both dims. */
START_TEST(topk_sorts)
{
    for (int64_t n = 1; n <= 300; n += n < 70 ? 1 : 57) {
        HD_SCOPE;
        hd_manual_seed(n);
        hd_tensor *x = hd_randn(HD_FLOAT32, 2, n), *at = NULL;
        for (int64_t k = 1; k <= n; k += 1 + n / 7) {
            hd_tensor *y = hd_topk(x, k, 1, true, &at);
            ck_assert(hd_equal(y, hd_gather(x, 1, at)));
            hd_tensor *turned = hd_topk(hd_t(x), k, 0, true, NULL);
            ck_assert(hd_equal(hd_t(turned), y));
            for (int64_t r = 0; r < 2; r++) {
                int64_t above = 0;
                for (int64_t i = 1; i < k; i++) {
                    ck_assert_double_ge(hd_get(y, r, i - 1), hd_get(y, r, i));
                }
                for (int64_t i = 0; i < n; i++) {
                    above += hd_get(x, r, i) > hd_get(y, r, k - 1);
                }
                ck_assert_int_eq(above, k - 1);
            }
        }
    }
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- errors */

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 3, 4), *at = NULL;
    hd_tensor *empty = hd_zeros(HD_FLOAT32, 0, 3), *none = hd_zeros(HD_INT64, 0);
    ck_assert_ptr_null(hd_index_select(x, 1, ints(0, 4)));
    ck_error(HD_INDEX, "hd_index_select: index 4 at (1,): expected 0 to 3");
    ck_assert_ptr_null(hd_index_select(x, 1, ints(-1)));
    ck_error(HD_INDEX, "hd_index_select: index -1 at (0,): expected 0 to 3");
    ck_assert_ptr_null(hd_index_select(empty, 0, ints(0)));
    ck_error(HD_INDEX, "hd_index_select: index 0 at (0,): the indexed dim has size 0");
    ck_assert_ptr_null(hd_index_select(x, 2, ints(0)));
    ck_error(HD_INDEX, "hd_index_select: dim 2 of (3, 4): expected -2 to 1");
    ck_assert_ptr_null(hd_index_select(x, 0, hd_zeros(HD_INT64, 1, 2)));
    ck_error(HD_SHAPE, "hd_index_select: x (3, 4) and index (1, 2): expected an index of 1 dim");
    ck_assert_ptr_null(hd_index_select(hd_scalar_tensor(HD_FLOAT32, 1), 0, ints(0, 0)));
    ck_error(HD_SHAPE, "hd_index_select: x () and index (2,): expected an index of 1 element");
    ck_assert_ptr_null(hd_index_select(x, 0, hd_ones(HD_BOOL, 3)));
    ck_error(HD_DTYPE, "hd_index_select: index of bool: expected int64");
    ck_assert_ptr_null(hd_gather(x, 1, hd_view(ints(0, 1, 2, 9), 2, 2)));
    ck_error(HD_INDEX, "hd_gather: index 9 at (1, 1): expected 0 to 3");
    ck_assert_ptr_null(hd_gather(x, 1, hd_zeros(HD_INT64, 4, 1)));
    ck_error(HD_SHAPE, "hd_gather: x (3, 4) and index (4, 1): expected equal numbers of dims, and "
                       "index sizes up to x's, except at dim 1");
    ck_assert_ptr_null(hd_gather(x, 0, ints(0)));
    ck_error(HD_SHAPE, "hd_gather: x (3, 4) and index (1,): expected equal numbers of dims, and "
                       "index sizes up to x's, except at dim 0");
    ck_assert_ptr_null(hd_gather(x, 0, x));
    ck_error(HD_DTYPE, "hd_gather: index of float32: expected int64");
    ck_assert_ptr_null(hd_embedding(ints(1, 3), x, HD_NO_PADDING));
    ck_error(HD_INDEX, "hd_embedding: index 3 at (1,): expected 0 to 2");
    ck_assert_ptr_null(hd_embedding(ints(1), hd_ones(HD_FLOAT32, 3), HD_NO_PADDING));
    ck_error(HD_SHAPE, "hd_embedding: index (1,) and weight (3,): expected an index of up to 7 "
                       "dims, and a weight (n, d)");
    ck_assert_ptr_null(hd_embedding(ints(1), x, 3));
    ck_error(HD_INDEX, "hd_embedding: padding_idx 3 of weight (3, 4): expected -3 to 2, or "
                       "HD_NO_PADDING");
    ck_assert_ptr_null(hd_embedding(ints(1), x, -4));
    ck_error(HD_INDEX, "hd_embedding: padding_idx -4 of weight (3, 4): expected -3 to 2, or "
                       "HD_NO_PADDING");
    ck_assert_ptr_null(hd_topk(x, 5, 1, true, &at));
    ck_error(HD_VALUE, "hd_topk: k 5 at dim 1 of (3, 4): expected 0 to 4");
    ck_assert_ptr_null(hd_topk(x, -1, 1, true, &at));
    ck_error(HD_VALUE, "hd_topk: k -1 at dim 1 of (3, 4): expected 0 to 4");
    ck_assert_ptr_null(hd_topk(hd_ones(HD_BOOL, 2), 1, 0, true, &at));
    ck_error(HD_DTYPE, "hd_topk: dtype bool: expected float32, float64 or int64");
    ck_assert_ptr_null(at);
    ck_assert_ptr_null(hd_one_hot(ints(0, 2), 2));
    ck_error(HD_INDEX, "hd_one_hot: index 2 at (1,): expected 0 to 1");
    ck_assert_ptr_null(hd_one_hot(none, -1));
    ck_error(HD_VALUE, "hd_one_hot: num_classes -1 for index (0,): expected 1 or more, or -1 with "
                       "a nonempty index");
    ck_assert_ptr_null(hd_one_hot(NULL, -1));
    ck_error(HD_NULL_ARG, "hd_one_hot: index is NULL");
    ck_assert_ptr_null(hd_gather(HD_NONE, 0, none));
    ck_error(HD_NULL_ARG, "hd_gather: x is HD_NONE: expected a tensor");
}
END_TEST

Suite *suite_index(void)
{
    const TTest *const tests[] = {
        no_columns_of_many_rows,
        index_select_of_any_layout,
        wide_rows_with_gaps,
        one_hot_of_many,
        single_elements,
        gather_of_any_layout,
        repeated_indices_add_in_their_order,
        padding_gets_no_gradient,
        names,
        threads_change_no_bit,
        ties_and_nan,
        topk_sorts,
        errors,
    };
    return SUITE_OF("index", tests);
}
