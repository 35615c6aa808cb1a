/* memory_scenarios.h - what test_memory.c runs while memory runs out. */
#ifndef TESTS_WHOLE_MEMORY_SCENARIOS_H
#define TESTS_WHOLE_MEMORY_SCENARIOS_H

#include "suites.h"

typedef struct inputs {
    hd_tensor *a, *b, *w, *bias; /* (2, 3), (3,), (4, 3), (4,): leaves that require grad */
    hd_tensor *h;                /* a non-leaf of (2, 3), for in-place changes */
    hd_tensor *index, *mask;     /* (2,) int64, (2, 3) bool */
} inputs;

/* run tells whether all went well. Backward comes last in it, so that a failure leaves every .grad
 * empty. */
typedef struct scenario {
    const char *name;
    bool (*run)(inputs *in);
} scenario;

extern const scenario scenarios[];
extern const int n_scenarios;

/* Contexts of the user-defined op that were made and not yet freed. */
extern int own_live;

#endif
