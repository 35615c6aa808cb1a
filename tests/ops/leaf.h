/* leaf.h - makes leaves that require grad, for the tests of the graph. */
#ifndef HEED_TESTS_OPS_LEAF_H
#define HEED_TESTS_OPS_LEAF_H

#include "support/support.h"

/* LEAF(1, 2, 3) is a leaf of float32, with the shape (3,). */
#define LEAF(...) hd_requires_grad_(vec(HD_FLOAT32, __VA_ARGS__), true)

#endif
