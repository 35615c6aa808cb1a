/* run_suites.h - lists, fills and runs the suites of a test program.
 *
 * Its suites.h names them once, `#define SUITES(X) X(dict) X(list)`, and declares suite_dict and
 * suite_list with `SUITES(DECLARE_SUITE)`. Its main.c runs them with `RUN_SUITES(SUITES)`. */
#ifndef HEED_TESTS_RUN_SUITES_H
#define HEED_TESTS_RUN_SUITES_H

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/warnings.h"

#define DECLARE_SUITE(name) Suite *suite_##name(void);

/* ---------------------------------------------------------------- filling */

/* True if HEED_SKIP, such as ",threads:forked,gpt:sums,", lists this test. tools/cross/run lists
 * the tests that an emulator cannot run. True, too, for all tests but the one in HEED_ONLY, such as
 * ",gpt:sums,". HEED_ONLY=list prints the names of all tests. */
static inline bool is_skipped(const char *topic, const TTest *test)
{
    char name[160];
    const char *skipped = getenv("HEED_SKIP"), *only = getenv("HEED_ONLY");
    snprintf(name, sizeof name, ",%s:%s,", topic, test->name);
    if (only && strcmp(only, "list") == 0) {
        printf("%s\n", name);
    }
    return (skipped && strstr(skipped, name)) || (only && strcmp(only, name) != 0);
}

/* Makes a suite of these tests. begin runs before each test and end after it, unless NULL. */
static inline Suite *suite_of(const char *name, const TTest *const *tests, size_t n,
                              void (*begin)(void), void (*end)(void))
{
    Suite *s = suite_create(name);
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, begin, end);
    for (size_t i = 0; i < n; i++) {
        if (!is_skipped(name, tests[i])) {
            tcase_add_test(c, tests[i]);
        }
    }
    suite_add_tcase(s, c);
    return s;
}
#define SUITE_BETWEEN(name, tests, begin, end)                                                     \
    suite_of(name, tests, sizeof(tests) / sizeof *(tests), begin, end)
#define SUITE_OF(name, tests) SUITE_BETWEEN(name, tests, NULL, NULL)

/* Adds a test that runs n times, with _i = 0, 1, ..., n - 1. */
static inline void suite_add_loop(Suite *s, const TTest *test, size_t n)
{
    TCase *c = tcase_create(test->name);
    tcase_add_loop_test(c, test, 0, is_skipped(test->name, test) ? 0 : (int)n);
    suite_add_tcase(s, c);
}

/* ---------------------------------------------------------------- running */

/* Runs the suites and returns main's result. A test fails at an unexpected warning. Check's default
 * limit of 4 seconds is too short for sanitizers and busy machines. */
static inline int run_suites(Suite *(*const *suites)(void), size_t n)
{
    setenv("CK_DEFAULT_TIMEOUT", "300", 0);
    hd_on_warning(warning_unexpected, NULL);
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < n; i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#define SUITE_ENTRY(name) suite_##name,
#define SUITE_COUNTED(name) +1
#define RUN_SUITES(LIST)                                                                           \
    run_suites((Suite *(*const[])(void)){LIST(SUITE_ENTRY)}, (size_t)(LIST(SUITE_COUNTED)))

#endif
