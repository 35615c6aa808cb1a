/* test_reports.c - tests of the text that hd_scope_report writes. */
#include "suites.h"

static const char *report(void)
{
    static char text[2000];
    FILE *f = tmpfile();
    ck_assert(hd_scope_report(f));
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

START_TEST(the_report_lists_every_scope)
{
    hd_full(HD_FLOAT32, 7, 10);
    hd_zeros(HD_FLOAT32, 5);
    hd_tensor *x = hd_zeros(HD_FLOAT32, 5); /* neither the first nor the last of its scope */
    for (int i = 0; i < 3; i++) {
        hd_ones(HD_FLOAT64, 2);
    }
    hd_scope *outer = hd_scope_open_at("train.c", 12), *inner = hd_scope_open();
    hd_view(x, 5); /* its bytes are x's */
    ck_assert_str_eq(report(), "the root scope: 6 tensors, 128 bytes\n"
                               "           3              48 bytes  hd_ones\n"
                               "           2              40 bytes  hd_zeros\n"
                               "           1              40 bytes  hd_full\n"
                               "the scope opened at train.c:12: 0 tensors, 0 bytes\n"
                               "a scope: 1 tensor, 0 bytes\n"
                               "           1               0 bytes  hd_view\n");
    hd_scope_close(inner);
    hd_scope_close(outer);
    ck_assert(!hd_scope_report(NULL));
    ck_error(HD_NULL_ARG, "hd_scope_report: f is NULL");
    FILE *full = fopen("/dev/full", "w");
    if (full) { /* Linux has it */
        char message[100];
        snprintf(message, sizeof message,
                 "hd_scope_report: %zu bytes not written: No space left on device",
                 strlen(report()));
        ck_assert(!hd_scope_report(full));
        ck_error(HD_IO, message);
        fclose(full);
    }
}
END_TEST

START_TEST(many_nested_scopes_are_reported)
{
    enum { MANY_SCOPES = 200000 };
    hd_scope *outer = hd_scope_open();
    for (int i = 1; i < MANY_SCOPES; i++) {
        hd_scope_open();
    }
    hd_zeros(HD_FLOAT32, 1);
    FILE *f = tmpfile();
    char line[200] = "", last[200] = "";
    int lines = 0;
    ck_assert(hd_scope_report(f));
    rewind(f);
    while (fgets(line, sizeof line, f)) {
        strcpy(last, line);
        lines += strncmp(line, "a scope: ", strlen("a scope: ")) == 0;
    }
    fclose(f);
    ck_assert_int_eq(lines, MANY_SCOPES);
    ck_assert_str_eq(last, "           1               4 bytes  hd_zeros\n");
    hd_scope_close(outer);
}
END_TEST

Suite *suite_reports(void)
{
    const TTest *const tests[] = {
        the_report_lists_every_scope,
        many_nested_scopes_are_reported,
    };
    return SUITE_OF("reports", tests);
}
