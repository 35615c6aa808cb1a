/* suites.h - the suites of the autograd engine, one for each topic; main.c runs them all. A test
 * fails unless it ends with the number of live bytes and tensors that it began with. */
#ifndef HEED_TESTS_AUTOGRAD_SUITES_H
#define HEED_TESTS_AUTOGRAD_SUITES_H

#include "own_ops.h"
#include "support/leak_checked.h"

#define SUITES(X)                                                                                  \
    X(backward)                                                                                    \
    X(history)                                                                                     \
    X(hand_written)                                                                                \
    X(scarce)

SUITES(DECLARE_SUITE)

/* A leaf that requires grad: LEAF(1, 2, 3) of float32 */
#define LEAF(...) hd_requires_grad_(vec(HD_FLOAT32, __VA_ARGS__), true)

/* The gradient 1 for every element of y. */
#define ONES(y) hd_ones_like((y), hd_dtype_of(y))

#endif
