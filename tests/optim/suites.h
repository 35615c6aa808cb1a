/* suites.h - the suites of the optim layer, one a topic; main.c runs them all. Each test begins and
 * ends with the same number of live bytes and tensors, or fails. */
#ifndef HEED_TESTS_OPTIM_SUITES_H
#define HEED_TESTS_OPTIM_SUITES_H

#include "support/leak_checked.h"
#include "heed/optim.h"

#define SUITES(X) X(golden) X(step) X(options) X(groups) X(resume) X(clip)
SUITES(DECLARE_SUITE)

#endif
