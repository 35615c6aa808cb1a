/* call.h - who speaks: the public function that the program called, by whose name messages
 * begin (call.c). */
#ifndef HEED_BASE_CALL_H
#define HEED_BASE_CALL_H

#include "base/error/args.h"
#include "base/system/threads.h"

/* The public function that the program called on this thread, by which messages begin and which
 * made and freed what it makes and frees; NULL while none runs. The text lasts. */
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

/* A public function that can fail, or frees, begins with its name, which is in force until it
 * returns. Inside of another public function nothing changes: the one that the program called
 * speaks.
 *   HD__CALL("hd_add"); */
#define HD__CALL(name)                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_end), unused)) =             \
        hd__call_begin(name)
/* Until the end of the block the program's own code runs, or a built-in forward: what it calls
 * speaks for itself. */
#define HD__CALLS_BACK                                                                             \
    const char *const hd__call_before __attribute__((cleanup(hd__call_end), unused)) =             \
        hd__call_swap(NULL)

/* Who called, to be remembered: the function that HD_CALL names, or else hd__call. */
const char *hd__call_kept(void);
/* Writes "hd_mm: ", the names of who speaks (call.c), and returns its length, at most 306. */
int hd__call_write(char *text, size_t size);
/* The forward that runs on this thread: the class of its module, and what tells it from others;
 * NULL, both, outside of any forward. nn sets hd__forward_now. */
typedef struct hd__call_forward {
    const char *class;
    const void *id;
} hd__call_forward;
extern hd__call_forward (*_Atomic hd__forward_now)(void);

#endif
