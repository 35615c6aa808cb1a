/* main.c - runs every suite of the optim layer. */
#include <stdlib.h>

#include "suites.h"

static int64_t bytes_before, tensors_before;

static void begin(void)
{
    hd_manual_seed(123);
    hd_error_clear();
    bytes_before = hd_bytes_live();
    tensors_before = hd_tensor_count();
}

static void end(void)
{
    ck_no_error();
    ck_assert_int_eq(hd_tensor_count(), tensors_before);
    ck_assert_int_eq(hd_bytes_live(), bytes_before);
}

Suite *suite_of(const char *name, const TTest *const *tests, size_t n)
{
    Suite *s = suite_create(name);
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, begin, end);
    for (size_t i = 0; i < n; i++) {
        tcase_add_test(c, tests[i]);
    }
    suite_add_tcase(s, c);
    return s;
}

static Suite *(*const suites[])(void) = {suite_golden, suite_step,   suite_options,
                                         suite_groups, suite_resume, suite_clip};

int main(void)
{
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
