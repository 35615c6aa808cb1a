/* main.c - runs every suite of what spans layers. */
#include "support/run_suites.h"
#include "suites.h"

static Suite *(*const suites[])(void) = {
    suite_accumulation, suite_attention_golden, suite_gpt,         suite_notebook_classes,
    suite_null,         suite_memory,           suite_sdpa_golden, suite_threads,
};

int main(void)
{
    return RUN_SUITES(suites);
}
