/* level.h - switches the CPU level, for tests that compare a level with the level plain, which has
 * simple loops:
 *     const int level = leave_plain();
 *     hd_tensor *y = hd_softmax(x, 0);
 *     const int other = at_plain();
 *     hd_tensor *want = hd_softmax(x, 0);
 *     hd__level = other;
 *     ...
 *     hd__level = level; */
#ifndef HEED_TESTS_LEVEL_H
#define HEED_TESTS_LEVEL_H

#include "base/start.h"
#include "support/support.h"

/* If the level is plain, switches to the CPU's best level, because a test would compare plain with
 * itself. Returns the level before. */
static inline int leave_plain(void)
{
    ck_assert_ptr_nonnull(hd_cpu_level()); /* the start chooses a level */
    const int before = hd__level, best = hd__sys_cpu_level();
    if (before == HD__PLAIN) {
        hd__level = best < (int)HD__LEVEL_BUILT ? best : (int)HD__LEVEL_BUILT;
    }
    return before;
}

/* Switches to plain. Returns the level before, and fails if that is plain, too. */
static inline int at_plain(void)
{
    const int before = hd__level;
    ck_assert_msg(before != HD__PLAIN, "plain is compared with itself: call leave_plain() first");
    hd__level = HD__PLAIN;
    return before;
}

#endif
