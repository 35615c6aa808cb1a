/* main.c - runs all suites of the engine and of the ops. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
