/* golden_ops.h - runs the cases that an operation has in ops.txt, grads.txt and signs.txt, whose
 * format tests/golden/README.md describes. */
#ifndef HEED_TESTS_GOLDEN_OPS_H
#define HEED_TESTS_GOLDEN_OPS_H

#include "support/golden_reader.h"
#include "heed/autograd.h"

enum { GOLDEN_INPUTS = 4, GOLDEN_SCALARS = 3, GOLDEN_EXTRA = 8 };

/* The arguments of one case. Others are read by name: golden_int(a->c, "dim", 0). */
typedef struct golden_args {
    int n;
    hd_tensor *x[GOLDEN_INPUTS]; /* in-place operations may write to x[0] */
    hd_scalar s[GOLDEN_SCALARS];
    const golden_case *c;
    hd_tensor *extra[GOLDEN_EXTRA]; /* for f to fill: results 1, 2, ... */
} golden_args;

typedef struct golden_op {
    const char *op; /* as in the files: "mul_scalar" */
    hd_tensor *(*f)(golden_args *a);
    bool exact; /* false: within 1e-6 (float64: 1e-12) of the value plus 1e-7 */
} golden_op;

/* add_case: hd_add of two inputs, add_scalar_case: hd_add_scalar of an input and a number. */
#define GOLDEN_TWO(f)                                                                              \
    static hd_tensor *f##_case(golden_args *a)                                                     \
    {                                                                                              \
        return hd_##f(a->x[0], a->x[1]);                                                           \
    }
#define GOLDEN_NUMBER(f)                                                                           \
    static hd_tensor *f##_case(golden_args *a)                                                     \
    {                                                                                              \
        return hd_##f(a->x[0], a->s[0]);                                                           \
    }

/* Fails the running test at the first case that differs, and for an op without a case. */
void golden_ops_check(int n, const golden_op *ops);

#endif
