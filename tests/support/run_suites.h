/* run_suites.h - what every test program's main does. */
#ifndef HEED_TESTS_RUN_SUITES_H
#define HEED_TESTS_RUN_SUITES_H

#include <check.h>
#include <stdlib.h>

/* Runs them all; gives main's result. */
static inline int run_suites(Suite *(*const *suites)(void), size_t n)
{
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < n; i++) {
        srunner_add_suite(runner, suites[i]());
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#define RUN_SUITES(suites) run_suites(suites, sizeof(suites) / sizeof *(suites))

#endif
