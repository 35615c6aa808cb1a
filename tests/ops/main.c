/* main.c - runs every suite of the engine and of the ops. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
