/* suites.h - the suites of the diagnose layer, one for each topic; main.c runs them all. */
#ifndef HEED_TESTS_DIAGNOSE_SUITES_H
#define HEED_TESTS_DIAGNOSE_SUITES_H

#include <stdlib.h>

#include "support/run_suites.h"
#include "support/support.h"
#include "heed/nn.h"
#include "heed/optim.h"

#define SUITES(X) X(debug) X(full_scope) X(reports) X(stale_gradients) X(stray_modules)
SUITES(DECLARE_SUITE)

#endif
