/* debug.c - the flags for debug mode, traces, profiles and warnings. */
#include <stdlib.h>
#include <string.h>

#include "base/error/debug.h"

atomic_uint hd__debug;
atomic_bool hd__error_warning_on;
HD__TLS const char *hd__debug_module;

void hd__debug_start(unsigned int bits)
{
    const char *text = getenv("HEED_DEBUG");
    /* A wrong value of HEED_DEBUG sets the bits, too, so that the error about it is printed. */
    if (text && *text && strcmp(text, "0") != 0) {
        atomic_fetch_or(&hd__debug, bits);
        atomic_store(&hd__error_warning_on, true);
    }
}
