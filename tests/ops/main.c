/* main.c - runs every suite of the autograd layer. */
#include <stdlib.h>

#include "support/run_suites.h"
#include "suites.h"

#define ENTRY(name) suite_##name,

static Suite *(*const suites[])(void) = {AUTOGRAD_SUITES(ENTRY)};

int main(void)
{
    return RUN_SUITES(suites);
}
