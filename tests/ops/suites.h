/* suites.h - the suites of the engine and of the ops, one for each topic. To add one, add its name
 * here and write `Suite *suite_<name>(void)`. */
#ifndef HEED_TESTS_OPS_SUITES_H
#define HEED_TESTS_OPS_SUITES_H

#include "support/run_suites.h"

#define SUITES(X)                                                                                  \
    X(engine)                                                                                      \
    X(grads)                                                                                       \
    X(hooks)                                                                                       \
    X(backward_end)                                                                                \
    X(grad_of)                                                                                     \
    X(inplace_history)                                                                             \
    X(user_op)                                                                                     \
    X(guests)                                                                                      \
    X(graph)                                                                                       \
    X(arith)                                                                                       \
    X(unary)                                                                                       \
    X(compare)                                                                                     \
    X(inplace)                                                                                     \
    X(gradcheck)                                                                                   \
    X(golden)                                                                                      \
    X(matmul)                                                                                      \
    X(index)                                                                                       \
    X(layout)                                                                                      \
    X(view)                                                                                        \
    X(names)                                                                                       \
    X(copies)                                                                                      \
    X(attention)                                                                                   \
    X(rotary)                                                                                      \
    X(random)                                                                                      \
    X(reduce)                                                                                      \
    X(refusals)                                                                                    \
    X(softmax)                                                                                     \
    X(sort)                                                                                        \
    X(stored)                                                                                      \
    X(large)                                                                                       \
    X(loss)                                                                                        \
    X(loss_elements)                                                                               \
    X(atomic)

SUITES(DECLARE_SUITE)

#endif
