/* speak.h - how a function of a library in libs/ says that it speaks, in the words of libheed's own
 * functions (call.h), which have the variable at hand that these two functions change. */
#ifndef HEED_BASE_SPEAK_H
#define HEED_BASE_SPEAK_H

#include "base/sibling.h"

/* The call that is in force; NULL: none */
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

/* A public function that can fail, or frees, begins with its name. */
#define HD__CALL(name)                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_leave), unused)) =           \
        hd__call_enter(name)
/* Until the end of the block the program's own code runs: what it calls speaks for itself. */
#define HD__CALLS_BACK                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_leave), unused)) =           \
        hd__call_exchange(NULL)

#endif
