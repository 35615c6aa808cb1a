/* call.h - the name of the public function that the program called. Messages begin with it, and
 * objects remember it (call.c). */
#ifndef HEED_BASE_CALL_H
#define HEED_BASE_CALL_H

#include "base/error/args.h"
#include "base/system/threads.h"

/* The name of the public function that the program called on this thread; NULL while none runs. The
 * text lasts as long as the process. */
extern HD__TLS const char *hd__call;

static inline const char *hd__call_swap(const char *now)
{
    const char *before = hd__call;
    hd__call = now;
    return before;
}

static inline const char *hd__call_begin(const char *name)
{
    return hd__call_swap(hd__call ? hd__call : name);
}

static inline void hd__call_end(const char *const *before)
{
    hd__call = *before;
}

/* Every public function that can fail or free begins with HD__CALL and its own name. The name stays
 * set until the function returns. Inside another public function HD__CALL changes nothing: messages
 * name the function that the program called.
 *   HD__CALL("hd_add"); */
#define HD__CALL(name)                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_end), unused)) =             \
        hd__call_begin(name)
/* Clears the name until the end of the block, in which heed calls the program's own code or a
 * built-in forward. Messages name the functions that are called there. */
#define HD__CALLS_BACK                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_end), unused)) =             \
        hd__call_swap(NULL)

/* Returns the name of the running call, for a new object that remembers it: the name that HD_CALL
 * set, or hd__call if HD_CALL set none. The text lasts as long as the process. */
const char *hd__call_kept(void);
/* Writes to text the names with which a message begins, such as "hd_mm: " (call.c). Returns their
 * length, which is at most 306. */
int hd__call_write(char *text, size_t size);
/* The forward that runs on this thread: the class of its module, and an address that no other
 * running forward has. Both are NULL outside a forward. nn sets hd__forward_now to a function that
 * returns this struct; until then hd__forward_now is NULL. */
typedef struct hd__call_forward {
    const char *class;
    const void *id;
} hd__call_forward;
extern hd__call_forward (*_Atomic hd__forward_now)(void);

#endif
