/* test_refusals.c - tests the failing calls that the table of functions lists as refuses(). */
#include "heed/autograd.h"
#include "suites.h"
#include "support/support.h"

#define REFUSES(code, message, ...)                                                                \
    ck_assert_ptr_null(__VA_ARGS__);                                                               \
    ck_error(code, message);

START_TEST(rows)
{
    HD_SCOPE;
    hd_tensor *x = hd_ones(HD_FLOAT32, 2, 3), *i = hd_ones(HD_INT64, 2, 3);
    hd_tensor *b = hd_ones(HD_BOOL, 2, 3);
    (void)x, (void)i, (void)b;
#include "refusals_made.h"
}
END_TEST

Suite *suite_refusals(void)
{
    const TTest *const tests[] = {rows};
    return SUITE_OF("refusals", tests);
}
