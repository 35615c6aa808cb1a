/* test_from_c.c - tests of tensors from C arrays: the type and the number of the elements.
 * tests/checks/check_refused tests the calls that must not compile. */
#include <limits.h>

#include "tensor/suites.h"

/* The macros as a program meets them where the dtype is a variable. */
#define REFUSED(d, array, name, type, expected)                                                    \
    do {                                                                                           \
        hd_dtype variable = (d);                                                                   \
        hd_tensor *x = hd_from_data(variable, array, 1);                                           \
        ck_assert_ptr_null(x);                                                                     \
        ck_error(HD_DTYPE, "hd_from_data: " name " and an array of " type                          \
                           ": expected an array of " expected);                                    \
        x = hd_wrap(variable, array, NULL, NULL, 1);                                               \
        ck_assert_ptr_null(x);                                                                     \
        ck_error(HD_DTYPE,                                                                         \
                 "hd_wrap: " name " and an array of " type ": expected an array of " expected);    \
    } while (0)
#define OF_TYPE(type, name)                                                                        \
    do {                                                                                           \
        type array[8] = {0};                                                                       \
        REFUSED(HD_FLOAT32, array, "HD_FLOAT32", name, "float");                                   \
        REFUSED(HD_FLOAT64, array, "HD_FLOAT64", name, "double");                                  \
        REFUSED(HD_INT64, array, "HD_INT64", name, "int64_t");                                     \
    } while (0)
#define NOR_BOOL(type, name)                                                                       \
    do {                                                                                           \
        type array[8] = {0};                                                                       \
        OF_TYPE(type, name);                                                                       \
        REFUSED(HD_BOOL, array, "HD_BOOL", name, "bool");                                          \
    } while (0)

START_TEST(another_type_is_refused)
{
    HD_SCOPE;
    OF_TYPE(char, "char");
    OF_TYPE(signed char, "signed char");
    OF_TYPE(unsigned char, "unsigned char");
    NOR_BOOL(short, "short");
    NOR_BOOL(unsigned short, "unsigned short");
    NOR_BOOL(int, "int");
    NOR_BOOL(unsigned, "unsigned int");
    NOR_BOOL(unsigned long, "unsigned long");
    NOR_BOOL(unsigned long long, "unsigned long long");
    NOR_BOOL(long double, "long double");
    float f[2] = {0};
    REFUSED(HD_FLOAT64, f, "HD_FLOAT64", "float", "double");
    REFUSED(HD_INT64, f, "HD_INT64", "float", "int64_t");
    REFUSED(HD_BOOL, f, "HD_BOOL", "float", "bool");
    double d[2] = {0};
    REFUSED(HD_FLOAT32, d, "HD_FLOAT32", "double", "float");
    int64_t i[2] = {0};
    REFUSED(HD_FLOAT64, i, "HD_FLOAT64", "int64_t", "double");
    long long ll[2] = {0};
    REFUSED(HD_FLOAT32, ll, "HD_FLOAT32", "int64_t", "float");
    bool b[2] = {0};
    REFUSED(HD_INT64, b, "HD_INT64", "bool", "int64_t");
    float *rows[] = {f, f};
    REFUSED(HD_FLOAT32, rows, "HD_FLOAT32", "pointers", "float");
    float *const fixed_rows[] = {f, f};
    const float *const readers[] = {f, f};
    hd_dtype variable = HD_FLOAT32;
    ck_assert_ptr_null(hd_from_data(variable, fixed_rows, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT32 and an array of pointers: expected an array of float");
    ck_assert_ptr_null(hd_from_data(variable, readers, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT32 and an array of pointers: expected an array of float");
    bool *flags[] = {b, b};
    REFUSED(HD_BOOL, flags, "HD_BOOL", "pointers", "bool");
    char name[] = "name", *names[] = {name};
    REFUSED(HD_BOOL, names, "HD_BOOL", "pointers", "bool");
    ck_no_error();
}
END_TEST

START_TEST(dims_and_const_do_not_hide_a_type)
{
    HD_SCOPE;
    hd_dtype d = HD_FLOAT64;
    const float one[3] = {1}, two[2][3] = {{1}}, three[2][3][4] = {{{1}}};
    const float *pointer = one;
    const float *rows[] = {one, one};
    ck_assert_ptr_null(hd_from_data(d, one, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT64 and an array of float: expected an array of double");
    ck_assert_ptr_null(hd_from_data(d, two, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT64 and an array of float: expected an array of double");
    ck_assert_ptr_null(hd_from_data(d, three, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT64 and an array of float: expected an array of double");
    ck_assert_ptr_null(hd_from_data(d, pointer + 1, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT64 and an array of float: expected an array of double");
    ck_assert_ptr_null(hd_from_data(d, rows, 1));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT64 and an array of pointers: expected an array of double");
    int64_t n = 1;
    ck_assert_ptr_null(hd_from_data(d, three[1], n));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT64 and an array of float: expected an array of double");
    float variable[3] = {1};
    ck_assert_ptr_null(hd_wrap(d, variable, NULL, NULL, n));
    ck_error(HD_DTYPE, "hd_wrap: HD_FLOAT64 and an array of float: expected an array of double");
}
END_TEST

START_TEST(a_fitting_type_is_taken)
{
    HD_SCOPE;
    float f[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    ck_elements(hd_from_data(HD_FLOAT32, f, 2, 4), 1, 2, 3, 4, 5, 6, 7, 8);
    ck_elements(hd_from_data(HD_FLOAT32, f[1], 4), 5, 6, 7, 8);
    ck_elements(hd_from_data(HD_FLOAT32, &f[1][0][1], 3), 6, 7, 8);
    ck_elements(hd_wrap(HD_FLOAT32, f, NULL, NULL, 8), 1, 2, 3, 4, 5, 6, 7, 8);
    ck_elements(hd_from_data(HD_FLOAT64, ((const double[]){1.5, 2}), 2), 1.5, 2);
#if LONG_MAX == INT64_MAX
    ck_elements(hd_from_data(HD_INT64, ((long[]){1, 2}), 2), 1, 2);
#endif
    ck_elements(hd_from_data(HD_INT64, ((long long[]){1, 2}), 2), 1, 2);
    ck_elements(hd_from_data(HD_BOOL, ((bool[]){1, 0}), 2), 1, 0);
    ck_elements(hd_from_data(HD_BOOL, ((uint8_t[]){2, 0}), 2), 1, 0);
    ck_elements(hd_from_data(HD_BOOL, ((char[]){2, 0}), 2), 1, 0);
    ck_elements(hd_from_data(HD_BOOL, ((signed char[]){-1, 0}), 2), 1, 0);
    hd_dtype variable = HD_FLOAT32;
    ck_elements(hd_from_data(variable, f[0], 2), 1, 2);
    int64_t n = 2;
    ck_elements(hd_from_data_n(HD_FLOAT32, f, 1, &n), 1, 2);
    ck_elements(hd_from_data_n(HD_FLOAT32, (float[]){5, 6}, 1, (int64_t[]){2}), 5, 6);
    ck_elements(hd_wrap_n(HD_FLOAT32, f, NULL, NULL, 1, (int64_t[]){2}), 1, 2);
    ck_no_error();
}
END_TEST

/* Arrays that go on past the end of their struct's type, the second after padding. */
__extension__ static struct {
    int n;
    float x[];
} filled = {3, {1, 2, 3}};
__extension__ static struct {
    double d;
    char c;
    float x[];
} padded = {0, 0, {1, 2, 3, 4, 5}};

START_TEST(flexible_array_members)
{
    HD_SCOPE;
    ck_elements(hd_from_data(HD_FLOAT32, filled.x, 3), 1, 2, 3);
    ck_elements(hd_from_data(HD_FLOAT32, &filled.x[1], 2), 2, 3);
    ck_elements(hd_from_data(HD_FLOAT32, padded.x, 5), 1, 2, 3, 4, 5);
    ck_elements(hd_wrap(HD_FLOAT32, padded.x, NULL, NULL, 5), 1, 2, 3, 4, 5);
    ck_no_error();
}
END_TEST

/* What the compiler does not know is taken: void *, structs, what another file declares. */
START_TEST(unknown_types_are_taken)
{
    HD_SCOPE;
    struct {
        float x, y;
    } points[] = {{1, 2}, {3, 4}};
    void *raw = points;
    const void *fixed = points;
    ck_elements(hd_from_data(HD_FLOAT32, points, 2, 2), 1, 2, 3, 4);
    ck_elements(hd_from_data(HD_FLOAT32, raw, 3), 1, 2, 3);
    ck_elements(hd_from_data(HD_FLOAT32, fixed, 3), 1, 2, 3);
    ck_elements(hd_from_data(HD_FLOAT32, raw ? raw : NULL, 1), 1);
    ck_no_error();
}
END_TEST

START_TEST(an_array_that_is_too_short)
{
    HD_SCOPE;
    float f[] = {1, 2, 3, 4, 5};
    ck_elements(hd_from_data(HD_FLOAT32, f, 5), 1, 2, 3, 4, 5);
    ck_assert_ptr_null(hd_from_data(HD_FLOAT32, f, 2, 3));
    ck_error(HD_VALUE, "hd_from_data: (2, 3) of float32 needs 24 bytes: the array has 20 bytes");
    ck_assert_ptr_null(hd_from_data(HD_FLOAT32, &f[3], 3));
    ck_error(HD_VALUE, "hd_from_data: (3,) of float32 needs 12 bytes: the array has 8 bytes");
    ck_assert_ptr_null(hd_wrap(HD_FLOAT32, f, NULL, NULL, 6));
    ck_error(HD_VALUE, "hd_wrap: (6,) of float32 needs 24 bytes: the array has 20 bytes");
    int64_t id = 7;
    ck_assert_ptr_null(hd_from_data(HD_INT64, &id, 2));
    ck_error(HD_VALUE, "hd_from_data: (2,) of int64 needs 16 bytes: the array has 8 bytes");
    ck_assert_ptr_null(hd_from_data_checked(HD_FLOAT32, f, HD_C_OTHER, 8, 1, (int64_t[]){3}));
    ck_error(HD_VALUE, "hd_from_data: (3,) of float32 needs 12 bytes: the array has 8 bytes");
    ck_assert_int_eq(hd_numel(hd_from_data(HD_FLOAT32, f, 0)), 0);

    /* Sizes that are wrong in themselves have their own errors. */
    ck_assert_ptr_null(hd_from_data(HD_FLOAT32, f, 8, -1));
    ck_error(HD_SHAPE, "hd_from_data: (8, -1): expected sizes of 0 or more");
    ck_assert_ptr_null(hd_from_data(HD_FLOAT32, f, INT64_MAX, 9));
    ck_error(HD_MEMORY, "hd_from_data: (9223372036854775807, 9) of float32: the size overflows");
    ck_assert_ptr_null(hd_from_data(HD_FLOAT32, f, 9, 1, 1, 1, 1, 1, 1, 1, 1));
    ck_error(HD_SHAPE, "hd_from_data: 9 dimensions: expected 0 to 8");
}
END_TEST

/* The dtype is the array's. */
START_TEST(tensor_of_an_array)
{
    HD_SCOPE;
    ck_repr(hd_tensor_of(((float[]){0.43f, 0.15f, 0.89f}), 3), "tensor([0.4300, 0.1500, 0.8900])");
    ck_repr(hd_tensor_of(((double[]){1, 2}), 2), "tensor([1., 2.], dtype=torch.float64)");
    ck_repr(hd_tensor_of(((bool[]){1, 0}), 2), "tensor([ True, False])");
    ck_repr(hd_tensor_of(((long long[]){5, 6}), 1, 2), "tensor([[5, 6]])");
    static const int64_t cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    ck_repr(hd_tensor_of(cube, 8), "tensor([1, 2, 3, 4, 5, 6, 7, 8])");
    ck_repr(hd_tensor_of(cube[1], 2, 2), "tensor([[5, 6],\n        [7, 8]])");
    const int64_t *pointer = &cube[1][0][0];
    ck_repr(hd_tensor_of(pointer + 1, 2), "tensor([6, 7])");
    int64_t sizes[] = {4, 2};
    ck_repr(hd_tensor_of_n(cube, 1, sizes), "tensor([1, 2, 3, 4])");
    ck_repr(hd_tensor_of_n(cube, 2, (int64_t[]){1, 2}), "tensor([[1, 2]])");
    int n = 3;
    float variable[n];
    for (int i = 0; i < n; i++) {
        variable[i] = (float)i;
    }
    ck_elements(hd_tensor_of(variable, n), 0, 1, 2);
    ck_assert_ptr_null(hd_tensor_of(variable, n + 1));
    ck_error(HD_VALUE, "hd_tensor_of: (4,) of float32 needs 16 bytes: the array has 12 bytes");
    ck_assert_ptr_null(hd_tensor_of(((float[]){1, 2}), 3));
    ck_error(HD_VALUE, "hd_tensor_of: (3,) of float32 needs 12 bytes: the array has 8 bytes");
    ck_assert_ptr_null(hd_tensor_of(((double[2][2]){{1, 2}, {3, 4}}), 5));
    ck_error(HD_VALUE, "hd_tensor_of: (5,) of float64 needs 40 bytes: the array has 32 bytes");
    const float *none = NULL;
    ck_assert_ptr_null(hd_tensor_of(none, 3));
    ck_error(HD_NULL_ARG, "hd_tensor_of: array is NULL");
    ck_assert_ptr_null(hd_tensor_of(variable, -1));
    ck_error(HD_SHAPE, "hd_tensor_of: (-1,): expected sizes of 0 or more");
}
END_TEST

/* As the bytes of MNIST's pictures, and labels. */
START_TEST(tensor_of_shorter_integers)
{
    HD_SCOPE;
    static const uint8_t pixels[2][2][2] = {{{0, 255}, {128, 1}}, {{2, 3}, {4, 5}}};
    const int labels[] = {5, -1, INT32_MAX}, (*pointer)[3] = &labels;
    hd_tensor *x = hd_tensor_of(pixels, 2, 4);
    ck_assert_int_eq(hd_dtype_of(x), HD_INT64);
    ck_elements(x, 0, 255, 128, 1, 2, 3, 4, 5);
    ck_elements(hd_tensor_of(pixels[1], 4), 2, 3, 4, 5);
    ck_elements(hd_tensor_of(labels, 3), 5, -1, INT32_MAX);
    ck_elements(hd_tensor_of(*pointer + 1, 2), -1, INT32_MAX);
    ck_elements(hd_tensor_of(((int8_t[]){-128, 127}), 2), -128, 127);
    ck_elements(hd_tensor_of(((short[]){-32768, 7}), 2), -32768, 7);
    ck_elements(hd_tensor_of(((uint16_t[]){65535}), 1), 65535);
    ck_elements(hd_tensor_of(((int32_t[]){INT32_MIN}), 1), INT32_MIN);
    ck_elements(hd_tensor_of(((uint32_t[]){UINT32_MAX}), 1), UINT32_MAX);
    const long longs[] = {-3, INT32_MIN}; /* the macro says HD_C_LONG where long has 32 bits */
    const int64_t two = 2;
    ck_elements(hd_tensor_of(longs, 2), -3, INT32_MIN);
    ck_elements(hd_tensor_of_checked(longs, HD_C_LONG, sizeof longs, 1, &two), -3, INT32_MIN);
    ck_repr(hd_tensor_of(labels, 0), "tensor([], dtype=torch.int64)");
    ck_no_error();
    ck_assert_ptr_null(hd_tensor_of(labels, 4));
    ck_error(HD_VALUE, "hd_tensor_of: (4,) of int needs 16 bytes: the array has 12 bytes");
    ck_assert_ptr_null(hd_tensor_of(labels, -1));
    ck_error(HD_SHAPE, "hd_tensor_of: (-1,): expected sizes of 0 or more");
}
END_TEST

START_TEST(types_that_are_none)
{
    HD_SCOPE;
    float f[] = {1, 2};
    int64_t n = 2;
    ck_assert_ptr_null(hd_tensor_of_checked(f, HD_C_CHAR, 8, 1, &n));
    ck_error(HD_DTYPE, "hd_tensor_of: an array of char: expected float, double, bool or integers "
                       "that int64_t holds");
    ck_assert_ptr_null(hd_tensor_of_checked(f, HD_C_OTHER, 8, 1, &n));
    ck_error(HD_DTYPE, "hd_tensor_of: an array of another type: expected float, double, bool or "
                       "integers that int64_t holds");
    ck_assert_ptr_null(hd_tensor_of_checked(f, (hd_c_type)17, 8, 1, &n));
    ck_error(HD_VALUE, "hd_tensor_of: hd_c_type 17: expected 0 to 16");
    ck_assert_ptr_null(hd_from_data_checked(HD_FLOAT32, f, (hd_c_type)17, 8, 1, &n));
    ck_error(HD_VALUE, "hd_from_data: hd_c_type 17: expected 0 to 16");
    ck_assert_ptr_null(hd_wrap_checked((hd_dtype)5, f, HD_C_FLOAT, 8, NULL, NULL, 1, &n));
    ck_error(HD_DTYPE,
             "hd_wrap: dtype 5: expected HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL or HD_BFLOAT16");
}
END_TEST

/* Its bits are those of a uint16_t. */
START_TEST(bfloat16_from_its_bits)
{
    HD_SCOPE;
    uint16_t bits[] = {0x3f80, 0xc000, 0x7f80};
    int64_t n = 3;
    ck_elements(hd_from_data(HD_BFLOAT16, bits, 3), 1, -2, INFINITY);
    hd_tensor *x = hd_wrap(HD_BFLOAT16, bits, NULL, NULL, 3);
    ck_assert(hd_set(x, 3.1416, 0));
    ck_assert_int_eq(bits[0], 0x4049);
    ck_no_error();
    ck_assert_ptr_null(hd_from_data_checked(HD_BFLOAT16, bits, HD_C_SHORT, 6, 1, &n));
    ck_error(
        HD_DTYPE,
        "hd_from_data: HD_BFLOAT16 and an array of short: expected an array of unsigned short");
    ck_assert_ptr_null(hd_from_data_checked(HD_FLOAT32, bits, HD_C_USHORT, 6, 1, &n));
    ck_error(HD_DTYPE,
             "hd_from_data: HD_FLOAT32 and an array of unsigned short: expected an array of float");
}
END_TEST

/* The check of a list's items evaluates nothing. */
START_TEST(items_are_evaluated_once)
{
    HD_SCOPE;
    int64_t next[] = {0};
    hd_tensor *x = hd_zeros(HD_FLOAT32, ++next[0], ++next[0], ++next[0]);
    ck_assert_str_eq(hd_shape_repr(x), "torch.Size([1, 2, 3])");
    const float *f = (float[]){1, 2, 3};
    hd_tensor *y = hd_from_data(HD_FLOAT32, f++, 1), *z = hd_tensor_of(f++, 1);
    ck_elements(y, 1);
    ck_elements(z, 2);
    ck_no_error();
}
END_TEST

Suite *suite_from_c(void)
{
    const TTest *const tests[] = {
        another_type_is_refused, dims_and_const_do_not_hide_a_type, a_fitting_type_is_taken,
        flexible_array_members,  unknown_types_are_taken,           an_array_that_is_too_short,
        tensor_of_an_array,      tensor_of_shorter_integers,        types_that_are_none,
        bfloat16_from_its_bits,  items_are_evaluated_once,
    };
    return SUITE_OF("from_c", tests);
}
