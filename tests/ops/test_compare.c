/* test_compare.c - tests of comparison and logic: PyTorch's values, kernels against plain loops,
 * errors. */
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"
#include "tensor/kernels/elementwise.h"

static bool plain(int op, double a, double b)
{
    const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    return results[op - HDK_EQ];
}

enum { MOST = 70 };

/* n elements with steps of sy, sa and sb elements. The bytes between the results and after them
 * stay. */
#define COMPARE_CASE(name, T, DTYPE, ODD)                                                          \
    static void name(int op, int64_t n, int64_t sy, int64_t sa, int64_t sb)                        \
    {                                                                                              \
        T a[2 * MOST], b[2 * MOST];                                                                \
        uint8_t y[2 * MOST + 1];                                                                   \
        memset(y, 0xee, sizeof y);                                                                 \
        for (int i = 0; i < 2 * MOST; i++) {                                                       \
            a[i] = i % 9 == 4 ? (T)(ODD) : (T)(i % 5);                                             \
            b[i] = (T)(i % 3);                                                                     \
        }                                                                                          \
        char *data[] = {(char *)y, (char *)a, (char *)b};                                          \
        const int64_t w = sizeof(T), strides[] = {sy, sa * w, sb * w};                             \
        hdk_binary_for(DTYPE)->of[op][DTYPE](data, strides, n, NULL);                              \
        for (int64_t i = 0; i < 2 * MOST + 1; i++) {                                               \
            int64_t k = i / sy;                                                                    \
            bool result = k < n && i % sy == 0;                                                    \
            int want = result ? plain(op, (double)a[k * sa], (double)b[k * sb]) : 0xee;            \
            ck_each(y[i] == want, #name " op %d, n %d, steps %d %d %d: %d at %d", op, (int)n,      \
                    (int)sy, (int)sa, (int)sb, y[i], (int)i);                                      \
        }                                                                                          \
    }

COMPARE_CASE(compare_f32, float, HD_FLOAT32, NAN)
COMPARE_CASE(compare_f64, double, HD_FLOAT64, NAN)
COMPARE_CASE(compare_i64, int64_t, HD_INT64, -7)

START_TEST(loops_against_plain_ones)
{
    static const int64_t steps[][3] = {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {1, 2, 1}, {2, 1, 2}};
    for (int op = HDK_EQ; op <= HDK_GE; op++) {
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
            for (int64_t n = 0; n <= MOST; n++) {
                compare_f32(op, n, steps[s][0], steps[s][1], steps[s][2]);
                compare_f64(op, n, steps[s][0], steps[s][1], steps[s][2]);
                compare_i64(op, n, steps[s][0], steps[s][1], steps[s][2]);
            }
        }
    }
}
END_TEST

START_TEST(equal_and_allclose)
{
    HD_SCOPE;
    hd_tensor *a = hd_transpose(hd_arange(0, 6, 1), 0, 0), *b = hd_arange_as(HD_FLOAT64, 0, 6, 1);
    ck_assert(hd_equal(a, b)); /* of two dtypes, as PyTorch */
    ck_assert(!hd_equal(a, hd_arange(0, 5, 1)));
    hd_tensor *x = hd_view(b, 2, 3);
    ck_assert(hd_equal(hd_transpose(x, 0, 1), hd_transpose(hd_clone(x), 0, 1)));
    ck_assert(hd_allclose(x, hd_add_scalar(x, 1e-9), 1e-5, 1e-8, false));
    ck_assert(!hd_allclose(x, hd_add_scalar(x, 1e-3), 1e-5, 1e-8, false));
    hd_tensor *i = hd_full(HD_INT64, 16777217, 1), *j = hd_full(HD_INT64, 16777216, 1);
    ck_assert(!hd_allclose(i, j, 0, 0, false));   /* exactly */
    ck_assert(hd_allclose(i, j, 1e-9, 0, false)); /* in float32 */
    ck_no_error();
}
END_TEST

START_TEST(results_have_no_gradient)
{
    HD_SCOPE;
    hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true);
    ck_assert(!hd_requires_grad(hd_eq(a, a)));
    ck_assert(!hd_requires_grad(hd_logical_not(a)));
}
END_TEST

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *a = hd_zeros(HD_FLOAT32, 2, 3), *b = hd_zeros(HD_FLOAT64, 2);
    ck_assert_ptr_null(hd_eq(a, NULL));
    ck_error(HD_NULL_ARG, "hd_eq: b is NULL. hd_eq_scalar takes a number, such as 0");
    ck_assert_ptr_null(hd_lt_scalar(NULL, 1));
    ck_error(HD_NULL_ARG, "hd_lt_scalar: x is NULL");
    ck_assert_ptr_null(hd_ge(a, b));
    ck_error(HD_SHAPE, "hd_ge: (2, 3) and (2,): sizes 3 and 2 at dim -1 do not broadcast");
    ck_assert_ptr_null(hd_logical_xor(a, b));
    ck_error(HD_SHAPE, "hd_logical_xor: (2, 3) and (2,): sizes 3 and 2 at dim -1 do not broadcast");
    ck_assert_ptr_null(hd_logical_not(HD_NONE));
    ck_error(HD_NULL_ARG, "hd_logical_not: x is HD_NONE: expected a tensor");
    ck_assert(!hd_equal(a, NULL));
    ck_error(HD_NULL_ARG, "hd_equal: b is NULL");
    ck_assert(!hd_allclose(a, b, 0, 0, false));
    ck_error(HD_SHAPE, "hd_allclose: (2, 3) and (2,): sizes 3 and 2 at dim -1 do not broadcast");
    ck_assert(!hd_allclose(a, hd_zeros(HD_FLOAT64, 3), 0, 0, false));
    ck_error(HD_DTYPE, "hd_allclose: a of float32 and b of float64: expected the same dtype. hd_to "
                       "converts one of them");
    ck_assert(!hd_allclose(a, a, -1, 0, false));
    ck_error(HD_VALUE, "hd_allclose: rtol -1 and atol 0: expected 0 or more");
    ck_assert(!hd_allclose(a, a, 0, NAN, false));
    ck_error(HD_VALUE, "hd_allclose: rtol 0 and atol nan: expected 0 or more");
}
END_TEST

/* torch.logical_or(torch.tensor([0.]), torch.tensor(1e-50, dtype=torch.float64)) is False: 0-d
 * tensors do not widen, and 1e-50 is 0 in float32. NaN is true. */
START_TEST(logic_in_the_common_dtype)
{
    HD_SCOPE;
    hd_tensor *a = hd_zeros(HD_FLOAT32, 1), *tiny = hd_scalar_tensor(HD_FLOAT64, 1e-50);
    hd_tensor *whole = hd_ones(HD_INT64, 1), *nan = hd_scalar_tensor(HD_FLOAT64, NAN);
    ck_elements(hd_logical_or(a, tiny), 0);
    ck_elements(hd_logical_xor(tiny, a), 0);
    ck_elements(hd_logical_and(hd_ones(HD_FLOAT32, 1), tiny), 0);
    ck_elements(hd_logical_and(whole, tiny), 1);
    ck_elements(hd_logical_or(a, hd_view(tiny, 1)), 1);
    ck_elements(hd_logical_or(hd_scalar_tensor(HD_FLOAT32, 0), tiny), 1);
    ck_elements(hd_logical_or(a, nan), 1);
    ck_elements(hd_logical_and(hd_full(HD_INT64, INT64_MIN, 1), nan), 1);
    ck_no_error();
}
END_TEST

START_TEST(kinds_of_numbers)
{
    HD_SCOPE;
    hd_tensor *x = vec(HD_FLOAT64, NAN, INFINITY, -INFINITY, 0, -1e308);
    ck_elements(hd_isnan(x), 1, 0, 0, 0, 0);
    ck_elements(hd_isinf(x), 0, 1, 1, 0, 0);
    ck_elements(hd_isfinite(x), 0, 0, 0, 1, 1);
    hd_tensor *whole[] = {hd_full(HD_INT64, INT64_MAX, 1), hd_ones(HD_BOOL, 1)};
    for (int i = 0; i < 2; i++) {
        ck_repr(hd_isfinite(whole[i]), "tensor([True])");
        ck_repr(hd_isinf(whole[i]), "tensor([False])");
        ck_repr(hd_isnan(whole[i]), "tensor([False])");
    }
    ck_no_error();
    ck_assert_ptr_null(hd_isinf(NULL));
    ck_error(HD_NULL_ARG, "hd_isinf: x is NULL");
}
END_TEST

Suite *suite_compare(void)
{
    const TTest *const tests[] = {
        loops_against_plain_ones,  equal_and_allclose, results_have_no_gradient,
        logic_in_the_common_dtype, kinds_of_numbers,   errors,
    };
    return SUITE_OF("compare", tests);
}
