/* test_access.c - tests of reading shapes and elements, writing elements, and copies to and from
 * arrays. */
#include "strided.h"
#include "tensor/copy.h"

START_TEST(shapes_are_read)
{
    HD_SCOPE;
    hd_tensor *all = hd_arange(0, 24, 1);
    hd_tensor *x = hd__tensor_alias(all, 3, (int64_t[]){2, 4, 3}, (int64_t[]){12, 1, 4}, 0);
    ck_assert_int_eq(hd_ndim(x), 3);
    ck_assert_int_eq(hd_size(x, 1), 4);
    ck_assert_int_eq(hd_size(x, -1), 3);
    ck_assert_int_eq(hd_stride(x, 1), 1);
    ck_assert_int_eq(hd_stride(x, -3), 12);
    ck_assert_int_eq(hd_sizes(x)[2], 3);
    ck_assert_int_eq(hd_strides(x)[2], 4);
    ck_assert_int_eq(hd_numel(x), 24);
    ck_assert_int_eq(hd_dtype_of(x), HD_INT64);
    ck_assert(!hd_is_contiguous(x) && hd_is_contiguous(all));
    ck_assert(hd_shares_storage(x, all) && !hd_shares_storage(x, hd__tensor_clone(all)));
    hd_tensor *part = hd__tensor_alias(all, 1, (int64_t[]){2}, (int64_t[]){1}, 7);
    ck_assert_int_eq(hd_storage_offset(part), 7);
    ck_assert_ptr_eq(hd_data(part), (const int64_t *)hd_data(all) + 7);
    ck_assert_int_eq(hd_size(x, 3), -1);
    ck_error(HD_INDEX, "hd_size: dim 3 of (2, 4, 3): expected -3 to 2");
    ck_assert(hd_stride(x, -4) == INT64_MIN);
    ck_error(HD_INDEX, "hd_stride: dim -4 of (2, 4, 3): expected -3 to 2");
    hd_tensor *point = hd_scalar_tensor(HD_FLOAT32, 1);
    ck_assert_int_eq(hd_size(point, 0), -1);
    ck_error(HD_INDEX, "hd_size: dim 0 of (): expected a tensor with dimensions");
    ck_assert(hd_stride(point, -1) == INT64_MIN);
    ck_error(HD_INDEX, "hd_stride: dim -1 of (): expected a tensor with dimensions");
}
END_TEST

START_TEST(one_element)
{
    HD_SCOPE;
    ck_assert(hd_item(hd_full(HD_FLOAT32, 0.1, 1, 1)) == (double)0.1f);
    ck_assert(hd_item(hd_scalar_tensor(HD_BOOL, 3)) == 1);
    ck_assert_int_eq(hd_item_int(hd_scalar_tensor(HD_FLOAT64, -2.9)), -2);
    ck_assert(hd_item_int(hd_scalar_tensor(HD_FLOAT64, NAN)) == INT64_MIN);
    ck_assert(hd_item_int(hd_scalar_tensor(HD_FLOAT32, 1e30)) == INT64_MIN);
    ck_assert_int_eq(hd_item_int(hd_scalar_tensor(HD_INT64, INT64_MAX)), INT64_MAX);
    ck_no_error();
    ck_assert(isnan(hd_item(hd_zeros(HD_FLOAT32, 2, 3))));
    ck_error(HD_SHAPE, "hd_item: (2, 3) has 6 elements: expected one");
    ck_assert(hd_item_int(hd_zeros(HD_FLOAT32, 0)) == INT64_MIN);
    ck_error(HD_SHAPE, "hd_item_int: (0,) has 0 elements: expected one");
}
END_TEST

START_TEST(get_and_set)
{
    HD_SCOPE;
    hd_tensor *all = hd_arange_as(HD_FLOAT64, 0, 13, 1);
    hd_tensor *x = hd__tensor_alias(all, 2, (int64_t[]){3, 2}, (int64_t[]){2, 7}, 1);
    ck_elements(x, 1, 8, 3, 10, 5, 12);
    ck_assert(hd_get(x, -1, -2) == 5);
    ck_assert_int_eq(hd_get_int(x, 1, 1), 10);
    ck_assert(hd_set(x, -1.5, 2, -1));
    ck_assert(hd_get(all, 12) == -1.5);
    ck_assert(hd_set(x, 4, 0, 0));
    ck_elements(x, 4, 8, 3, 10, 5, -1.5);
    ck_assert_int_eq(hd_version_of(all), 2);
    hd_tensor *point = hd_scalar_tensor(HD_INT64, 5);
    ck_assert((hd_set_n)(point, hd_scalar_double(2.7), 0, NULL));
    ck_assert(hd_get_n(point, 0, NULL) == 2);
    ck_no_error();
}
END_TEST

START_TEST(get_and_set_refuse)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_INT64, 3, 2), *none = hd_zeros(HD_FLOAT32, 0);
    ck_assert(isnan(hd_get(x, 3, 0)));
    ck_error(HD_INDEX, "hd_get: index 3 at dim 0 of (3, 2): expected -3 to 2");
    ck_assert(hd_get_int(x, 0, -3) == INT64_MIN);
    ck_error(HD_INDEX, "hd_get_int: index -3 at dim 1 of (3, 2): expected -2 to 1");
    ck_assert(isnan(hd_get(x, 1)));
    ck_error(HD_INDEX, "hd_get: 1 indices into (3, 2): expected 2");
    ck_assert(isnan(hd_get_n(x, 2, NULL)));
    ck_error(HD_NULL_ARG, "hd_get: index is NULL");
    ck_assert(isnan(hd_get(none, 0)));
    ck_error(HD_INDEX, "hd_get: index 0 at dim 0 of (0,): expected 0 to -1");
    ck_assert(!hd_set(x, 1, HD_ALL, 0));
    ck_error(HD_INDEX, "hd_set: index -9223372036854775808 at dim 0 of (3, 2): expected -3 to 2");
    ck_assert(!hd_set(x, INFINITY, 0, 0));
    ck_error(HD_VALUE, "hd_set: value inf: expected one that int64 can hold");
    ck_elements(x, 1, 1, 1, 1, 1, 1);
    ck_assert_int_eq(hd_version_of(x), 0);
}
END_TEST

START_TEST(data_pointers)
{
    HD_SCOPE;
    hd_tensor *x = hd_zeros(HD_FLOAT32, 3);
    ck_assert_int_eq(hd_version_of(x), 0);
    ck_assert_ptr_nonnull(hd_data(x));
    ck_assert_int_eq(hd_version_of(x), 0);
    float *p = hd_data_mut(x);
    p[1] = 5;
    ck_assert_int_eq(hd_version_of(x), 1);
    ck_elements(x, 0, 5, 0);
    ck_assert_int_eq((uintptr_t)hd_data(x) % 16, 0);
    ck_assert_int_eq((uintptr_t)hd_data(hd_zeros(HD_FLOAT32, 5000)) % 64, 0);
}
END_TEST

START_TEST(copies_to_and_from_arrays)
{
    dice r = {3};
    for (int round = 0; round < 200; round++) {
        HD_SCOPE;
        int64_t sizes[4];
        int ndim = (int)roll(&r, 5);
        for (int d = 0; d < ndim; d++) {
            sizes[d] = roll(&r, 5);
        }
        hd_tensor *x = strided(&r, HD_INT64, ndim, sizes, false);
        int64_t array[256], n = hd_numel(x);
        ck_assert(hd_copy_to(x, array, (size_t)n * 8));
        for (int64_t i = 0; i < n; i++) {
            ck_assert_int_eq(array[i], place_of(x, i) + 1);
            array[i] *= 10;
        }
        ck_assert(hd_copy_from(x, array, (size_t)n * 8));
        ck_assert_int_eq(hd_version_of(x), 1 + (int64_t)x->storage->nbytes / 8);
        for (int64_t i = 0; i < n; i++) {
            ck_assert(element_at(x, i) == (double)array[i]);
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(arrays_that_do_not_fit)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3);
    float array[6] = {0};
    ck_assert(!hd_copy_to(x, array, 20));
    ck_error(HD_VALUE, "hd_copy_to: an array of 20 bytes for (2, 3) of float32: expected 24 bytes");
    ck_assert(!hd_copy_from(x, array, 48));
    ck_error(HD_VALUE,
             "hd_copy_from: an array of 48 bytes for (2, 3) of float32: expected 24 bytes");
    ck_assert(!hd_copy_from(x, NULL, 24));
    ck_error(HD_NULL_ARG, "hd_copy_from: array is NULL");
    ck_elements(x, 1, 1, 1, 1, 1, 1);
    hd_tensor *wide = hd__tensor_expand(hd_zeros(HD_FLOAT32, 3), 2, (int64_t[]){2, 3});
    ck_assert(hd_copy_to(wide, array, sizeof array));
    ck_assert(!hd_copy_from(wide, array, sizeof array));
    ck_error(HD_STATE, "hd_copy_from: x of (2, 3) is expanded: several elements share memory. "
                       "hd_clone gives each of them its own");
    ck_assert_int_eq(hd_version_of(x), 0);
}
END_TEST

Suite *suite_access(void)
{
    const TTest *const tests[] = {
        shapes_are_read,        one_element,   get_and_set,
        get_and_set_refuse,     data_pointers, copies_to_and_from_arrays,
        arrays_that_do_not_fit,
    };
    return SUITE_OF("access", tests);
}
