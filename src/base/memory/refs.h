/* refs.h - reference counts. */
#ifndef HEED_BASE_REFS_H
#define HEED_BASE_REFS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error/assert.h"
#include "base/system/threads.h"

/* Adds a reference. While the process has only this thread, a plain load and store are enough,
 * because no other thread can start in between. */
static inline void hd__refs_up(atomic_int *refs)
{
    if (HD__ALONE) {
        int now = atomic_load_explicit(refs, memory_order_relaxed);
        atomic_store_explicit(refs, now + 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
    }
}

/* Drops a reference, and returns true if it was the last one. If the count is 1, writes nothing: no
 * other thread holds the object, so none can add a reference. */
static inline bool hd__refs_down(atomic_int *refs)
{
    int now = atomic_load_explicit(refs, memory_order_acquire);
    hd__assert(now > 0);
    if (now == 1) {
        return true;
    }
    if (HD__ALONE) {
        atomic_store_explicit(refs, now - 1, memory_order_relaxed);
        return false;
    }
    return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

#endif
