/* suites.h - the suites that run out of memory; main.c runs them all. */
#ifndef HEED_TESTS_FAULTS_SUITES_H
#define HEED_TESTS_FAULTS_SUITES_H

#include "faults_memory/faults.h"
#include "support/run_suites.h"

enum { LEAST_INJECTIONS = 10000, LEAST_OF_SCOPES = 500 };

extern int64_t *injections;       /* of all tests, in memory that they share */
extern int64_t *scope_injections; /* likewise: the injections below many scopes */
extern int64_t *rows_chosen;      /* likewise: how many rows ran */

const char *injection_running(char text[200]);

#define SUITES(X)                                                                                  \
    X(control)                                                                                     \
    X(messages)                                                                                    \
    X(tables)

SUITES(DECLARE_SUITE)

#endif
