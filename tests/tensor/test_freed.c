/* test_freed.c - a freed tensor, and a list whose scope closed, are found by whatever is given
 * them, and the message tells how they were freed and what made them.
 *
 * meson runs this suite a second time with HEED_DEBUG=1, where more is kept and told. */
#include <pthread.h>
#include <stdio.h>

#include "suites.h"
#include "support/quarantine.h"

/* The message of a tensor whose scope was opened at `line` of this file. */
static const char *scope_message(const char *call, int line, const char *maker)
{
    static char text[600];
    char place[300] = "";
    if (debugging() && line) {
        snprintf(place, sizeof place, ", opened at %s:%d,", __FILE__, line);
    }
    snprintf(text, sizeof text,
             "%s was freed when its scope%s closed (keep it with hd_retain, hd_assign or "
             "hd_scope_return); %s made it",
             call, place, maker);
    return text;
}

/* ---------------------------------------------------------------- how tensors are freed */

START_TEST(kept_in_a_loop_without_retain)
{
    hd_tensor *best = NULL;
    int line = 0;
    for (int i = 0; i < 4; i++) {
        line = __LINE__ + 1;
        HD_SCOPE;
        hd_tensor *x = hd_full(HD_FLOAT32, i + 1, 3);
        if (i == 1) {
            best = x;
        }
    }
    ck_assert(!hd_print(best));
    ck_error(HD_STATE, scope_message("hd_print: x", line, "hd_full"));
    ck_assert(isnan(hd_get(best, 0)));
    ck_error(HD_STATE, scope_message("hd_get: x", line, "hd_full"));
}
END_TEST

START_TEST(freed_by_release)
{
    hd_tensor *x = hd_ones(HD_FLOAT32, 3);
    hd_release(x);
    ck_assert_int_eq(hd_numel(x), -1);
    ck_error(HD_STATE, "hd_numel: x was freed by hd_release; hd_ones made it");
    hd_release(x);
    ck_error(HD_STATE, "hd_release: t was freed by hd_release; hd_ones made it");
    ck_assert(!hd_retain(x));
    ck_error(HD_STATE, "hd_retain: t was freed by hd_release; hd_ones made it");
    ck_assert(!hd_scope_return(x));
    ck_error(HD_STATE, "hd_scope_return: t was freed by hd_release; hd_ones made it");
}
END_TEST

START_TEST(freed_by_assign)
{
    hd_tensor *slot = NULL, *old;
    {
        HD_SCOPE;
        old = hd_zeros(HD_FLOAT64, 2);
        ck_assert(hd_assign(&slot, old));
    }
    ck_assert(hd_assign(&slot, HD_NONE));
    ck_assert_str_eq(hd_repr(old), "NULL");
    ck_error(HD_STATE, "hd_repr: x was freed by hd_assign; hd_zeros made it");
    ck_assert(!hd_assign(&slot, old));
    ck_error(HD_STATE, "hd_assign: t was freed by hd_assign; hd_zeros made it");
    ck_assert_ptr_eq(slot, HD_NONE);
    slot = old;
    ck_assert(!hd_assign(&slot, HD_NONE));
    ck_error(HD_STATE, "hd_assign: *slot was freed by hd_assign; hd_zeros made it");
    ck_assert_ptr_eq(slot, old);
}
END_TEST

Suite *suite_freed(void)
{
    const TTest *const tests[] = {kept_in_a_loop_without_retain, freed_by_release, freed_by_assign};
    return quarantine_on() ? SUITE_OF("freed", tests) : suite_create("freed");
}
