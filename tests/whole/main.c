/* main.c - runs every suite of what spans layers. */
#include "suites.h"

static Suite *(*const suites[])(void) = {
    suite_attention_golden, suite_gpt,     suite_notebook_classes, suite_null,
    suite_memory,           suite_threads,
};

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
