/* test_npy.c - tests of .npy files beyond test_verdicts.c: views, sizes, arguments, a file that
 * becomes shorter. */
#include <stdio.h>
#include <string.h>

#include "io/file_elements.h"
#include "suites.h"
#include "tensor/lifecycle.h"

START_TEST(views_are_written_row_major)
{
    HD_SCOPE;
    hd_tensor *x = hd_from_data(HD_FLOAT32, ((float[]){1, 2, 3, 4, 5, 6}), 2, 3); /* (2, 3) */
    int64_t sizes[] = {3, 2}, strides[] = {1, 3};
    ck_assert(hd_save_npy("x", hd__tensor_alias(x, 2, sizes, strides, 0)));
    ck_repr(hd_load_npy("x"), "tensor([[1., 4.],\n        [2., 5.],\n        [3., 6.]])");
}
END_TEST

START_TEST(larger_than_any_buffer)
{
    HD_SCOPE;
    hd_tensor *x = hd_randint(HD_INT64, -1000, 1000, 300, 70, 2); /* (300, 70, 2) */
    ck_assert(hd_save_npy("x", x));
    hd_tensor *y = hd_load_npy("x");
    ck_assert_int_eq(hd_ndim(y), 3);
    ck_assert_mem_eq(hd_data(y), hd_data(x), (size_t)hd_numel(x) * 8);
}
END_TEST

/* A machine with the other byte order writes this way. */
START_TEST(swapped_elements)
{
    static const hd_dtype dtypes[] = {HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL};
    for (int k = 0; k < 4; k++) {
        HD_SCOPE;
        hd_tensor *x = dtypes[k] == HD_BOOL ? hd_ones(HD_BOOL, 9001)
                                            : hd_randint(dtypes[k], -1000, 1000, 9001);
        int64_t width = hd_dtype_size(dtypes[k]), n = 9001 * width;
        unsigned char bytes[9001 * 8];
        const unsigned char *from = hd_data(x);
        hd__file_whole file;
        hd__file_whole_begin(&file, "x");
        hd__io_write_elements(&file, true, x);
        ck_assert(hd__file_whole_end(&file, true));
        FILE *f = fopen("x", "rb");
        ck_assert_uint_eq(fread(bytes, 1, sizeof bytes, f), (size_t)n);
        fclose(f);
        for (int64_t i = 0; i < n; i++) {
            ck_assert_uint_eq(bytes[i], from[i / width * width + width - 1 - i % width]);
        }
    }
    ck_no_error();
}
END_TEST

START_TEST(long_headers)
{
    HD_SCOPE;
    int64_t sizes[] = {0, 1000000, 1000000, 1000, 1, 1, 1, 1};
    ck_assert(hd_save_npy("x", hd_zeros_n(HD_FLOAT32, 8, sizes)));
    hd_tensor *y = hd_load_npy("x");
    ck_assert_str_eq(hd_shape_repr(y), "torch.Size([0, 1000000, 1000000, 1000, 1, 1, 1, 1])");
    size_t n;
    char *bytes = read_file("x", &n);
    ck_assert_uint_eq(n, 128);
    ck_assert_int_eq(bytes[127], '\n');
    free(bytes);
}
END_TEST

/* The largest size, and the two ways in which one more digit does not fit. */
START_TEST(sizes_that_do_not_fit)
{
    static const struct {
        const char *size, *message;
    } rows[] = {
        {"9223372036854775807", "shape (9223372036854775807,) of f4: the size overflows"},
        {"9223372036854775808", "header: byte 69: expected a size that fits int64"},
        {"92233720368547758070", "header: byte 70: expected a size that fits int64"},
    };
    char file[128], message[160];
    for (int i = 0; i < 3; i++) {
        int n =
            snprintf(file + 10, sizeof file - 10,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }\n", rows[i].size);
        memcpy(file, "\x93NUMPY\1\0", 8);
        file[8] = (char)n;
        file[9] = 0;
        write_file("x", file, (size_t)n + 10);
        ck_assert_ptr_null(hd_load_npy("x"));
        snprintf(message, sizeof message, "hd_load_npy: 'x': %s", rows[i].message);
        ck_error(HD_FORMAT, message);
    }
}
END_TEST

START_TEST(arguments)
{
    HD_SCOPE;
    ck_assert_ptr_null(hd_load_npy(NULL));
    ck_error(HD_NULL_ARG, "hd_load_npy: path is NULL");
    ck_assert_ptr_null(hd_load_npy("none"));
    ck_error(HD_IO, "hd_load_npy: 'none': cannot open: No such file or directory");
    ck_assert(!hd_save_npy(NULL, hd_ones(HD_BOOL, 1)));
    ck_error(HD_NULL_ARG, "hd_save_npy: path is NULL");
    ck_assert(!hd_save_npy("x", NULL));
    ck_error(HD_NULL_ARG, "hd_save_npy: x is NULL");
    ck_assert(!hd_save_npy("x", HD_NONE));
    ck_error(HD_NULL_ARG, "hd_save_npy: x is HD_NONE: expected a tensor");
    ck_assert_int_eq(files_in("."), 0);
}
END_TEST

Suite *suite_npy(void)
{
    const TTest *const tests[] = {
        views_are_written_row_major,
        larger_than_any_buffer,
        swapped_elements,
        long_headers,
        sizes_that_do_not_fit,
        arguments,
    };
    return SUITE("npy", tests);
}
