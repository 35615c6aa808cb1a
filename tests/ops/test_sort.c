/* test_sort.c - tests of sort, argsort, index_add, scatter, bincount, nonzero. The values are
 * PyTorch's. */
#include "heed/autograd.h"
#include "ramp.h"
#include "suites.h"
#include "support/support.h"

#define ints(...) index_of(HD__LIST(__VA_ARGS__))

static hd_tensor *index_of(int n, const int64_t *values)
{
    return hd_from_data(HD_INT64, values, n);
}

/* ---------------------------------------------------------------- sort */

START_TEST(sort_is_stable)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT32, NAN, INFINITY, -INFINITY, 1, NAN, -0.0, 0), *at, *y;
    y = hd_sort(x, 0, false, &at);
    ck_elements(y, -INFINITY, 0, 0, 1, INFINITY, NAN, NAN);
    ck_elements(at, 2, 5, 6, 3, 1, 0, 4);
    ck_elements(hd_argsort(x, -1, true), 0, 4, 1, 3, 5, 6, 2);
    hd_tensor *truth = hd_from_data(HD_BOOL, ((uint8_t[]){1, 0, 1, 0}), 4);
    ck_repr(hd_sort(truth, 0, true, &at), "tensor([ True,  True, False, False])");
    ck_elements(at, 0, 2, 1, 3);
    ck_repr(hd_sort(hd_scalar_tensor(HD_INT64, 3), 0, false, &at), "tensor(3)");
    ck_repr(at, "tensor(0)");
    ck_repr(hd_sort(hd_zeros(HD_FLOAT32, 0, 3), 0, false, NULL), "tensor([], size=(0, 3))");
    ck_no_error();
}
END_TEST

START_TEST(sort_keeps_the_layout)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(hd_randn(HD_FLOAT32, 300, 40), true), *at;
    hd_tensor *y = hd_sort(hd_t(x), 1, false, &at); /* (40, 300), lines of 300 */
    ck_assert_int_eq(hd_stride(y, 0), 1);
    ck_assert_int_eq(hd_stride(at, 0), 1);
    ck_assert(hd_equal(y, hd_gather(hd_t(x), 1, at)));
    ck_assert(hd_equal(hd_topk(hd_t(x), 300, 1, false, NULL), y));
    ck_assert(hd_backward_with(y, hd_to(at, HD_FLOAT32), false));
    hd_tensor *lines = hd_expand(hd_to(hd_arange(0, 300, 1), HD_FLOAT32), 40, 300);
    ck_assert(hd_equal(hd_t(hd_grad(x)), lines));
    ck_no_error();
}
END_TEST

/* ---------------------------------------------------------------- index_add, scatter */

START_TEST(index_add_of_every_dtype)
{
    HD_SCOPE;
    hd_tensor *truth = hd_from_data(HD_BOOL, ((uint8_t[]){1, 0, 0}), 3),
              *one = hd_ones(HD_INT64, 2);
    ck_repr(hd_index_add(truth, 0, one, hd_ones(HD_BOOL, 2)), "tensor([ True,  True, False])");
    ck_elements(hd_index_add(ints(1, 2, 3), 0, one, ints(5, 6)), 1, 13, 3);
    hd_tensor *x = hd_t(ramp(HD_FLOAT64, 2, 3)), *source = hd_ones(HD_FLOAT64, 3, 2);
    ck_elements(hd_index_add(x, -1, one, source), 0, 5, 1, 6, 2, 7);
    hd_tensor *point = hd_scalar_tensor(HD_FLOAT32, 1);
    ck_repr(hd_index_add(point, 0, hd_zeros(HD_INT64, 1), point), "tensor(2.)");
    ck_elements(hd_index_add(x, 0, hd_zeros(HD_INT64, 0), hd_zeros(HD_FLOAT64, 0, 2)), 0, 3, 1, 4,
                2, 5);
    ck_no_error();
}
END_TEST

START_TEST(scatter_and_its_gradients)
{
    HD_SCOPE;
    hd_tensor *x = hd_requires_grad_(ramp(HD_FLOAT32, 3, 2), true);
    hd_tensor *source = hd_requires_grad_(hd_full(HD_FLOAT32, 9, 2, 3), true); /* larger */
    hd_tensor *at = hd_view(ints(1, 1), 1, 2), *y = hd_scatter(x, 0, at, source);
    ck_elements(y, 0, 1, 9, 9, 4, 5);
    ck_assert(hd_backward_with(y, ramp(HD_FLOAT32, 3, 2), false));
    ck_elements(hd_grad(x), 0, 1, 0, 0, 4, 5);
    ck_elements(hd_grad(source), 2, 3, 0, 0, 0, 0);
    hd_tensor *truth = hd_zeros(HD_BOOL, 3);
    ck_repr(hd_scatter(truth, 0, ints(2, 0), hd_ones(HD_BOOL, 2)), "tensor([ True, False,  True])");
    ck_elements(hd_scatter(ints(1, 2, 3), 0, ints(1, 1), ints(5, 6)), 1, 6, 3); /* the last one */
    hd_tensor *point = hd_scalar_tensor(HD_INT64, 1);
    ck_repr(hd_scatter(point, 0, ints(0, 0), ints(7, 8)), "tensor(8)");
    ck_repr(hd_scatter(ints(1, 2), 0, point, hd_scalar_tensor(HD_INT64, 7)), "tensor([1, 7])");
    hd_tensor *none = hd_zeros(HD_INT64, 0), *copy = hd_scatter(x, 0, none, source);
    ck_assert_str_eq(hd_grad_fn(copy), "ScatterBackward0");
    ck_assert(hd_backward(hd_sum(copy)));
    ck_elements(hd_grad(source), 2, 3, 0, 0, 0, 0);
    ck_no_error();
}
END_TEST

START_TEST(adding_and_scattering_refuse)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 3, 2), *at = ints(1, 2);
    ck_assert_ptr_null(hd_index_add(x, 0, at, hd_zeros(HD_FLOAT64, 2, 2)));
    ck_error(HD_DTYPE, "hd_index_add: x of float32 and source of float64: expected the same dtype. "
                       "hd_to converts one of them");
    ck_assert_ptr_null(hd_index_add(x, 0, at, hd_zeros(HD_FLOAT32, 1, 2)));
    ck_error(HD_SHAPE, "hd_index_add: x (3, 2), index (2,) and source (1, 2): expected an index of "
                       "1 dim, and a source of x's shape with index's length at dim 0");
    ck_assert_ptr_null(hd_index_add(x, 0, ints(1, 3), hd_zeros(HD_FLOAT32, 2, 2)));
    ck_error(HD_INDEX, "hd_index_add: index 3 at (1,): expected 0 to 2");
    ck_assert_ptr_null(hd_index_add(x, 0, x, x));
    ck_error(HD_DTYPE, "hd_index_add: index of float32: expected int64");
    ck_assert_ptr_null(hd_scatter(x, 0, at, x));
    ck_error(HD_SHAPE, "hd_scatter: x (3, 2) and index (2,): expected equal numbers of dims, and "
                       "index sizes up to x's, except at dim 0");
    hd_tensor *one = hd_zeros(HD_INT64, 2, 2);
    ck_assert_ptr_null(hd_scatter(x, 0, one, hd_zeros(HD_FLOAT32, 1, 2)));
    ck_error(HD_SHAPE, "hd_scatter: source (1, 2) and index (2, 2): expected equal numbers of "
                       "dims, and index sizes up to source's");
    ck_assert_ptr_null(hd_scatter(x, 0, hd_add_scalar(one, 3), x));
    ck_error(HD_INDEX, "hd_scatter: index 3 at (0, 0): expected 0 to 2");
    ck_assert_ptr_null(hd_scatter(x, 2, one, x));
    ck_error(HD_INDEX, "hd_scatter: dim 2 of (3, 2): expected -2 to 1");
}
END_TEST

/* ---------------------------------------------------------------- bincount, nonzero */

START_TEST(counts_and_places)
{
    HD_SCOPE;
    ck_elements(hd_bincount(ints(1, 1, 5), 3), 0, 2, 0, 0, 0, 1);
    ck_elements(hd_bincount(ints(1), 3), 0, 1, 0);
    ck_elements(hd_bincount(ints(3), 3), 0, 0, 0, 1);
    ck_repr(hd_bincount(hd_zeros(HD_INT64, 0), 0), "tensor([], dtype=torch.int64)");
    hd_tensor *x = hd_view(vec(HD_FLOAT32, 1, 0, NAN, -0.0, 0, 2), 2, 3), *y = hd_nonzero(hd_t(x));
    ck_repr(y, "tensor([[0, 0],\n        [2, 0],\n        [2, 1]])");
    ck_assert_int_eq(hd_stride(y, 0), 1);
    ck_repr(hd_nonzero(hd_scalar_tensor(HD_INT64, 5)),
            "tensor([], size=(1, 0), dtype=torch.int64)");
    ck_repr(hd_nonzero(hd_zeros(HD_BOOL, 2)), "tensor([], size=(0, 1), dtype=torch.int64)");
    ck_no_error();
}
END_TEST

START_TEST(counting_refuses)
{
    HD_SCOPE;
    ck_assert_ptr_null(hd_bincount(ints(1, -1), 0));
    ck_error(HD_INDEX, "hd_bincount: index -1 at (1,): expected 0 to 9223372036854775806");
    ck_assert_ptr_null(hd_bincount(hd_ones(HD_FLOAT32, 2), 0));
    ck_error(HD_DTYPE, "hd_bincount: x of float32: expected int64");
    ck_assert_ptr_null(hd_bincount(hd_ones(HD_INT64, 2, 1), 0));
    ck_error(HD_SHAPE,
             "hd_bincount: x (2, 1), minlength 0: expected x (n,), and a minlength of 0 or more");
    ck_assert_ptr_null(hd_bincount(ints(1), -1));
    ck_error(HD_VALUE,
             "hd_bincount: x (1,), minlength -1: expected x (n,), and a minlength of 0 or more");
    ck_assert_ptr_null(hd_argsort(ints(1), 1, false));
    ck_error(HD_INDEX, "hd_argsort: dim 1 of (1,): expected -1 to 0");
}
END_TEST

Suite *suite_sort(void)
{
    const TTest *const tests[] = {
        sort_is_stable,
        sort_keeps_the_layout,
        index_add_of_every_dtype,
        scatter_and_its_gradients,
        adding_and_scattering_refuse,
        counts_and_places,
        counting_refuses,
    };
    return SUITE_OF("sort", tests);
}
