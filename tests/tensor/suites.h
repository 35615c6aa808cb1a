/* suites.h - the suites of the tensor layer, one for each topic; main.c runs them all. */
#ifndef TESTS_TENSOR_SUITES_H
#define TESTS_TENSOR_SUITES_H

#include <stdlib.h>

#include "support/run_suites.h"
#include "support/scarce.h"
#include "support/support.h"
#include "tensor/tensor_struct.h"

#define SUITES(X)                                                                                  \
    X(print)                                                                                       \
    X(dict)                                                                                        \
    X(dims)                                                                                        \
    X(list)                                                                                        \
    X(scope)                                                                                       \
    X(freed)                                                                                       \
    X(shape)                                                                                       \
    X(creation)                                                                                    \
    X(from_c)                                                                                      \
    X(copy)                                                                                        \
    X(access)                                                                                      \
    X(random)                                                                                      \
    X(product)                                                                                     \
    X(atomic)
SUITES(DECLARE_SUITE)

#endif
