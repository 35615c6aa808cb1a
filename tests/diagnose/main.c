/* main.c - runs every suite of what watches and tells. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
