/* level.h - what is computed at another CPU level, for example by the loops of the level plain,
 * with which the tests of kernels compare:
 *     const int level = at_level(HD__PLAIN);
 *     hd_tensor *want = hd_softmax(x, 0);
 *     at_level(level); */
#ifndef HEED_TESTS_OPS_LEVEL_H
#define HEED_TESTS_OPS_LEVEL_H

#include "base/start.h"
#include "support/support.h"

/* Returns the level before. */
static inline int at_level(int level)
{
    ck_assert_ptr_nonnull(hd_cpu_level()); /* the start chooses a level */
    const int before = hd__level;
    hd__level = level;
    return before;
}

#endif
