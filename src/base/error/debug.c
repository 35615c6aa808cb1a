/* debug.c - debug mode, tracing and profiling: whether they are on, and the module whose forward
 * runs on this thread.
 *
 * The layers above do what they ask for: live.c, finite.c, trace.c and profile.c in src/tensor,
 * watch.c and tell.c in src/autograd, forward.c in src/nn. While nothing is on, each place costs
 * one look at a flag. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parts.h"

atomic_uint hd__debug;
HD__TLS const char *hd__module;
pthread_mutex_t hd__profile_lock = PTHREAD_MUTEX_INITIALIZER;

void hd__debug_start(unsigned int bits)
{
    const char *text = getenv("HEED_DEBUG");
    if (text && *text &&
        strcmp(text, "0") != 0) { /* that of another value is an error, and printed */
        atomic_fetch_or(&hd__debug, bits);
        atomic_store(&hd__warning_on, true);
    }
}

/* The place of the variable's value among the first n. "0" is the default. */
static unsigned int choice(const char *variable, unsigned int n, const char *expected, char *wrong,
                           size_t size)
{
    static const char *const values[] = {"0", "1", "backward", "all"};
    const char *text = getenv(variable);
    unsigned int i = 0;
    while (text && *text && i < n && strcmp(text, values[i]) != 0) {
        i++;
    }
    if (i == n) {
        snprintf(wrong, size, "heed: %s=%.40s: expected %s", variable, text, expected);
    }
    return i % n;
}

void hd__tells_start(char *wrong, size_t size)
{
    choice("HEED_CACHE", 2, "0", wrong, size); /* alloc.c and hd__debug_start have read */
    choice("HEED_DEBUG", 2, "1", wrong, size); /* these two */
    unsigned int bits = choice("HEED_PROFILE", 2, "1", wrong, size) * HD__PROFILES;
    bits |= choice("HEED_TRACE", 4, "1, backward or all", wrong, size) * HD__TRACES;
    atomic_fetch_or(&hd__debug, bits);
}

bool hd_set_debug(bool on)
{
    HD__CALL("hd_set_debug");
    const unsigned int watches = HD__DEBUG_WATCHES;
    if (!hd__init()) { /* after this the environment cannot turn it on */
        return false;
    }
    return (on ? atomic_fetch_or(&hd__debug, watches) : atomic_fetch_and(&hd__debug, ~watches)) &
           watches;
}
