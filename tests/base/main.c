/* main.c - runs every suite of the base layer. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
