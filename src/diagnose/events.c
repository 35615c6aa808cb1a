/* events.c - reads the environment, turns debug mode on and off, and has the table of listeners. */
#include "base/start.h"
#include "diagnose/diagnose_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- the environment */

/* Returns the index of the variable's value among the first n values; 0 if it is not set. If it has
 * another value, writes a message into `wrong` and returns 0. */
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

bool hd_set_debug(bool on)
{
    HD__CALL("hd_set_debug");
    const unsigned int watches = HD__DEBUG_WATCHES;
    if (!hd__init()) { /* reads HEED_DEBUG, which then cannot override `on` later */
        return false;
    }
    return (on ? atomic_fetch_or(&hd__debug, watches) : atomic_fetch_and(&hd__debug, ~watches)) &
           watches;
}

/* ---------------------------------------------------------------- start and end */

/* hd_shutdown, which also runs at exit, reports this event. */
void hd__hear_shutdown(void)
{
    if (hd__event_watching() && hd__error_warns()) {
        hd__diagnose_tell_strays();
        hd__live_tell();
    }
}

#define LISTENER(result, event, ...) .event = hd__hear_##event,
static const hd__event_table listeners = {HD__EVENTS(LISTENER)};

void hd__diagnose_start(char *wrong, size_t size)
{
    choice("HEED_CACHE", 2, "0", wrong, size); /* only a check: alloc.c reads it */
    choice("HEED_DEBUG", 2, "1", wrong, size); /* only a check: hd__debug_start reads it */
    unsigned int bits = choice("HEED_PROFILE", 2, "1", wrong, size) * HD__PROFILES;
    bits |= choice("HEED_TRACE", 4, "1, backward or all", wrong, size) * HD__TRACES;
    bits |= hd__debug_any() & HD__DEBUG_PRINTS ? HD__DEBUG_WATCHES : 0;
    hd__events = &listeners;
    atomic_fetch_or(&hd__debug, bits);
}
