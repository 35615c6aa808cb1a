/* suites.h - the suites of the data layer, one for each topic; main.c runs them all. */
#ifndef TESTS_DATA_SUITES_H
#define TESTS_DATA_SUITES_H

#include <stdio.h>
#include <stdlib.h>

#include "heed/data.h"
#include "support/files.h"
#include "support/golden_reader.h"
#include "support/run_suites.h"
#include "support/support.h"

#define SUITES(X)                                                                                  \
    X(generator)                                                                                   \
    X(tokens)                                                                                      \
    X(windows)                                                                                     \
    X(loader) X(own) X(replicas) X(memory) X(atomic)
SUITES(DECLARE_SUITE)

/* The cases of tests/golden/data.txt, which live as long as the program. */
const golden_file *golden_data(void);

/* The ids 0 .. n - 1 as tokens; free them with hd_tokens_free. */
hd_tokens *counted_tokens(int64_t n);

/* What a loader would draw from g, without drawing it. */
int64_t upcoming(hd_generator *g);

#endif
