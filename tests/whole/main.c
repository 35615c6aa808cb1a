/* main.c - runs every suite of what spans layers. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
