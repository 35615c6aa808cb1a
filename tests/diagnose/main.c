/* main.c - runs all suites of the diagnose layer (debug mode, warnings, reports). */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
