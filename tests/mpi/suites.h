/* suites.h - the suites of the mpi library that run without mpirun, one for each topic; main.c runs
 * them all. The cases of ranks.c test several ranks. */
#ifndef HEED_TESTS_MPI_SUITES_H
#define HEED_TESTS_MPI_SUITES_H

#include "heed/mpi.h"
#include "support/leak_checked.h"
#include "support/scarce.h"

#define SUITES(X) X(alone) X(ddp) X(null)
SUITES(DECLARE_SUITE)

#endif
