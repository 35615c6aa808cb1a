/* main.c - runs all suites of the autograd engine. The program links the engine without any op of
 * heed, so it fails to link if the engine calls one. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
