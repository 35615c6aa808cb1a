/* debug.c - debug mode: whether it is on, and the module whose forward runs on this thread.
 *
 * The layers above do what it asks for: live.c and finite.c in src/tensor, watch.c in src/autograd,
 * forward.c in src/nn. While it is off, each of them costs one load of a flag. */
#include <stdlib.h>
#include <string.h>

#include "base/parts.h"

atomic_uint hd__debug;
HD__TLS const char *hd__module;

void hd__debug_start(unsigned int bits)
{
    const char *text = getenv("HEED_DEBUG");
    if (text && strcmp(text, "1") == 0) {
        atomic_fetch_or(&hd__debug, bits);
        atomic_store(&hd__warning_on, true);
    }
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
