/* test_cxx.cc - tests of heed from C++: the macros of lists and numbers, scopes, a user's op. */
#include <heed/heed.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(lists_take_any_integer)
{
    size_t n = 2;
    unsigned char c = 3;
    short s = 1;
    enum { FOUR = 4 };
    hd_tensor *x = hd_zeros(HD_FLOAT32, n, c, s, FOUR); /* (2, 3, 1, 4) */
    ck_assert_str_eq(hd_shape_repr(x), "torch.Size([2, 3, 1, 4])");
    ck_assert_str_eq(hd_shape_repr(hd_ones(HD_INT64, 2ull)), "torch.Size([2])");
    ck_assert_str_eq(hd_shape_repr(hd_view(x, n * c, -1)), "torch.Size([6, 4])");
    ck_assert_str_eq(hd_shape_repr(hd_reshape(x, 24)), "torch.Size([24])");
    ck_assert_str_eq(hd_shape_repr(hd_permute(x, 3, 0, 1, 2)), "torch.Size([4, 2, 3, 1])");
    ck_assert_str_eq(hd_shape_repr(hd_expand(x, -1, -1, 5L, -1)), "torch.Size([2, 3, 5, 4])");
    ck_assert_str_eq(hd_shape_repr(hd_empty(HD_BOOL, 1, 0)), "torch.Size([1, 0])");
    ck_assert_str_eq(hd_shape_repr(hd_rand(HD_FLOAT32, 2, 2)), "torch.Size([2, 2])");
    ck_assert_str_eq(hd_shape_repr(hd_randn(HD_FLOAT64, 2, 2)), "torch.Size([2, 2])");
    ck_assert_str_eq(hd_repr(hd_randint(HD_INT64, 7, 8, 2)), "tensor([7, 7])");
    ck_assert_str_eq(hd_repr(hd_sum_dims(x, true, 0, -1)),
                     "tensor([[[[0.]],\n\n         [[0.]],\n\n         [[0.]]]])");
    ck_assert_int_eq(hd_error_code(), HD_OK);
}
END_TEST

START_TEST(data_and_elements)
{
    float data[] = {1, 2, 3, 4, 5, 6};
    hd_tensor *x = hd_from_data(HD_FLOAT32, data, 2, 3);
    hd_tensor *w = hd_wrap(HD_FLOAT32, data, nullptr, nullptr, 3, 2);
    int i = 0;
    ck_assert(hd_get(x, i++, 2) == 3); /* an argument is evaluated once */
    ck_assert_int_eq(i, 1);
    ck_assert(hd_set(x, 7, 1, -1));
    ck_assert(hd_set(x, 0.5f, 0, 0));
    ck_assert_int_eq(hd_get_int(x, 1, 2), 7);
    ck_assert(hd_get(w, 2, 1) == 6);
    ck_assert_str_eq(hd_repr(hd_getitem(x, 1)), "tensor([4., 5., 7.])");
    ck_assert_str_eq(hd_repr(hd_getitem(x, HD_ALL, 0)), "tensor([0.5000, 4.0000])");
    ck_assert_ptr_eq(hd_setitem(x, hd_ones(HD_FLOAT32, 3), 0), x);
    ck_assert_ptr_eq(hd_setitem_scalar(x, true, 1, 1), x);
    ck_assert_str_eq(hd_repr(x), "tensor([[1., 1., 1.],\n        [4., 1., 7.]])");
}
END_TEST

START_TEST(lists_go_from_left_to_right)
{
    hd_manual_seed(7);
    hd_module *m = hd_sequential(hd_linear_new(2, 3, true), hd_linear_new(3, 1, true));
    hd_tensor *both = hd_cat(0, hd_rand(HD_FLOAT32, 1), hd_rand(HD_FLOAT32, 1));
    hd_manual_seed(7);
    hd_module *first = hd_linear_new(2, 3, true);
    hd_module *last = hd_linear_new(3, 1, true);
    ck_assert(
        hd_equal(hd_module_get_parameter(m, "0.weight"), hd_module_get_parameter(first, "weight")));
    ck_assert(
        hd_equal(hd_module_get_parameter(m, "1.bias"), hd_module_get_parameter(last, "bias")));
    ck_assert(hd_equal(hd_slice(both, 0, 0, 1), hd_rand(HD_FLOAT32, 1)));
    int i = 1;
    auto next = [&i] { return i++; };
    ck_assert_str_eq(hd_shape_repr(hd_zeros(HD_FLOAT32, next(), next())), "torch.Size([1, 2])");
    hd_module_free(m);
    hd_module_free(first);
    hd_module_free(last);
    ck_assert_int_eq(hd_error_code(), HD_OK);
}
END_TEST

static void check_refused(const hd_tensor *x, const char *message)
{
    ck_assert_ptr_null(x);
    ck_assert_str_eq(hd_error_message(), message);
    hd_error_clear();
}

/* What does not compile is tested by tests/checks/check_refused. */
START_TEST(arrays_of_each_type)
{
    static const float f[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int64_t i[] = {1, 2};
    bool b[] = {true, false};
    double cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    const double *pointer = cube[1][0];
    float v[] = {1.5f, 1.5f, 1.5f}, *start = v;
    ck_assert_str_eq(hd_repr(hd_tensor_of(f, 6)), "tensor([1., 2., 3., 4., 5., 6.])");
    ck_assert_str_eq(hd_repr(hd_tensor_of(i, 2)), "tensor([1, 2])");
    ck_assert_str_eq(hd_repr(hd_tensor_of(b, 2)), "tensor([ True, False])");
    ck_assert_str_eq(hd_repr(hd_tensor_of(start, sizeof v / sizeof *v)),
                     "tensor([1.5000, 1.5000, 1.5000])");
    ck_assert_str_eq(hd_repr(hd_tensor_of(pointer++, 2)), "tensor([5., 6.], dtype=torch.float64)");
    ck_assert(*pointer == 6); /* an argument is evaluated once */
    int64_t n = 2;
    ck_assert_str_eq(hd_repr(hd_tensor_of_n(i, 1, &n)), "tensor([1, 2])");
    static const uint8_t bytes[][2] = {{0, 255}, {1, 2}};
    int labels[] = {5, -1};
    short shorts[] = {-7};
    ck_assert_str_eq(hd_repr(hd_tensor_of(bytes, 4)), "tensor([  0, 255,   1,   2])");
    ck_assert_str_eq(hd_repr(hd_tensor_of(labels, 2)), "tensor([ 5, -1])");
    ck_assert_str_eq(hd_repr(hd_tensor_of(shorts, 1)), "tensor([-7])");
    ck_assert_int_eq(hd_error_code(), HD_OK);

    int ints[] = {1, 2};
    float *rows[] = {v};
    check_refused(hd_from_data(HD_INT64, ints, 2),
                  "hd_from_data: HD_INT64 and an array of int: expected an array of int64_t");
    check_refused(hd_from_data(HD_FLOAT32, cube, 2),
                  "hd_from_data: HD_FLOAT32 and an array of double: expected an array of float");
    check_refused(hd_from_data(HD_FLOAT64, f, n),
                  "hd_from_data: HD_FLOAT64 and an array of float: expected an array of double");
    check_refused(hd_wrap(HD_FLOAT32, rows, nullptr, nullptr, 1),
                  "hd_wrap: HD_FLOAT32 and an array of pointers: expected an array of float");
    const float *const readers[] = {v};
    check_refused(hd_from_data(HD_FLOAT32, readers, 1),
                  "hd_from_data: HD_FLOAT32 and an array of pointers: expected an array of float");
    char *names[] = {nullptr};
    check_refused(hd_from_data(HD_BOOL, names, 1),
                  "hd_from_data: HD_BOOL and an array of pointers: expected an array of bool");
    check_refused(hd_from_data(HD_INT64, i, 3),
                  "hd_from_data: (3,) of int64 needs 24 bytes: the array has 16 bytes");
    check_refused(hd_tensor_of(f, 7),
                  "hd_tensor_of: (7,) of float32 needs 28 bytes: the array has 24 bytes");
}
END_TEST

template <class T> static void check_integer(T v)
{
    hd_scalar s = hd_scalar_of(v);
    ck_assert(s.is_int && s.v.i == 1);
}

template <class T> static void check_double(T v)
{
    hd_scalar s = hd_scalar_of(v);
    ck_assert(!s.is_int && s.v.d == 1.5);
}

START_TEST(scalars_of_every_type)
{
    check_integer(true);
    check_integer('\1');
    check_integer(static_cast<signed char>(1));
    check_integer(static_cast<unsigned char>(1));
    check_integer(static_cast<short>(1));
    check_integer(static_cast<unsigned short>(1));
    check_integer(1);
    check_integer(1u);
    check_integer(1l);
    check_integer(1ul);
    check_integer(1ll);
    check_integer(1ull);
    check_integer(HD_NULL_ARG);
    check_integer(hd_scalar_int(1));
    check_double(1.5f);
    check_double(1.5);
    check_double(1.5l);
    check_double(hd_scalar_double(1.5));

    ck_assert_str_eq(hd_repr(hd_arange(0, 6, 2)), "tensor([0, 2, 4])");
    ck_assert_str_eq(hd_repr(hd_arange(0, 1.5, 0.5f)), "tensor([0.0000, 0.5000, 1.0000])");
    ck_assert_str_eq(hd_repr(hd_arange_as(HD_INT64, 3, 0, -1)), "tensor([3, 2, 1])");
    hd_tensor *x = hd_full(HD_FLOAT32, 3, 2);
    ck_assert_str_eq(hd_repr(hd_full_like(x, HD_INT64, 2.5)), "tensor([2, 2])");
    ck_assert_str_eq(hd_repr(hd_scalar_tensor(HD_INT64, 5ul)), "tensor(5)");
    ck_assert_str_eq(hd_repr(hd_add_scalar(x, 1)), "tensor([4., 4.])");
    ck_assert_str_eq(hd_repr(hd_rdiv_scalar(x, 1.5)), "tensor([0.5000, 0.5000])");
    ck_assert_str_eq(hd_repr(hd_clamp(x, 0, 2.5f)), "tensor([2.5000, 2.5000])");
    ck_assert_str_eq(hd_repr(hd_gt_scalar(x, 2)), "tensor([True, True])");
    ck_assert_ptr_eq(hd_mul_scalar_(x, 2), x);
    ck_assert_ptr_eq(hd_masked_fill_(x, hd_gt_scalar(x, 5), -1), x);
    ck_assert_str_eq(hd_repr(x), "tensor([-1., -1.])");
}
END_TEST

START_TEST(tensors_in_a_row)
{
    hd_tensor *a = hd_ones(HD_INT64, 2), *b = hd_zeros(HD_INT64, 2);
    ck_assert_str_eq(hd_list_repr(hd_list_of(a, HD_NONE, b)),
                     "[tensor([1, 1]), None, tensor([0, 0])]");
    ck_assert_str_eq(hd_repr(hd_cat(0, a, b, a)), "tensor([1, 1, 0, 0, 1, 1])");
    ck_assert_str_eq(hd_repr(hd_stack(1, a, b)), "tensor([[1, 0],\n        [1, 0]])");
    hd_module *m = hd_sequential(hd_relu_new(false), hd_relu_new(false));
    ck_assert_str_eq(hd_repr(hd_forward(m, hd_full(HD_FLOAT32, -1, 2))), "tensor([0., 0.])");
    hd_module_free(m);
}
END_TEST

static int64_t leave_by(const char *how)
{
    HD_SCOPE;
    hd_zeros(HD_FLOAT32, 1);
    if (strcmp(how, "throw") == 0) {
        throw 1;
    }
    for (;;) {
        HD_SCOPE;
        hd_zeros(HD_FLOAT32, 2);
        if (strcmp(how, "break") == 0) {
            break;
        }
        return hd_scope_count();
    }
    return hd_scope_count();
}

START_TEST(scopes_close_however_left)
{
    int64_t before = hd_scope_count();
    ck_assert_int_eq(leave_by("return"), before + 2);
    ck_assert_int_eq(leave_by("break"), before + 1);
    try {
        leave_by("throw");
        ck_abort_msg("nothing was thrown");
    } catch (int) {
    }
    ck_assert_int_eq(hd_scope_count(), before);
    {
        HD_NO_GRAD;
        ck_assert(!hd_grad_mode());
    }
    ck_assert(hd_grad_mode());
    {
        HD_NO_INIT;
        ck_assert(!hd_set_init_mode(false));
    }
    ck_assert(hd_set_init_mode(true));
}
END_TEST

static hd_tensor *my_loss(hd_tensor *x)
{
    HD_CALL("my_loss");
    if (hd_ndim(x) == 0) {
        throw 1;
    }
    if (hd_ndim(x) == 1) {
        return static_cast<hd_tensor *>(hd_fail(HD_SHAPE, "x of %d dimension", hd_ndim(x)));
    }
    return hd_matmul(x, x);
}

START_TEST(calls_have_names)
{
    my_loss(hd_ones(HD_FLOAT32, 2, 3));
    ck_assert_str_eq(hd_error_message(),
                     "my_loss: hd_matmul: (2, 3) and (2, 3): inner sizes 3 and 2 differ");
    hd_error_clear();
    my_loss(hd_ones(HD_FLOAT32, 3));
    ck_assert_str_eq(hd_error_message(), "my_loss: x of 1 dimension");
    hd_error_clear();
    try {
        my_loss(hd_scalar_tensor(HD_FLOAT32, 1));
        ck_abort_msg("nothing was thrown");
    } catch (int) {
    }
    hd_size(hd_ones(HD_FLOAT32, 2), 5);
    ck_assert_str_eq(hd_error_message(), "hd_size: dim 5 of (2,): expected -1 to 0");
    hd_error_clear();
}
END_TEST

static bool square_forward(hd_ctx *ctx, hd_tensor *const *x, hd_tensor **y)
{
    y[0] = hd_mul(x[0], x[0]);
    return hd_save(ctx, x[0]);
}

static void square_backward(hd_ctx *ctx, hd_tensor *const *gy, hd_tensor **gx)
{
    gx[0] = hd_mul(gy[0], hd_mul_scalar(hd_saved(ctx, 0), 2)); /* dx = dy 2x */
}

START_TEST(users_op)
{
    static const hd_op square = {sizeof(hd_op), "Square", square_forward, square_backward, nullptr};
    hd_tensor *x = hd_requires_grad_(hd_full(HD_FLOAT32, 3, 2), true);
    hd_tensor *y = hd_apply(&square, nullptr, x);
    ck_assert_str_eq(hd_repr(y), "tensor([9., 9.], grad_fn=<SquareBackward>)");
    ck_assert(hd_backward(hd_sum(y)));
    ck_assert_str_eq(hd_repr(hd_grad(x)), "tensor([6., 6.])");
}
END_TEST

START_TEST(warnings_reach_a_lambda)
{
    int heard = 0;
    hd_on_warning([](const char *, void *user) { ++*static_cast<int *>(user); }, &heard);
    hd_tensor *input = hd_ones(HD_FLOAT32, 4, 1), *target = hd_ones(HD_FLOAT32, 4);
    hd_mse_loss(input, target);
    hd_on_warning(nullptr, nullptr);
    hd_mse_loss(input, target);
    ck_assert_int_eq(heard, 1);
    ck_assert_int_eq(hd_error_code(), HD_OK);
}
END_TEST

static void warning_unexpected(const char *message, void *)
{
    ck_abort_msg("a warning that the test does not expect: %s", message);
}

int main()
{
    hd_on_warning(warning_unexpected, nullptr);
    Suite *suite = suite_create("cxx");
    TCase *tests = tcase_create("cxx");
    tcase_add_test(tests, lists_take_any_integer);
    tcase_add_test(tests, lists_go_from_left_to_right);
    tcase_add_test(tests, data_and_elements);
    tcase_add_test(tests, arrays_of_each_type);
    tcase_add_test(tests, scalars_of_every_type);
    tcase_add_test(tests, tensors_in_a_row);
    tcase_add_test(tests, scopes_close_however_left);
    tcase_add_test(tests, calls_have_names);
    tcase_add_test(tests, users_op);
    tcase_add_test(tests, warnings_reach_a_lambda);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
