/* speak.h - HD__CALL and HD__CALLS_BACK for the libraries in libs/. They work like those of call.h,
 * but through two functions, because these libraries cannot see the variable hd__call. */
#ifndef HEED_BASE_SPEAK_H
#define HEED_BASE_SPEAK_H

#include "base/sibling.h"

/* Returns the name that is set on this thread, or NULL. */
static inline const char *hd__call_now(void)
{
    const char *now = hd__call_exchange(NULL);
    hd__call_exchange(now);
    return now;
}

static inline void hd__call_leave(const char *const *before)
{
    hd__call_exchange(*before);
}

/* Every public function that can fail or free begins with HD__CALL and its own name. */
#define HD__CALL(name)                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_leave), unused)) =           \
        hd__call_enter(name)
/* Clears the name until the end of the block, in which the program's own code runs. Messages name
 * the functions that this code calls. */
#define HD__CALLS_BACK                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_leave), unused)) =           \
        hd__call_exchange(NULL)

#endif
