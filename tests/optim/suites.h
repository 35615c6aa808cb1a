/* suites.h - the suites of the optim layer, one for each topic; main.c runs them all. A test fails
 * unless it ends with the number of live bytes and tensors that it began with. */
#ifndef HEED_TESTS_OPTIM_SUITES_H
#define HEED_TESTS_OPTIM_SUITES_H

#include "support/leak_checked.h"
#include "heed/optim.h"

#define SUITES(X) X(golden) X(step) X(options) X(groups) X(resume) X(clip)
SUITES(DECLARE_SUITE)

#endif
