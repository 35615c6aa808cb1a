/* suites.h - the suites of the base layer, one for each topic. */
#ifndef TESTS_BASE_SUITES_H
#define TESTS_BASE_SUITES_H

#include "support/errors.h"
#include "support/run_suites.h"

/* The start comes first, because without forks any other suite would settle the CPU level before
 * it. */
#define SUITES(X) X(start) X(error) X(lasting) X(warning) X(alloc) X(text) X(json) X(threads) X(rng)
SUITES(DECLARE_SUITE)

#endif
