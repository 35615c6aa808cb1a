/* suites.h - the suites of the mpi library without mpirun, one a topic; main.c runs them all. What
 * several ranks do is tested by the cases of ranks.c. */
#ifndef HEED_TESTS_MPI_SUITES_H
#define HEED_TESTS_MPI_SUITES_H

#include "heed/mpi.h"
#include "support/leak_checked.h"
#include "support/scarce.h"

#define SUITES(X) X(alone) X(ddp) X(null)
SUITES(DECLARE_SUITE)

#endif
