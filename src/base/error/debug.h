/* debug.h - the flags of what the environment and the program ask for: debug mode, traces, and
 * warnings (debug.c). */
#ifndef HEED_BASE_DEBUG_H
#define HEED_BASE_DEBUG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error/assert.h"
#include "base/system/threads.h"

/* What debug mode asks for. HD__DEBUG_KEEPS, a long quarantine: HEED_DEBUG=1 was set; valid once
 * something was allocated, and never set with HEED_CACHE=0 and under a sanitizer.
 * HD__DEBUG_PRINTS: HEED_DEBUG=1 was set; valid after hd__init. HD__DEBUG_WATCHES: hd_set_debug. */
enum { HD__DEBUG_KEEPS = 1, HD__DEBUG_WATCHES = 2, HD__DEBUG_PRINTS = 4 };
/* In the same word: what HEED_TRACE and HEED_PROFILE ask for, from the start to the end. */
enum { HD__TRACES = 8, HD__TRACES_BACKWARD = 16, HD__PROFILES = 32, HD__TELLS = 8 | 16 | 32 };
/* The program has named a call of its own (HD_CALL), which tensors remember. */
enum { HD__NAMES_CALLS = 64 };
extern atomic_uint hd__debug;
static inline unsigned int hd__debug_any(void)
{
    return atomic_load_explicit(&hd__debug, memory_order_relaxed);
}
static inline bool hd__debug_on(void)
{
    return hd__debug_any() & HD__DEBUG_KEEPS;
}
static inline bool hd__event_watching(void)
{
    return HD__UNLIKELY(hd__debug_any() & HD__DEBUG_WATCHES);
}
/* Is anything traced or profiled? */
static inline bool hd__event_telling(void)
{
    return HD__UNLIKELY(hd__debug_any() & HD__TELLS);
}
/* Either of the two, where one look at the flags serves both. */
static inline bool hd__event_listening(void)
{
    return HD__UNLIKELY(hd__debug_any() & (HD__DEBUG_WATCHES | HD__TELLS));
}

/* While hd__event_listening, the module whose forward runs on this thread, as
 * "GPT.blocks.0.attention"; NULL outside of any forward. nn sets it; the text stays for ever. */
extern HD__TLS const char *hd__debug_module;

/* Sets these bits, and warnings, if the environment has HEED_DEBUG=1. */
void hd__debug_start(unsigned int bits);

extern atomic_bool hd__error_warning_on; /* hd__error_warns reads it */

/* Is there a handler? Ask before computing what a warning says, if that is costly. The caller of
 * hd_warn holds no lock, and its objects are complete, because the handler may call heed. */
static inline bool hd__error_warns(void)
{
    return HD__UNLIKELY(atomic_load_explicit(&hd__error_warning_on, memory_order_relaxed));
}

/* The bytes of a note: what a message ends with that its own function does not know. */
enum { HD__NOTE = 300 };

#endif
