/* suites.h - the suites of tests that need several layers, one for each topic; main.c runs them
 * all. */
#ifndef TESTS_WHOLE_SUITES_H
#define TESTS_WHOLE_SUITES_H

#include <stdlib.h>

#include "support/run_suites.h"
#include "support/support.h"
#include "heed/heed.h"

#define SUITES(X)                                                                                  \
    X(accumulation)                                                                                \
    X(attention_golden)                                                                            \
    X(call)                                                                                        \
    X(gpt)                                                                                         \
    X(made_by)                                                                                     \
    X(module_to)                                                                                   \
    X(mutations)                                                                                   \
    X(notebook_classes)                                                                            \
    X(null)                                                                                        \
    X(sdpa_golden)                                                                                 \
    X(softmax_loss)                                                                                \
    X(threads)                                                                                     \
    X(wrong_objects)

SUITES(DECLARE_SUITE)

#endif
