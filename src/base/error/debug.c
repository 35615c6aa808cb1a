/* debug.c - the word that says what is asked for, and who is told of events (events.h). */
#include <stdlib.h>
#include <string.h>

#include "base/events.h"

atomic_uint hd__debug;
_Atomic(const hd__event_table *) hd__events;
HD__TLS const char *hd__module;

void hd__debug_start(unsigned int bits)
{
    const char *text = getenv("HEED_DEBUG");
    if (text && *text &&
        strcmp(text, "0") != 0) { /* that of another value is an error, and printed */
        atomic_fetch_or(&hd__debug, bits);
        atomic_store(&hd__warning_on, true);
    }
}
