/* test_null.c - config's functions, given NULL for each of their pointers. */
#include "support/null_rows.h"
#include "suites.h"

static void run_table(const char *error)
{
    const hd_config_table *t = &settings_table;
    settings s = changed_settings();
#include "null_table.h"
    ck_assert_msg(wrong == 0, "%d of the above", wrong);
}

START_TEST(null_is_refused_by_name)
{
    run_table(NULL);
}
END_TEST

START_TEST(the_first_error_stands)
{
    run_table("hd_first: it stands");
}
END_TEST

Suite *suite_null(void)
{
    const TTest *const tests[] = {null_is_refused_by_name, the_first_error_stands};
    return SUITE("null", tests);
}
