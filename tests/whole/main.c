/* main.c - runs all suites of tests that need several layers. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
