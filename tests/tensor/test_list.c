/* test_list.c - tests of lists of tensors: their items, their lifetime, their errors. */
#include "suites.h"

START_TEST(holds_in_order)
{
    hd_tensor *a = hd_ones(HD_FLOAT32, 1), *b = hd_zeros(HD_INT64, 2);
    hd_list *l = hd_list_of(a, HD_NONE, b);
    ck_assert_int_eq(hd_list_len(l), 3);
    ck_assert_ptr_eq(hd_list_get(l, 0), a);
    ck_assert_ptr_eq(hd_list_get(l, 1), HD_NONE);
    ck_assert_ptr_eq(hd_list_get(l, 2), b);
    ck_assert_ptr_eq(hd_list_get(l, -1), b);
    ck_assert_ptr_eq(hd_list_get(l, -3), a);
    ck_assert_int_eq(hd_list_len(hd_list_n(0, NULL)), 0);
}
END_TEST

START_TEST(keeps_its_tensors_alive)
{
    hd_scope *outer = hd_scope_open();
    hd_list *l;
    {
        HD_SCOPE;
        hd_tensor *x = hd_scope_return(hd_full(HD_FLOAT32, 7, 1));
        hd_retain(x);
        hd_list *inner = hd_list_of(x, x);
        hd_release(x);
        ck_assert_int_eq(atomic_load(&x->refs), 3); /* one hold of the scope and two of the list */
        ck_assert_int_eq(hd_list_len(inner), 2);
    }
    {
        hd_tensor *x;
        {
            HD_SCOPE;
            x = hd_retain(hd_full(HD_FLOAT32, 7, 1));
        }
        l = hd_list_of(x);
        hd_release(x);
        ck_assert_int_eq(atomic_load(&x->refs), 1);
    }
    ck_assert(hd_item(hd_list_get(l, 0)) == 7);
    hd_scope_close(outer);
    ck_assert_int_eq(hd_tensor_count(), 0);
    ck_assert_int_eq(hd_scope_count(), 0);
}
END_TEST

START_TEST(errors)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 1);
    int64_t owned = hd_scope_count();
    ck_assert_ptr_null(hd_list_of(x, NULL, x));
    ck_error(HD_NULL_ARG, "hd_list_of: tensors[1] is NULL: expected a tensor or HD_NONE");
    ck_assert_ptr_null(hd_list_n(-1, &x));
    ck_error(HD_VALUE, "hd_list_of: -1 tensors: expected 0 or more");
    ck_assert_ptr_null(hd_list_n(1, NULL));
    ck_error(HD_NULL_ARG, "hd_list_of: tensors is NULL");
    ck_assert_int_eq(hd_scope_count(), owned);
    ck_assert_int_eq(atomic_load(&x->refs), 1);

    hd_list *l = hd_list_of(x, x);
    ck_assert_ptr_null(hd_list_get(l, 2));
    ck_error(HD_INDEX, "hd_list_get: index 2 of 2 tensors: expected -2 to 1");
    ck_assert_ptr_null(hd_list_get(l, -3));
    ck_error(HD_INDEX, "hd_list_get: index -3 of 2 tensors: expected -2 to 1");
    ck_assert_ptr_null(hd_list_get(NULL, 0));
    ck_error(HD_NULL_ARG, "hd_list_get: l is NULL");
    ck_assert_int_eq(hd_list_len(NULL), -1);
    ck_error(HD_NULL_ARG, "hd_list_len: l is NULL");

    hd_error_set(HD_USER, "earlier");
    ck_assert_ptr_null(hd_list_of(NULL)); /* a chain that failed: the first error stays */
    ck_error(HD_USER, "earlier");
}
END_TEST

START_TEST(out_of_memory)
{
    scarce s = {.left = -1};
    scarce_use(&s);
    hd_scope *scope = hd_scope_open();
    hd_tensor *x = hd_ones(HD_FLOAT32, 1);
    s.left = 0;
    ck_assert_ptr_null(hd_list_of(x, x));
    ck_assert_int_eq(hd_error_code(), HD_MEMORY);
    hd_error_clear();
    ck_assert_int_eq(atomic_load(&x->refs), 1);
    hd_scope_close(scope);
    ck_assert_int_eq(s.blocks, 0);
    scarce_end();
}
END_TEST

Suite *suite_list(void)
{
    const TTest *const tests[] = {holds_in_order, keeps_its_tensors_alive, errors, out_of_memory};
    return SUITE_OF("list", tests);
}
