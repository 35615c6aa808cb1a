/* golden_ops.h - one case of ops.txt, grads.txt or signs.txt (tests/golden/README.md describes the
 * format), and the call whose result is compared with it. */
#ifndef HEED_TESTS_GOLDEN_OPS_H
#define HEED_TESTS_GOLDEN_OPS_H

#include "support/golden_reader.h"
#include "heed/autograd.h"

enum { GOLDEN_INPUTS = 4, GOLDEN_EXTRA = 8 };

/* The arguments of one case. Numbers are read by name: golden_int(a->c, "dim", 0). */
typedef struct golden_args {
    int n;
    hd_tensor *x[GOLDEN_INPUTS]; /* in-place operations may write to x[0] */
    const golden_case *c;
    int taken, numbers; /* how many of x[] and of the unnamed numbers s0, s1 ... were used */
    hd_tensor *extra[GOLDEN_EXTRA]; /* for f to fill: results 1, 2, ... */
} golden_args;

typedef struct golden_op {
    const char *section; /* of the table of functions */
    const char *op;      /* as in the files: "mul_scalar" */
    hd_tensor *(*f)(golden_args *a);
    bool exact; /* false: within 1e-6 (float64: 1e-12) of the value plus 1e-7 */
} golden_op;

#endif
