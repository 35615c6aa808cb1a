/* test_scope.c - tests of scopes, every way to leave them, references, threads, wrapped memory:
 * nothing leaks and nothing is freed too early. Every count is compared with its earlier value. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "suites.h"
#include "support/quarantine.h"
#include "tensor/lifecycle.h"

static int64_t tensors_before, bytes_before, owned_before;

static void note_counts(void)
{
    hd_item(hd_ones(HD_FLOAT32, 1)); /* what a program makes once exists now */
    tensors_before = hd_tensor_count();
    bytes_before = hd_bytes_live();
    owned_before = hd_scope_count();
}

static void check_counts(void)
{
    ck_no_error();
    ck_assert_int_eq(hd_tensor_count(), tensors_before);
    ck_assert_int_eq(hd_scope_count(), owned_before);
    ck_assert_int_eq(hd_bytes_live(), bytes_before);
}

/* ---------------------------------------------------------------- ways out of a block */

START_TEST(left_by_its_end)
{
    {
        HD_SCOPE;
        hd_ones(HD_FLOAT32, 2, 3);
        ck_assert_int_eq(hd_scope_count(), owned_before + 1);
        hd_zeros(HD_FLOAT64, 500); /* larger than a cached block */
        ck_assert_int_eq(hd_scope_count(), owned_before + 2);
        ck_assert_int_eq(hd_tensor_count(), tensors_before + 2);
        ck_assert_int_gt(hd_bytes_live(), bytes_before + 4000);
    }
}
END_TEST

START_TEST(left_by_break_and_continue)
{
    for (int i = 0; i < 5; i++) {
        HD_SCOPE;
        hd_ones(HD_FLOAT32, 3);
        ck_assert_int_eq(hd_scope_count(), owned_before + 1);
        if (i == 1) {
            continue;
        }
        if (i == 3) {
            break;
        }
        hd_ones(HD_FLOAT32, 3);
    }
}
END_TEST

static double returns_early(int way)
{
    HD_SCOPE;
    hd_tensor *a = hd_full(HD_FLOAT64, 2, 2);
    if (way == 1) {
        HD_SCOPE;
        hd_tensor *b = hd_full(HD_FLOAT64, 3, 2);
        return hd_get(b, 0);
    }
    return hd_get(a, 1);
}

START_TEST(left_by_return)
{
    ck_assert(returns_early(0) == 2);
    ck_assert(returns_early(1) == 3);
}
END_TEST

START_TEST(left_by_goto)
{
    int rounds = 0;
again : {
    HD_SCOPE;
    hd_ones(HD_FLOAT32, 1);
    {
        HD_SCOPE;
        hd_ones(HD_FLOAT32, 1);
        if (++rounds < 4) {
            goto again;
        }
        goto out;
    }
}
out:
    ck_assert_int_eq(rounds, 4);
}
END_TEST

START_TEST(nested_scopes_close_inside_out)
{
    HD_SCOPE;
    hd_tensor *a = hd_ones(HD_FLOAT32, 1);
    {
        HD_SCOPE;
        hd_ones(HD_FLOAT32, 1);
        {
            HD_SCOPE;
            hd_ones(HD_FLOAT32, 1);
            ck_assert_int_eq(hd_scope_count(), owned_before + 3);
        }
        ck_assert_int_eq(hd_scope_count(), owned_before + 2);
    }
    ck_assert_int_eq(hd_scope_count(), owned_before + 1);
    ck_assert(hd_item(a) == 1);
}
END_TEST

/* ---------------------------------------------------------------- moving out */

static hd_tensor *twice_outwards(void)
{
    HD_SCOPE;
    hd_tensor *y;
    {
        HD_SCOPE;
        hd_ones(HD_FLOAT32, 1);
        y = hd_scope_return(hd_full(HD_FLOAT32, 7, 1));
        hd_ones(HD_FLOAT32, 1);
    }
    ck_assert_int_eq(hd_scope_count(), owned_before + 2);
    return hd_scope_return(y);
}

START_TEST(returned_results_live_in_the_scope_around)
{
    HD_SCOPE;
    hd_tensor *kept = hd_ones(HD_FLOAT32, 1);
    hd_tensor *y = twice_outwards();
    ck_assert(hd_item(y) == 7);
    ck_assert_int_eq(hd_scope_count(), owned_before + 2);
    {
        HD_SCOPE; /* what this scope does not own stays where it is */
        ck_assert_ptr_eq(hd_scope_return(kept), kept);
        ck_assert_ptr_eq(hd_scope_return(HD_NONE), HD_NONE);
        ck_assert_ptr_null(hd_scope_return(NULL));
    }
    ck_assert(hd_item(kept) == 1);
    ck_no_error();
}
END_TEST

START_TEST(a_result_returned_from_the_middle_of_many)
{
    HD_SCOPE;
    hd_tensor *y[3];
    {
        HD_SCOPE;
        for (int i = 0; i < 3; i++) {
            y[i] = hd_full(HD_FLOAT32, i, 1);
        }
        hd_scope_return(y[1]);
        hd_scope_return(y[2]);
        hd_scope_return(y[0]);
    }
    ck_assert_int_eq(hd_scope_count(), owned_before + 3);
    ck_assert(hd_item(y[0]) == 0 && hd_item(y[1]) == 1 && hd_item(y[2]) == 2);
}
END_TEST

/* ---------------------------------------------------------------- scopes by hand */

START_TEST(closing_an_outer_scope_closes_the_inner_ones)
{
    hd_scope *outer = hd_scope_open();
    hd_ones(HD_FLOAT32, 1);
    hd_scope_open();
    hd_ones(HD_FLOAT32, 1);
    hd_scope_open();
    hd_ones(HD_FLOAT32, 1);
    hd_scope_close(outer);
    hd_scope_close(NULL);
    ck_no_error();
}
END_TEST

static void *close_foreign(void *scope)
{
    hd_ones(HD_FLOAT32, 1);
    hd_scope_close(scope);
    ck_assert_str_eq(hd_error_message(),
                     "hd_scope_close: s is not a scope that is open on this thread. Close each "
                     "scope once, on the thread that opened it");
    ck_assert_int_eq(hd_error_code(), HD_STATE);
    return NULL;
}

START_TEST(closed_and_foreign_scopes_are_errors)
{
    hd_scope *s = hd_scope_open();
    hd_tensor *a = hd_ones(HD_FLOAT32, 1);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, close_foreign, s), 0);
    pthread_join(thread, NULL);
    ck_assert(hd_item(a) == 1);
    hd_scope_close(s);
    hd_scope_close(s);
    ck_error(HD_STATE, "hd_scope_close: s is not a scope that is open on this thread. Close each "
                       "scope once, on the thread that opened it");
}
END_TEST

/* ---------------------------------------------------------------- holders */

START_TEST(retained_tensors_outlive_their_scope)
{
    hd_tensor *a;
    {
        HD_SCOPE;
        a = hd_retain(hd_full(HD_FLOAT32, 4, 2));
        ck_assert_ptr_eq(hd_retain(a), a);
    }
    ck_assert_int_eq(hd_tensor_count(), tensors_before + 1);
    ck_assert_int_eq(hd_scope_count(), owned_before);
    hd_release(a);
    ck_assert(hd_get(a, 1) == 4);
    hd_release(a);
}
END_TEST

START_TEST(release_without_retain_takes_it_out_of_its_scope)
{
    HD_SCOPE;
    hd_tensor *a = hd_ones(HD_FLOAT32, 1), *b = hd_ones(HD_FLOAT32, 1);
    hd_tensor *c = hd_ones(HD_FLOAT32, 1);
    hd_release(b);
    ck_assert_int_eq(hd_scope_count(), owned_before + 2);
    ck_assert_int_eq(hd_tensor_count(), tensors_before + 2);
    hd_release(c);
    hd_release(a);
    ck_assert_int_eq(hd_tensor_count(), tensors_before);
    hd_release(NULL);
    hd_release(HD_NONE);
    ck_no_error();
}
END_TEST

/* A list holds a tensor itself: the caller's release gives up the scope's hold, not the list's. */
START_TEST(release_never_gives_up_what_heed_holds)
{
    HD_SCOPE;
    hd_list *l;
    hd_tensor *a;
    {
        HD_SCOPE;
        hd_tensor *outer = hd_ones(HD_FLOAT32, 3);
        a = hd_full(HD_FLOAT32, 5, 1);
        l = hd_list_of(a, outer);
        ck_assert_int_eq(hd_list_len(l), 2);
        hd_release(a);
        ck_assert(hd_item(hd_list_get(l, 0)) == 5);
        hd_release(a);
        ck_error(HD_STATE, "hd_release: a tensor of (1,): no hd_retain is left to undo, and no "
                           "scope holds it. Call hd_release once for each hd_retain");
        ck_assert(hd_item(hd_list_get(l, 0)) == 5);
    }
}
END_TEST

START_TEST(assign_holds_and_lets_go)
{
    hd_tensor *slot = NULL;
    {
        HD_SCOPE;
        ck_assert(hd_assign(&slot, hd_full(HD_FLOAT32, 1, 1)));
        ck_assert(hd_assign(&slot, hd_full(HD_FLOAT32, 2, 1)));
        ck_assert(hd_assign(&slot, slot));
    }
    ck_assert(hd_item(slot) == 2);
    ck_assert_int_eq(hd_tensor_count(), tensors_before + 1);
    ck_assert(!hd_assign(&slot, NULL));
    ck_error(HD_NULL_ARG, "hd_assign: t is NULL: expected a tensor or HD_NONE");
    ck_assert(hd_item(slot) == 2);
    ck_assert(!hd_assign(NULL, slot));
    ck_error(HD_NULL_ARG, "hd_assign: slot is NULL");
    ck_assert(hd_assign(&slot, HD_NONE));
    ck_assert_ptr_eq(slot, HD_NONE);
    ck_assert(hd_assign(&slot, HD_NONE));
    {
        HD_SCOPE; /* the slot has it already, but a scope alone holds it */
        slot = hd_full(HD_FLOAT32, 3, 1);
        ck_assert(hd_assign(&slot, slot));
    }
    ck_assert(hd_item(slot) == 3);
    ck_assert(hd_assign(&slot, slot));
    ck_assert(hd_assign(&slot, HD_NONE));
    ck_assert_int_eq(hd_tensor_count(), tensors_before);
}
END_TEST

START_TEST(storage_lives_as_long_as_any_view)
{
    hd_tensor *alias;
    {
        HD_SCOPE;
        hd_tensor *a = hd_from_data(HD_FLOAT32, ((float[]){1, 2, 3}), 3);
        alias = hd_retain(hd__tensor_alias(a, 1, (int64_t[]){2}, (int64_t[]){1}, 1));
        ck_assert(hd_shares_storage(a, alias));
    }
    ck_elements(alias, 2, 3);
    hd_release(alias);
}
END_TEST

/* ---------------------------------------------------------------- threads */

static void *make_one(void *unused)
{
    (void)unused;
    hd_ones(HD_FLOAT32, 10);
    ck_assert_int_eq(hd_scope_count(), 1);
    hd_tensor *a = hd_retain(hd_full(HD_FLOAT32, 6, 1));
    hd_scope_open(); /* left open: the thread's end closes it */
    hd_ones(HD_FLOAT32, 10);
    ck_assert_int_eq(hd_scope_count(), 3);
    return a;
}

START_TEST(a_threads_root_scope_closes_with_it)
{
    pthread_t thread;
    void *made;
    ck_assert_int_eq(pthread_create(&thread, NULL, make_one, NULL), 0);
    pthread_join(thread, &made);
    ck_assert_int_eq(hd_tensor_count(), tensors_before + 1);
    ck_assert(hd_item(made) == 6);
    hd_release(made);
}
END_TEST

static void *release_it(void *a)
{
    ck_assert(hd_item(a) == 8);
    hd_release(a);
    return NULL;
}

START_TEST(retained_before_it_crosses)
{
    pthread_t thread[4];
    {
        HD_SCOPE;
        hd_tensor *a = hd_full(HD_FLOAT32, 8, 1);
        for (int i = 0; i < 4; i++) {
            hd_retain(a);
            ck_assert_int_eq(pthread_create(&thread[i], NULL, release_it, a), 0);
        }
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
    }
}
END_TEST

static void *many(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        HD_SCOPE;
        hd_tensor *y = NULL;
        {
            HD_SCOPE;
            hd_ones(HD_FLOAT32, 7);
            y = hd_scope_return(hd_full(HD_FLOAT32, i, 5));
        }
        ck_assert(hd_get(y, 4) == i);
    }
    return NULL;
}

START_TEST(threads_do_not_see_each_others_scopes)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, many, NULL), 0);
    }
    many(NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
    }
}
END_TEST

/* ---------------------------------------------------------------- the caller's memory */

static int let_go;
static float mine[6];

static void note_release(void *data, void *user)
{
    ck_assert_ptr_eq(data, mine);
    let_go += *(int *)user;
}

START_TEST(wrapped_memory_is_used_and_given_back_once)
{
    int one = 1;
    let_go = 0;
    for (int i = 0; i < 6; i++) {
        mine[i] = (float)i;
    }
    hd_tensor *view;
    {
        HD_SCOPE;
        hd_tensor *a = hd_wrap(HD_FLOAT32, mine, note_release, &one, 2, 3);
        ck_assert_ptr_eq(hd_data(a), mine);
        ck_elements(a, 0, 1, 2, 3, 4, 5);
        ck_assert(hd_set(a, 9, 1, 2));
        ck_assert(mine[5] == 9);
        view = hd_retain(hd__tensor_alias(a, 1, (int64_t[]){3}, (int64_t[]){1}, 3));
    }
    ck_assert_int_eq(let_go, 0);
    ck_elements(view, 3, 4, 9);
    hd_release(view);
    ck_assert_int_eq(let_go, 1);
    {
        HD_SCOPE;
        ck_elements(hd_wrap(HD_FLOAT32, mine, NULL, NULL, 2), 0, 1);
    }
}
END_TEST

static void release_user(void *data, void *user)
{
    (void)data;
    hd_release(user);
}

/* What the callback of hd_wrap releases while a scope closes was freed by hd_release, and by no
 * scope. */
START_TEST(released_by_a_callback_while_a_scope_closes)
{
    if (!quarantine_on()) {
        return;
    }
    hd_tensor *other = hd_ones(HD_FLOAT32, 2);
    {
        HD_SCOPE;
        hd_wrap(HD_FLOAT32, mine, release_user, other, 2);
    }
    ck_no_error();
    ck_assert_int_eq(hd_numel(other), -1);
    ck_error(HD_STATE, "hd_numel: x was freed by hd_release; hd_ones made it");
}
END_TEST

/* Memory that begins with zeros is not HD_NONE. */
START_TEST(only_HD_NONE_is_none)
{
    static int64_t zeros[64];
    void *x = zeros + 8; /* a header lies before an object */
    ck_assert(!hd_retain(x));
    ck_error(
        HD_STATE,
        "hd_retain: t is not a tensor: it was freed long ago, or the pointer never pointed to one");
    ck_assert(hd_retain(HD_NONE) == HD_NONE);
    ck_no_error();
}
END_TEST

/* So many that it would take minutes if each scope were counted from the root, and that a call for
 * each would overflow the stack. */
START_TEST(wrap_refuses_and_then_releases_nothing)
{
    int one = 1;
    let_go = 0;
    ck_assert_ptr_null(hd_wrap(HD_FLOAT32, NULL, note_release, &one, 2));
    ck_error(HD_NULL_ARG, "hd_wrap: data is NULL");
    ck_assert_ptr_null(hd_wrap(HD_FLOAT32, mine, note_release, &one, 2, -1));
    ck_error(HD_SHAPE, "hd_wrap: (2, -1): expected sizes of 0 or more");
    ck_assert_ptr_null(hd_wrap((hd_dtype)7, mine, note_release, &one, 2));
    ck_error(HD_DTYPE,
             "hd_wrap: dtype 7: expected HD_FLOAT32, HD_FLOAT64, HD_INT64, HD_BOOL or HD_BFLOAT16");
    ck_assert_ptr_null(hd_wrap(HD_FLOAT32, (void *)((char *)mine + 1), note_release, &one, 1));
    ck_assert_int_eq(hd_error_code(), HD_VALUE);
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "expected an address aligned for float32"));
    hd_error_clear();
    ck_assert_int_eq(let_go, 0);
}
END_TEST

Suite *suite_scope(void)
{
    const TTest *const tests[] = {
        left_by_its_end,
        left_by_break_and_continue,
        left_by_return,
        left_by_goto,
        nested_scopes_close_inside_out,
        returned_results_live_in_the_scope_around,
        a_result_returned_from_the_middle_of_many,
        closing_an_outer_scope_closes_the_inner_ones,
        closed_and_foreign_scopes_are_errors,
        retained_tensors_outlive_their_scope,
        release_without_retain_takes_it_out_of_its_scope,
        release_never_gives_up_what_heed_holds,
        assign_holds_and_lets_go,
        storage_lives_as_long_as_any_view,
        a_threads_root_scope_closes_with_it,
        retained_before_it_crosses,
        threads_do_not_see_each_others_scopes,
        wrapped_memory_is_used_and_given_back_once,
        released_by_a_callback_while_a_scope_closes,
        only_HD_NONE_is_none,
        wrap_refuses_and_then_releases_nothing,
    };
    return SUITE_BETWEEN("scope", tests, note_counts, check_counts);
}
