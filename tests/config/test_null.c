/* test_null.c - passes NULL for each pointer that config's functions take. */
#include "support/null_rows.h"
#include "suites.h"

static void run_table(const char *error)
{
    const hd_config_table *t = &settings_table;
    settings s = changed_settings();
#include "null_table.h"
    ck_assert_msg(wrong == 0, "%d of the above", wrong);
}

NULL_SUITE
