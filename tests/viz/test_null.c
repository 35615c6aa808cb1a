/* test_null.c - viz's functions, given NULL for each of their pointers. */
#include "support/null_rows.h"
#include "suites.h"

static void run_table(const char *error)
{
    HD_SCOPE;
    static const char *const texts[] = {"a", "b"};
    static const double y[] = {1, 2};
    const hd_series series = {NULL, 2, NULL, y};
    hd_tensor *x = hd_requires_grad_(hd_ones(HD_FLOAT32, 2, 2), true), *bad;
    hd_picture *picture = hd_plot_lines(1, &series, NULL);
#include "null_table.h"
    ck_assert_msg(wrong == 0, "%d of the above", wrong);
    hd_picture_free(picture);
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
