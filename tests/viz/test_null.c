/* test_null.c - passes NULL for each pointer that viz's functions take. */
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

NULL_SUITE
