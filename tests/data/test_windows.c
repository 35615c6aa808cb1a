/* test_windows.c - compares sliding windows with the book's Python, and random parts with
 * PyTorch. */
#include "suites.h"
#include "support/golden_tensor.h"
#include "support/quarantine.h"

static void check_window(const hd_tensor *got, const golden_record *want, int64_t k, int64_t length)
{
    ck_assert_ptr_nonnull(got);
    ck_assert_int_eq(hd_ndim(got), 1);
    ck_assert_int_eq(hd_numel(got), length);
    for (int64_t i = 0; i < length; i++) {
        ck_assert_int_eq(hd_get_int(got, i), want->i[k * length + i]);
    }
}

static void check_windows(const golden_case *c)
{
    HD_SCOPE;
    int64_t length = golden_int(c, "max_length", 0);
    hd_tokens *t = hd_tokens_from(tensor_of(golden_get(c, "tokens")));
    hd_dataset *s = hd_windows_new(t, length, golden_int(c, "stride", 0));
    hd_tokens_free(t); /* the dataset holds it */
    ck_assert_msg(hd_dataset_len(s) == golden_int(c, "len", -1), "%s", c->name);
    for (int64_t k = 0; k < hd_dataset_len(s); k++) {
        hd_tensor *x, *y; /* (max_length,) */
        ck_assert(hd_dataset_get(s, k, &x, &y));
        check_window(x, golden_get(c, "inputs"), k, length);
        check_window(y, golden_get(c, "targets"), k, length);
    }
    hd_dataset_free(s);
}

START_TEST(windows_as_the_book_cuts_them)
{
    int cases = 0;
    for (int i = 0; i < golden_data()->count; i++) {
        const golden_case *c = &golden_data()->cases[i];
        if (strncmp(c->name, "windows_", 8) == 0) {
            check_windows(c);
            cases++;
        }
    }
    ck_assert_int_eq(cases, 56);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(items)
{
    hd_tokens *t = counted_tokens(10);
    hd_dataset *s = hd_windows_new(t, 4, 3); /* at 0 and 3 */
    hd_tensor *x = NULL, *y = NULL;
    ck_assert_int_eq(hd_dataset_len(s), 2);
    ck_assert(hd_dataset_get(s, -1, &x, NULL));
    ck_elements(x, 3, 4, 5, 6);
    ck_assert(hd_dataset_get(s, -2, NULL, &y));
    ck_elements(y, 1, 2, 3, 4);
    ck_assert(!hd_dataset_get(s, 2, &x, &y));
    ck_error(HD_INDEX, "hd_dataset_get: index 2 of 2 items: expected -2 to 1");
    ck_assert(!hd_dataset_get(s, -3, &x, &y));
    ck_error(HD_INDEX, "hd_dataset_get: index -3 of 2 items: expected -2 to 1");
    ck_assert_ptr_null(hd_windows_new(t, 0, 1));
    ck_error(HD_VALUE, "hd_windows_new: max_length 0, stride 1: expected 1 or more");
    ck_assert_ptr_null(hd_windows_new(t, 4, -1));
    ck_error(HD_VALUE, "hd_windows_new: max_length 4, stride -1: expected 1 or more");
    ck_assert_ptr_null(hd_windows_new(NULL, 4, 1));
    ck_error(HD_NULL_ARG, "hd_windows_new: t is NULL");
    hd_dataset *none = hd_windows_new(t, INT64_MAX, INT64_MAX);
    ck_assert_int_eq(hd_dataset_len(none), 0);
    hd_dataset_free(none);
    hd_dataset_free(s);
    hd_dataset_free(NULL);
    hd_tokens_free(t);
}
END_TEST

/* ---------------------------------------------------------------- random parts */

static hd_dataset *numbers(int64_t n)
{
    hd_tokens *t = counted_tokens(n + 1);
    hd_dataset *s = hd_windows_new(t, 1, 1);
    hd_tokens_free(t);
    return s;
}

static int64_t item(const hd_dataset *s, int64_t i)
{
    HD_SCOPE;
    hd_tensor *x; /* (1,) */
    ck_assert(hd_dataset_get(s, i, &x, NULL));
    return hd_item_int(x);
}

static void check_split(const golden_case *c)
{
    hd_dataset *s = numbers(golden_int(c, "n", 0)), *parts[3];
    const golden_record *lengths = golden_get(c, "lengths"), *items = golden_get(c, "items");
    hd_generator *own = golden_int(c, "own", 0) ? hd_generator_new(456) : NULL;
    hd_manual_seed(123);
    ck_assert(hd_random_split(s, (int)lengths->numel, lengths->i, own, parts));
    hd_dataset_free(s);
    int64_t at = 0;
    for (int64_t k = 0; k < lengths->numel; k++) {
        ck_assert_int_eq(hd_dataset_len(parts[k]), lengths->i[k]);
        for (int64_t i = 0; i < lengths->i[k]; i++) {
            ck_assert_msg(item(parts[k], i) == items->i[at++], "%s", c->name);
        }
        hd_dataset_free(parts[k]);
    }
    uint64_t next = hd_generator_random64(own ? own : hd_default_generator());
    ck_assert_int_eq((int64_t)(next & INT64_MAX), golden_int(c, "next", -1));
    hd_generator_free(own);
}

START_TEST(random_split_as_pytorch)
{
    int cases = 0;
    for (int i = 0; i < golden_data()->count; i++) {
        const golden_case *c = &golden_data()->cases[i];
        if (strncmp(c->name, "split_", 6) == 0) {
            check_split(c);
            cases++;
        }
    }
    ck_assert_int_eq(cases, 8);
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(parts_of_parts)
{
    hd_dataset *s = numbers(20), *half[2], *fifth[2];
    ck_assert(hd_random_split(s, 2, (int64_t[]){10, 10}, NULL, half));
    ck_assert(hd_random_split(half[1], 2, (int64_t[]){4, 6}, NULL, fifth));
    int seen[20] = {0};
    for (int64_t i = 0; i < 10; i++) {
        seen[item(half[0], i)]++;
        seen[i < 4 ? item(fifth[0], i) : item(fifth[1], i - 4)]++;
    }
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(seen[i], 1);
    }
    hd_dataset *const all[] = {s, half[0], half[1], fifth[0], fifth[1]};
    for (int i = 0; i < 5; i++) {
        hd_dataset_free(all[i]);
    }
    ck_assert_int_eq(hd_bytes_live(), 0);
}
END_TEST

START_TEST(refuses_lengths)
{
    hd_dataset *s = numbers(10), *parts[2];
    ck_assert(!hd_random_split(s, 2, (int64_t[]){5, 4}, NULL, parts));
    ck_error(HD_VALUE,
             "hd_random_split: lengths (5, 4): expected numbers of 0 or more with the sum 10");
    ck_assert(!hd_random_split(s, 2, (int64_t[]){11, -1}, NULL, parts));
    ck_error(HD_VALUE,
             "hd_random_split: lengths (11, -1): expected numbers of 0 or more with the sum 10");
    ck_assert(!hd_random_split(s, 2, (int64_t[]){INT64_MAX, INT64_MAX}, NULL, parts));
    ck_assert_int_eq(hd_error_code(), HD_VALUE);
    hd_error_clear();
    ck_assert(!hd_random_split(s, 0, (int64_t[]){10}, NULL, parts));
    ck_error(HD_VALUE,
             "hd_random_split: lengths (): expected numbers of 0 or more with the sum 10");
    hd_dataset_free(s);
}
END_TEST

/* A second free is an error even while somebody else holds the object, which stays as it is. */
START_TEST(freed_twice_while_it_is_held)
{
    HD_SCOPE;
    hd_tokens *t = hd_tokens_from(hd_arange(0, 9, 1));
    hd_dataset *s = hd_windows_new(t, 2, 2);
    hd_loader *l = hd_loader_new(s, NULL);
    hd_tokens_free(t);
    hd_dataset_free(s);
    ck_no_error();
    hd_tokens_free(t);
    ck_error(HD_STATE, "hd_tokens_free: t was freed already, by hd_tokens_free");
    hd_dataset_free(s);
    ck_error(HD_STATE, "hd_dataset_free: s was freed already, by hd_dataset_free");
    hd_tensor *input, *target;
    ck_assert(hd_loader_next(l, &input, &target));
    ck_assert_int_eq(hd_get_int(input, 0, 1), 1);
    hd_loader_free(l);
    if (quarantine_on()) {
        hd_loader_free(l);
        ck_error(HD_STATE, "hd_loader_free: l was freed already, by hd_loader_free");
    }
}
END_TEST

Suite *suite_windows(void)
{
    const TTest *const tests[] = {
        windows_as_the_book_cuts_them,
        items,
        random_split_as_pytorch,
        parts_of_parts,
        refuses_lengths,
        freed_twice_while_it_is_held,
    };
    return SUITE_OF("windows", tests);
}
