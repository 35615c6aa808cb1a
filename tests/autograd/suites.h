/* suites.h - the suites of the engine, one a topic; main.c runs them all. Each test begins and ends
 * with the same number of live bytes and tensors, or fails. */
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
