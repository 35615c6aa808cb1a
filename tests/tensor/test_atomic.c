/* test_atomic.c - tests that a call that fails, because of an earlier error or a size that
 * overflows, changes nothing. */
#include "suites.h"
#include "support/support.h"
#include "tensor/copy.h"
#include "tensor/dict.h"
#include "tensor/lifecycle.h"

START_TEST(a_generator_is_not_saved_while_an_error_stands)
{
    hd_dict *d = hd_dict_new();
    hd_error_set(HD_USER, "an error");
    ck_assert(!hd_generator_save(hd_default_generator(), d, ""));
    ck_assert_int_eq(hd_dict_len(d), 0);
    ck_error(HD_USER, "an error");
    ck_assert(hd_generator_save(hd_default_generator(), d, ""));
    ck_no_error();
    hd_dict_free(d);
}
END_TEST

START_TEST(a_commit_replaces_adds_and_removes)
{
    hd_dict *d = hd_dict_new(), *fresh = hd_dict_new();
    ck_assert(hd_dict_set_int(d, "a", 1) && hd_dict_set_string(d, "b", "old") &&
              hd_dict_set(d, "c", hd_ones(HD_FLOAT32, 2)) && hd_dict_set_int(d, "e", 5));
    hd_tensor *t = hd_zeros(HD_FLOAT32, 3);
    ck_assert(hd_dict_set(fresh, "b", t) && hd__dict_set_removed(fresh, "a") &&
              hd__dict_set_removed(fresh, "never there"));
    for (int i = 0; i < 40; i++) { /* more than d has room for */
        char name[8];
        snprintf(name, sizeof name, "n%d", i);
        ck_assert(hd_dict_set_int(fresh, name, i));
    }
    ck_assert(hd__dict_commit(d, fresh, true));
    ck_assert_int_eq(hd_dict_len(d), 43);
    ck_assert_str_eq(hd_dict_name(d, 0), "b");
    ck_assert_str_eq(hd_dict_name(d, 3), "n0");
    ck_assert_ptr_eq(hd_dict_get(d, "b"), t);
    ck_assert_int_eq(hd_dict_kind_of(d, "a"), HD_DICT_MISSING);
    int64_t v;
    ck_assert(hd_dict_get_int(d, "n39", &v) && v == 39 && hd_dict_get_int(d, "e", &v) && v == 5);
    fresh = hd_dict_new();
    ck_assert(hd_dict_set_int(fresh, "e", 6) && !hd__dict_commit(d, fresh, false));
    ck_assert(hd_dict_get_int(d, "e", &v) && v == 5);
    ck_no_error();
    hd_dict_free(d);
}
END_TEST

/* ---------------------------------------------------------------- sizes in bytes */

/* An expanded tensor may have more elements than memory has bytes. */
static hd_tensor *endless(hd_dtype d)
{
    return hd__tensor_alias(hd_ones(d, 1), 1, (int64_t[]){INT64_C(1) << 62}, (int64_t[]){0}, 0);
}

START_TEST(bytes_that_overflow_are_refused)
{
    _Alignas(8) float b[4] = {1, 2, 3, 4};
    ck_assert(!hd_copy_to(endless(HD_FLOAT32), b, 0));
    ck_error(HD_MEMORY, "hd_copy_to: (4611686018427387904,) of float32: the size overflows");
    ck_assert(!hd_copy_to(endless(HD_FLOAT64), b, 0));
    ck_error(HD_MEMORY, "hd_copy_to: (4611686018427387904,) of float64: the size overflows");
    ck_assert(!hd_copy_from(endless(HD_FLOAT32), b, 0));
    ck_error(HD_MEMORY, "hd_copy_from: (4611686018427387904,) of float32: the size overflows");
    ck_assert_msg(b[0] == 1 && b[3] == 4, "something was written");
    ck_assert_ptr_null(hd__tensor_clone(endless(HD_FLOAT32)));
    ck_error(HD_MEMORY, "(4611686018427387904,) of float32: the size overflows");
    ck_assert_ptr_null(hd__tensor_contiguous(endless(HD_INT64)));
    ck_error(HD_MEMORY, "(4611686018427387904,) of int64: the size overflows");
    ck_assert_ptr_null(hd_wrap_n(HD_FLOAT64, b, NULL, NULL, 1, (int64_t[]){INT64_C(1) << 61}));
    ck_error(HD_MEMORY, "hd_wrap: (2305843009213693952,) of float64: the size overflows");
    size_t bytes;
    ck_assert(!hd__arg_bytes(-1, 4, &bytes) && !hd__arg_bytes(INT64_MAX, 2, &bytes));
    ck_assert(hd__arg_bytes(3, 4, &bytes) && bytes == 12 && hd__arg_bytes(0, 8, &bytes) &&
              bytes == 0);
    ck_assert_ptr_null(hd__arg_alloc_items(INT64_C(1) << 60, 16));
    ck_error(HD_MEMORY, "hd_alloc: 1152921504606846976 times 16 bytes: the size overflows");
}
END_TEST

Suite *suite_atomic(void)
{
    const TTest *const tests[] = {
        a_generator_is_not_saved_while_an_error_stands,
        a_commit_replaces_adds_and_removes,
        bytes_that_overflow_are_refused,
    };
    return SUITE_OF("atomic", tests);
}
