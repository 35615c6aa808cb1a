/* main.c - runs every suite of the mpi library on one rank. */
#include "suites.h"

int main(void)
{
    return RUN_SUITES(SUITES);
}
