/* test_arith.c - tests of arithmetic: PyTorch's values and dtypes, kernels against plain loops,
 * layouts of results, errors. */
#include "tensor/elementwise.h"
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

/* ---------------------------------------------------------------- loops against plain ones */

enum { MOST = 1100, FEW = 70, WIDEST = 3, GUARD = 4 };

static double plain(int op, double a, double b)
{
    switch (op) {
    case HDK_ADD: return a + b;
    case HDK_SUB: return a - b;
    case HDK_MUL: return a * b;
    case HDK_DIV: return a / b;
    case HDK_MAXIMUM: return a > b ? a : b;
    default: return a < b ? a : b;
    }
}

/* Runs n elements with steps of sa and sb elements. What lies between the elements of y
 * and after the last one must stay as it was. */
#define UNTOUCHED 77777
#define LOOP_CASE(name, T, DTYPE)                                                                  \
    static void name(int op, int64_t n, int64_t sy, int64_t sa, int64_t sb)                        \
    {                                                                                              \
        T a[WIDEST * MOST], b[WIDEST * MOST], y[WIDEST * MOST + GUARD];                            \
        for (int i = 0; i < WIDEST * MOST; i++) {                                                  \
            a[i] = (T)(i * 0.75 - 20);                                                             \
            b[i] = (T)(11 - i * 0.5 + (i == 22));                                                  \
        }                                                                                          \
        for (int i = 0; i < WIDEST * MOST + GUARD; i++) {                                          \
            y[i] = UNTOUCHED;                                                                      \
        }                                                                                          \
        char *data[] = {(char *)y, (char *)a, (char *)b};                                          \
        const int64_t w = sizeof(T), strides[] = {sy * w, sa * w, sb * w};                         \
        hdk_binary_loop(op, DTYPE)(data, strides, n, NULL);                                        \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T want = (T)plain(op, a[i * sa], b[i * sb]);                                           \
            ck_each(y[i * sy] == want, #name " op %d, n %d, %d: %.9g, expected %.9g", op, (int)n,  \
                    (int)i, (double)y[i * sy], (double)want);                                      \
        }                                                                                          \
        for (int64_t i = 0; i < WIDEST * MOST + GUARD; i++) {                                      \
            ck_each((i < n * sy && i % sy == 0) || y[i] == UNTOUCHED,                              \
                    #name " op %d, n %d: wrote %d", op, (int)n, (int)i);                           \
        }                                                                                          \
    }

LOOP_CASE(loop_f32, float, HD_FLOAT32)
LOOP_CASE(loop_f64, double, HD_FLOAT64)
LOOP_CASE(loop_i64, int64_t, HD_INT64)

START_TEST(loops_at_every_length_and_stride)
{
    static const int64_t steps[][3] = {{1, 1, 1}, {1, 1, 0}, {1, 0, 1}, {1, 2, 1},
                                       {2, 1, 1}, {1, 0, 0}, {2, 2, 2}, {2, 0, 1},
                                       {1, 3, 2}, {3, 1, 0}, {2, 2, 0}};
    static const int64_t more[] = {255, 256, 257, 511, 512, 513, MOST}; /* runs are of 256 or 512 */
    for (int op = HDK_ADD; op <= HDK_MINIMUM; op++) {
        for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
            for (size_t l = 0; l <= FEW + sizeof more / sizeof *more; l++) {
                int64_t n = l <= FEW ? (int64_t)l : more[l - FEW - 1];
                loop_f32(op, n, steps[s][0], steps[s][1], steps[s][2]);
                loop_f64(op, n, steps[s][0], steps[s][1], steps[s][2]);
                if (op != HDK_DIV) {
                    loop_i64(op, n, steps[s][0], steps[s][1], steps[s][2]);
                }
            }
        }
    }
}
END_TEST

START_TEST(integers_wrap)
{
    HD_SCOPE;
    hd_tensor *x = hd_empty(HD_INT64, 2);
    hd_set(x, INT64_MAX, 0);
    hd_set(x, INT64_MIN, 1);
    ck_repr(hd_add_scalar(x, 1), "tensor([-9223372036854775808, -9223372036854775807])");
    ck_repr(hd_sub_scalar(x, 1), "tensor([9223372036854775806, 9223372036854775807])");
    ck_repr(hd_mul_scalar(x, 2), "tensor([-2,  0])");
    ck_repr(hd_neg(x), "tensor([-9223372036854775807, -9223372036854775808])");
}
END_TEST

/* d/db 2^b = 2^b ln 2, of float64 where only b is; the logarithm of an int64 alone is a float32. */
/* pow of float32 is within 0.51 units in the last place, and has C's special values, whatever the
 * level is. */
START_TEST(powers_of_float32)
{
    static const float ends[] = {0,
                                 -0.0f,
                                 1,
                                 -1,
                                 2,
                                 -2,
                                 3,
                                 -3,
                                 0.5f,
                                 -0.5f,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 7,
                                 0x1p-149f,
                                 1e38f,
                                 0x1p24f,
                                 -0x1p24f,
                                 -1e-40f,
                                 0x1.8p23f,
                                 1.5f,
                                 8388609.0f,
                                 0x1.fffffep-1f,
                                 0x1.000002p0f,
                                 2.5f,
                                 -2.5f,
                                 33,
                                 127.5f};
    enum { ENDS = sizeof ends / sizeof *ends, N = ENDS * ENDS };
    float a[N], b[N], y[N], baseline[N];
    const int64_t strides[] = {sizeof(float), sizeof(float), sizeof(float)};
    for (int i = 0; i < N; i++) {
        a[i] = ends[i / ENDS];
        b[i] = ends[i % ENDS];
    }
    hdk_binary()->of[HDK_POW][HDK_F32]((char *[]){(char *)y, (char *)a, (char *)b}, strides, N,
                                       NULL);
    hdk_binary_baseline.of[HDK_POW][HDK_F32]((char *[]){(char *)baseline, (char *)a, (char *)b},
                                             strides, N, NULL);
    for (int i = 0; i < N; i++) {
        int e;
        double exact = pow((double)a[i], (double)b[i]);
        float want = (float)exact;
        frexp(exact, &e);
        double off = fabs((double)y[i] - exact) / ldexp(1, (e < -125 ? -125 : e) - 24);
        bool same = isnan(want) ? isnan(y[i]) : want == y[i] && signbit(want) == signbit(y[i]);
        ck_each(same || (isfinite(want) && want != 0 && off <= 0.51), "pow(%a, %a) is %a",
                (double)a[i], (double)b[i], (double)y[i]);
        ck_each(memcmp(&y[i], &baseline[i], sizeof y[i]) == 0 || isnan(want),
                "pow(%a, %a) at the baseline is %a", (double)a[i], (double)b[i],
                (double)baseline[i]);
    }
}
END_TEST

START_TEST(powers_of_integers_have_gradients_of_the_results_dtype)
{
    HD_SCOPE;
    hd_tensor *a = hd_scalar_tensor(HD_INT64, 2);
    hd_tensor *b = hd_requires_grad_(hd_scalar_tensor(HD_FLOAT64, 1), true);
    ck_assert(hd_backward(hd_pow(a, b)));
    ck_assert_double_eq_tol(hd_item(hd_grad(b)), 1.3862943611198906, 1e-15);
    ck_no_error();
}
END_TEST

START_TEST(large_results_do_not_depend_on_threads)
{
    HD_SCOPE;
    hd_tensor *a = hd_arange_as(HD_FLOAT32, 0, 100003, 1), *b = hd_full(HD_FLOAT32, 0.1, 100003);
    int before = hd_num_threads();
    hd_set_num_threads(1);
    hd_tensor *one = hd_mul(a, b);
    hd_set_num_threads(3);
    hd_tensor *three = hd_mul(a, b);
    hd_set_num_threads(before);
    const float *p = hd_data(one), *q = hd_data(three);
    for (int64_t i = 0; i < 100003; i++) {
        ck_assert(p[i] == (float)i * 0.1f && q[i] == p[i]);
    }
}
END_TEST

/* Rows against columns, in a shape whose dims cannot be merged. */
START_TEST(broadcast_against_a_double_loop)
{
    HD_SCOPE;
    hd_tensor *a = hd_view(hd_arange_as(HD_FLOAT64, 0, 30, 1), 5, 1, 6);
    hd_tensor *b = hd_transpose(hd_view(hd_arange_as(HD_FLOAT64, 0, 28, 1), 7, 4), 0, 1);
    b = hd_unsqueeze(b, -1); /* (4, 7, 1) */
    hd_tensor *y = hd_sub(hd_unsqueeze(a, 1), b);
    ck_assert_str_eq(hd_shape_repr(y), "torch.Size([5, 4, 7, 6])");
    for (int64_t i = 0; i < 5; i++) {
        for (int64_t j = 0; j < 4 * 7 * 6; j++) {
            int64_t p = j / 42, q = j / 6 % 7, r = j % 6;
            ck_assert(hd_get(y, i, p, q, r) == (double)(i * 6 + r) - (double)(q * 4 + p));
        }
    }
}
END_TEST

/* ---------------------------------------------------------------- layouts, as PyTorch's */

static hd_tensor *zeros_t(void) /* (3, 2), strides (1, 3) */
{
    return hd_transpose(hd_zeros(HD_FLOAT32, 2, 3), 0, 1);
}

#define ck_strides(x, ...)                                                                         \
    do {                                                                                           \
        const hd_tensor *x_ = (x);                                                                 \
        int64_t want_[] = {__VA_ARGS__};                                                           \
        ck_assert_ptr_nonnull(x_);                                                                 \
        for (int i_ = 0; i_ < hd_ndim(x_); i_++) {                                                 \
            ck_assert_int_eq(hd_stride(x_, i_), want_[i_]);                                        \
        }                                                                                          \
    } while (0)

START_TEST(results_lie_as_their_inputs_do)
{
    HD_SCOPE;
    hd_tensor *row = hd_zeros(HD_FLOAT32, 3, 2), *cube = hd_zeros(HD_FLOAT32, 2, 3, 4);
    ck_strides(hd_add_scalar(zeros_t(), 1), 1, 3);
    ck_strides(hd_add(zeros_t(), zeros_t()), 1, 3);
    ck_strides(hd_add(zeros_t(), row), 1, 3);
    ck_strides(hd_add(row, zeros_t()), 2, 1);
    ck_strides(hd_mul_scalar(hd_permute(cube, 2, 0, 1), 2), 1, 12, 4);
    ck_strides(hd_add_scalar(hd_slice_step(hd_zeros(HD_FLOAT32, 4, 6), 1, 0, HD_END, 2), 1), 3, 1);
    ck_strides(hd_add_scalar(hd_expand(hd_zeros(HD_FLOAT32, 3, 1), 3, 4), 1), 4, 1);
    ck_strides(hd_add(hd_zeros(HD_FLOAT32, 1, 2), zeros_t()), 1, 3);
    ck_strides(hd_add(zeros_t(), hd_zeros(HD_FLOAT64, 3, 2)), 1, 3);
    ck_strides(hd_relu(zeros_t()), 1, 3);
    ck_strides(hd_eq_scalar(zeros_t(), 0), 1, 3);
    ck_strides(hd_where(hd_ones(HD_BOOL, 3, 1), zeros_t(), hd_zeros(HD_FLOAT32, 2)), 1, 3);
    ck_strides(hd_masked_fill(zeros_t(), hd_ones(HD_BOOL, 3, 2), 1), 2, 1);
}
END_TEST

/* ---------------------------------------------------------------- names, errors */

START_TEST(grad_fn_names)
{
    HD_SCOPE;
    hd_tensor *a = hd_requires_grad_(vec(HD_FLOAT32, 1, 2), true);
    ck_assert_str_eq(hd_grad_fn(hd_add(a, a)), "AddBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_sub_scalar(a, 1)), "SubBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_rsub_scalar(a, 1)), "RsubBackward1");
    ck_assert_str_eq(hd_grad_fn(hd_rdiv_scalar(a, 1)), "MulBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_div_scalar(a, 2)), "DivBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_pow_scalar(a, 2)), "PowBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_square(a)), "PowBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_pow(a, a)), "PowBackward1");
    ck_assert_str_eq(hd_grad_fn(hd_maximum(a, a)), "MaximumBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_minimum(a, a)), "MinimumBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_neg(a)), "NegBackward0");
    ck_assert_str_eq(hd_grad_fn(hd_where(hd_gt_scalar(a, 1), a, a)), "WhereBackward0");
}
END_TEST

START_TEST(errors)
{
    HD_SCOPE;
    hd_tensor *a = hd_zeros(HD_FLOAT32, 2, 3), *b = hd_zeros(HD_FLOAT32, 4);
    hd_tensor *i = hd_zeros(HD_INT64, 2), *t = hd_zeros(HD_BOOL, 2);
    ck_assert_ptr_null(hd_add(a, NULL));
    ck_error(HD_NULL_ARG, "hd_add: b is NULL. hd_add_scalar takes a number, such as 0");
    ck_assert_ptr_null(hd_mul(HD_NONE, a));
    ck_error(HD_NULL_ARG, "hd_mul: a is HD_NONE: expected a tensor");
    ck_assert_ptr_null(hd_add(a, b));
    ck_error(HD_SHAPE, "hd_add: (2, 3) and (4,): sizes 3 and 4 at dim -1 do not broadcast");
    ck_assert_ptr_null(hd_where(t, a, b));
    ck_error(HD_SHAPE, "hd_where: (2,) and (2, 3) and (4,): sizes 2 and 3 at dim -1 do not "
                       "broadcast");
    ck_assert_ptr_null(hd_where(i, a, a));
    ck_error(HD_DTYPE, "hd_where: condition of int64: expected bool");
    ck_assert_ptr_null(hd_sub(t, i));
    ck_error(HD_DTYPE,
             "hd_sub: bool and int64: expected no bool. Use hd_logical_xor or hd_logical_not");
    ck_assert_ptr_null(hd_rsub_scalar(t, 1));
    ck_error(HD_DTYPE, "hd_rsub_scalar: bool and a number: expected no bool. Use hd_logical_xor or "
                       "hd_logical_not");
    ck_assert_ptr_null(hd_pow(t, t));
    ck_error(HD_DTYPE, "hd_pow: bool and bool: expected numbers");
    ck_assert_ptr_null(hd_neg(t));
    ck_error(HD_DTYPE, "hd_neg: bool: expected numbers. Use hd_logical_not for bool");
    ck_assert_ptr_null(hd_pow_scalar(i, -2));
    ck_error(HD_VALUE, "hd_pow_scalar: int64 to the power -2: expected an exponent of 0 or more "
                       "for integers");
    ck_assert_ptr_null(hd_neg(hd_add(hd_sub(a, b), a)));
    ck_error(HD_SHAPE, "hd_sub: (2, 3) and (4,): sizes 3 and 4 at dim -1 do not broadcast");
}
END_TEST

#define IS_NUMBER(arg, number, advice)                                                             \
    arg " is the number " number ": expected a tensor. " advice " a number"

#define MAKES "hd_scalar_tensor makes one of"

/* C compilers let hd_mul(x, 2) pass with a warning. */
START_TEST(a_number_in_place_of_a_tensor)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2), *two = (hd_tensor *)(uintptr_t)2,
              *last = (hd_tensor *)(uintptr_t)4095;
    ck_assert_ptr_null(hd_mul(x, two));
    ck_error(HD_VALUE, IS_NUMBER("hd_mul: b", "2", "hd_mul_scalar takes"));
    ck_assert_ptr_null(hd_div_(two, x));
    ck_error(HD_VALUE, IS_NUMBER("hd_div_: x", "2", MAKES));
    ck_assert_ptr_null(hd_div_(x, two));
    ck_error(HD_VALUE, IS_NUMBER("hd_div_: b", "2", "hd_div_scalar_ takes"));
    ck_assert_ptr_null(hd_sub(two, x));
    ck_error(HD_VALUE, IS_NUMBER("hd_sub: a", "2", "hd_sub_scalar takes"));
    ck_assert_ptr_null(hd_setitem(x, two, 1));
    ck_error(HD_VALUE, IS_NUMBER("hd_setitem: value", "2", "hd_setitem_scalar takes"));
    ck_assert_ptr_null(hd_setitem(x, 0, 1)); /* which is NULL */
    ck_error(HD_NULL_ARG, "hd_setitem: value is NULL. hd_setitem_scalar takes a number, such as 0");
    ck_assert_ptr_null(hd_maximum(x, two));
    ck_error(HD_VALUE, IS_NUMBER("hd_maximum: b", "2", MAKES));
    ck_assert_ptr_null(hd_copy_(x, two));
    ck_error(HD_VALUE, IS_NUMBER("hd_copy_: src", "2", MAKES));
    ck_assert_ptr_null(hd_maximum(x, 0));
    ck_error(HD_NULL_ARG, "hd_maximum: b is NULL");
    ck_assert_ptr_null(hd_transpose(last, 0, 1));
    ck_error(HD_VALUE, IS_NUMBER("hd_transpose: x", "4095", MAKES));
    ck_assert_int_eq(hd_numel(two), -1);
    ck_error(HD_VALUE, IS_NUMBER("hd_numel: x", "2", MAKES));
    ck_assert_ptr_null(hd_linear(x, x, two));
    ck_error(HD_VALUE, IS_NUMBER("hd_linear: bias", "2", MAKES));
    ck_assert_ptr_null(hd_cat(0, x, two));
    ck_error(HD_VALUE, IS_NUMBER("hd_list_of: tensors[1]", "2", MAKES));
}
END_TEST

Suite *suite_arith(void)
{
    const TTest *const tests[] = {
        loops_at_every_length_and_stride,
        integers_wrap,
        powers_of_float32,
        powers_of_integers_have_gradients_of_the_results_dtype,
        large_results_do_not_depend_on_threads,
        broadcast_against_a_double_loop,
        results_lie_as_their_inputs_do,
        grad_fn_names,
        errors,
        a_number_in_place_of_a_tensor,
    };
    return SUITE_OF("arith", tests);
}
