/* main.c - runs every suite of the base layer. */
#include "suites.h"

/* The start comes first: without forks, the other suites settle the CPU level before it. */
int main(void)
{
    SRunner *runner = srunner_create(start_suite());
    srunner_add_suite(runner, error_suite());
    srunner_add_suite(runner, alloc_suite());
    srunner_add_suite(runner, json_suite());
    srunner_add_suite(runner, threads_suite());
    srunner_add_suite(runner, rng_suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
