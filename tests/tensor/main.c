/* main.c - runs every suite of the tensor layer. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
