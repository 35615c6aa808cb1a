/* test_dict.c - tests of the ordered dictionary: order, kinds, many names, ownership, errors. */
#include "suites.h"

#include <math.h>

START_TEST(keeps_the_order_of_insertion)
{
    hd_dict *d = hd_dict_new();
    ck_assert_int_eq(hd_dict_len(d), 0);
    ck_assert(hd_dict_set_int(d, "step", 3));
    ck_assert(hd_dict_set_double(d, "lr", 0.1));
    ck_assert(hd_dict_set_string(d, "name", "adamw"));
    ck_assert(hd_dict_set_int(d, "step", 4)); /* keeps its place */
    ck_assert(hd_dict_set_string(d, "lr", "as text"));
    ck_assert_int_eq(hd_dict_len(d), 3);
    ck_assert_str_eq(hd_dict_name(d, 0), "step");
    ck_assert_str_eq(hd_dict_name(d, 1), "lr");
    ck_assert_str_eq(hd_dict_name(d, 2), "name");
    ck_assert_str_eq(hd_dict_name(d, -3), "step");

    ck_assert(hd_dict_remove(d, "step"));
    ck_assert_int_eq(hd_dict_kind_of(d, "step"), HD_DICT_MISSING);
    ck_assert(hd_dict_set_int(d, "step", 5)); /* comes last now */
    ck_assert_str_eq(hd_dict_name(d, 0), "lr");
    ck_assert_str_eq(hd_dict_name(d, 1), "name");
    ck_assert_str_eq(hd_dict_name(d, 2), "step");
    ck_assert_str_eq(hd_dict_get_string(d, "lr"), "as text");
    hd_dict_free(d);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(kinds)
{
    hd_dict *d = hd_dict_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 2);
    ck_assert(hd_dict_set(d, "t", x));
    ck_assert(hd_dict_set_string(d, "s", ""));
    ck_assert(hd_dict_set_int(d, "i", INT64_MIN));
    ck_assert(hd_dict_set_double(d, "d", -INFINITY));
    ck_assert_int_eq(hd_dict_kind_of(d, "t"), HD_DICT_TENSOR);
    ck_assert_int_eq(hd_dict_kind_of(d, "s"), HD_DICT_STRING);
    ck_assert_int_eq(hd_dict_kind_of(d, "i"), HD_DICT_INT);
    ck_assert_int_eq(hd_dict_kind_of(d, "d"), HD_DICT_DOUBLE);
    ck_assert_int_eq(hd_dict_kind_of(d, "T"), HD_DICT_MISSING);
    ck_assert_int_eq(hd_error_code(), HD_OK);

    int64_t i = 0;
    double v = 0;
    ck_assert_ptr_eq(hd_dict_get(d, "t"), x);
    ck_assert_str_eq(hd_dict_get_string(d, "s"), "");
    ck_assert(hd_dict_get_int(d, "i", &i) && i == INT64_MIN);
    ck_assert(hd_dict_get_double(d, "d", &v) && v == -INFINITY);
    ck_assert(hd_dict_get_double(d, "i", &v) && v == -0x1p63);
    ck_assert(hd_dict_get_int(d, "i", NULL) && hd_dict_get_double(d, "d", NULL));
    hd_dict_free(d);
}
END_TEST

START_TEST(copies_texts)
{
    hd_dict *d = hd_dict_new();
    char name[] = "name", text[] = "text";
    ck_assert(hd_dict_set_string(d, name, text));
    const char *held = hd_dict_name(d, 0);
    memset(name, 'x', 4);
    memset(text, 'x', 4);
    ck_assert_str_eq(hd_dict_get_string(d, "name"), "text");
    ck_assert(hd_dict_set_string(d, "name", hd_dict_get_string(d, "name")));
    for (int i = 0; i < 100; i++) { /* growth moves no name */
        snprintf(name, sizeof name, "%d", i);
        ck_assert(hd_dict_set_int(d, name, i));
    }
    ck_assert_ptr_eq(held, hd_dict_name(d, 0));
    ck_assert_str_eq(hd_dict_get_string(d, "name"), "text");
    ck_assert(hd_dict_remove(d, held)); /* its own copy of the name */
    ck_assert_int_eq(hd_dict_len(d), 100);
    hd_dict_free(d);
}
END_TEST

START_TEST(many_names)
{
    enum { N = 20000 };
    hd_dict *d = hd_dict_new();
    char name[40];
    int64_t v;
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        ck_assert(hd_dict_set_int(d, name, i));
    }
    for (int i = 0; i < N; i += 97) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        ck_assert(hd_dict_remove(d, name));
    }
    for (int i = 0, place = 0; i < N; i++) {
        snprintf(name, sizeof name, "layers.%d.weight", i);
        if (i % 97 == 0) {
            ck_assert_int_eq(hd_dict_kind_of(d, name), HD_DICT_MISSING);
        } else {
            ck_assert(hd_dict_get_int(d, name, &v) && v == i);
            ck_assert_str_eq(hd_dict_name(d, place++), name);
        }
    }
    ck_assert_int_eq(hd_dict_len(d), N - (N + 96) / 97);
    hd_dict_free(d);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(retains_its_tensors)
{
    hd_dict *d = hd_dict_new();
    {
        HD_SCOPE;
        ck_assert(hd_dict_set(d, "w", hd_full(HD_FLOAT32, 3, 1)));
        ck_assert(hd_dict_set(d, "v", hd_full(HD_FLOAT32, 4, 1)));
        ck_assert(hd_dict_set(d, "u", hd_full(HD_FLOAT32, 5, 1)));
    }
    ck_assert_int_eq(hd_tensor_count(), 3);
    ck_assert(hd_item(hd_dict_get(d, "w")) == 3);
    ck_assert(hd_dict_set(d, "w", hd_dict_get(d, "w"))); /* only the dictionary holds it */
    ck_assert(hd_item(hd_dict_get(d, "w")) == 3);
    ck_assert_int_eq(atomic_load(&hd_dict_get(d, "w")->refs), 1);
    ck_assert(hd_dict_set_int(d, "w", 1));
    ck_assert_int_eq(hd_tensor_count(), 2);
    ck_assert(hd_dict_remove(d, "v"));
    ck_assert_int_eq(hd_tensor_count(), 1);
    hd_dict_free(d);
    ck_assert_int_eq(hd_tensor_count(), 0);
    hd_dict_free(NULL);
    hd_dict_free((hd_dict *)(void *)HD_NONE);
    ck_assert_int_eq(hd_error_code(), HD_OK);
}
END_TEST

START_TEST(errors)
{
    hd_dict *d = hd_dict_new();
    hd_tensor *x = hd_ones(HD_FLOAT32, 1);
    int64_t i = 7;
    double v = 7;
    ck_assert(hd_dict_set_double(d, "lr", 0.1));
    ck_assert(hd_dict_set_string(d, "s", "text"));
    ck_assert_ptr_null(hd_dict_get(d, "W_query.weight"));
    ck_error(
        HD_VALUE,
        "hd_dict_get: 'W_query.weight' is missing: expected a tensor. No name in d has a prefix");
    ck_assert_ptr_null(hd_dict_get(d, "lr"));
    ck_error(HD_VALUE, "hd_dict_get: 'lr' is a double: expected a tensor");
    ck_assert_ptr_null(hd_dict_get_string(d, "lr"));
    ck_error(HD_VALUE, "hd_dict_get_string: 'lr' is a double: expected a string");
    ck_assert(!hd_dict_get_int(d, "lr", &i) && i == 7);
    ck_error(HD_VALUE, "hd_dict_get_int: 'lr' is a double: expected an integer");
    ck_assert(!hd_dict_get_double(d, "s", &v) && v == 7);
    ck_error(HD_VALUE, "hd_dict_get_double: 's' is a string: expected a double");
    ck_assert(!hd_dict_remove(d, "z"));
    ck_error(HD_VALUE, "hd_dict_remove: 'z' is missing: expected a name in d");
    ck_assert_ptr_null(hd_dict_name(d, 2));
    ck_error(HD_INDEX, "hd_dict_name: index 2 of 2 names: expected -2 to 1");
    ck_assert(!hd_dict_set_int(d, "", 1));
    ck_error(HD_VALUE, "hd_dict_set_int: an empty name: expected some text");

    ck_assert(!hd_dict_set(d, NULL, x));
    ck_error(HD_NULL_ARG, "hd_dict_set: name is NULL");
    ck_assert(!hd_dict_set(d, "lr", NULL));
    ck_error(HD_NULL_ARG, "hd_dict_set: t is NULL");
    ck_assert(!hd_dict_set(d, "lr", HD_NONE));
    ck_error(HD_NULL_ARG, "hd_dict_set: t is HD_NONE: expected a tensor");
    ck_assert(!hd_dict_set(NULL, "lr", x));
    ck_error(HD_NULL_ARG, "hd_dict_set: d is NULL");
    ck_assert(!hd_dict_set_string(d, "lr", NULL));
    ck_error(HD_NULL_ARG, "hd_dict_set_string: text is NULL");
    ck_assert_int_eq(hd_dict_len(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_dict_len: d is NULL");
    ck_assert_int_eq(hd_dict_kind_of(NULL, "a"), HD_DICT_MISSING);
    ck_error(HD_NULL_ARG, "hd_dict_kind_of: d is NULL");
    ck_assert_int_eq(hd_dict_len(d), 2);
    ck_assert(hd_dict_get_double(d, "lr", &v) && v == 0.1);
    ck_assert_int_eq(atomic_load(&x->refs), 1);
    hd_dict_free(d);
}
END_TEST

/* Sets nine names, so that both arrays grow. Every allocation fails once. */
START_TEST(out_of_memory)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    scarce s = {.left = -1};
    scarce_use(&s);
    int64_t failures = 0;
    for (bool done = false; !done; failures += !done) {
        s.left = failures;
        hd_dict *d = hd_dict_new();
        int64_t n = 0;
        while (d && n < 9 && hd_dict_set_string(d, names[n], "text")) {
            n++;
        }
        s.left = -1;
        done = n == 9;
        ck_assert_int_eq(hd_error_code(), done ? HD_OK : HD_MEMORY);
        hd_error_clear();
        for (int64_t i = 0; i < n; i++) {
            ck_assert_str_eq(hd_dict_name(d, i), names[i]);
        }
        ck_assert(!d || hd_dict_len(d) == n);
        hd_dict_free(d);
        ck_assert_int_eq(s.blocks, 0);
    }
    ck_assert_int_eq(failures, 1 + 2 + 2 + 9 * 2);
    scarce_end();
}
END_TEST

Suite *suite_dict(void)
{
    const TTest *const tests[] = {
        keeps_the_order_of_insertion, kinds,  copies_texts,  many_names,
        retains_its_tensors,          errors, out_of_memory,
    };
    return SUITE_OF("dict", tests);
}
