/* main.c - runs every suite of the optim layer. */
#include <stdlib.h>

#include "support/run_suites.h"
#include "suites.h"

static Suite *(*const suites[])(void) = {suite_golden, suite_step,   suite_options,
                                         suite_groups, suite_resume, suite_clip};

int main(void)
{
    return RUN_SUITES(suites);
}
