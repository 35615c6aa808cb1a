/* main.c - runs every suite of the engine. The program links the engine whole, and no op: one that
 * the engine called would be missing. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
