/* suites.h - the suites of the autograd layer, one a topic: add a name here, and write
 * `Suite *suite_<name>(void)`. */
#ifndef HEED_TESTS_AUTOGRAD_SUITES_H
#define HEED_TESTS_AUTOGRAD_SUITES_H

#include <check.h>

#define AUTOGRAD_SUITES(X)                                                                         \
    X(engine)                                                                                      \
    X(inplace_history)                                                                             \
    X(user_op)                                                                                     \
    X(graph)                                                                                       \
    X(arith)                                                                                       \
    X(unary)                                                                                       \
    X(compare)                                                                                     \
    X(inplace)                                                                                     \
    X(gradcheck)                                                                                   \
    X(matmul)                                                                                      \
    X(product)                                                                                     \
    X(index)                                                                                       \
    X(layout)                                                                                      \
    X(view)                                                                                        \
    X(names)                                                                                       \
    X(copies)                                                                                      \
    X(attention)                                                                                   \
    X(random)                                                                                      \
    X(reduce)                                                                                      \
    X(softmax)                                                                                     \
    X(large)                                                                                       \
    X(loss)

#define DECLARE_SUITE(name) Suite *suite_##name(void);
AUTOGRAD_SUITES(DECLARE_SUITE)

#endif
