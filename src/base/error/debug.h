/* debug.h - the flags for debug mode, traces, profiles and warnings (debug.c). */
#ifndef HEED_BASE_DEBUG_H
#define HEED_BASE_DEBUG_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error/assert.h"
#include "base/system/threads.h"

/* The flags of debug mode:
 *   HD__DEBUG_KEEPS: HEED_DEBUG=1 was set, so the quarantine (memory/quarantine.c) is long. Valid
 *     after the first allocation. Never set with HEED_CACHE=0 or under a sanitizer.
 *   HD__DEBUG_WATCHES: debug mode is on. HEED_DEBUG=1 turns it on at the start, and hd_set_debug
 *     changes it later.
 *   HD__DEBUG_PRINTS: HEED_DEBUG=1 was set, so failures and warnings are printed. Valid after
 *     hd__init. */
enum { HD__DEBUG_KEEPS = 1, HD__DEBUG_WATCHES = 2, HD__DEBUG_PRINTS = 4 };
/* Flags for HEED_TRACE and HEED_PROFILE, also in hd__debug. They never change after the start. */
enum { HD__TRACES = 8, HD__TRACES_BACKWARD = 16, HD__PROFILES = 32, HD__TELLS = 8 | 16 | 32 };
/* This flag is set when the program uses HD_CALL for the first time. From then on, tensors remember
 * the names that HD_CALL sets. */
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
/* True if a trace or a profile is on. */
static inline bool hd__event_telling(void)
{
    return HD__UNLIKELY(hd__debug_any() & HD__TELLS);
}
/* True if hd__event_watching or hd__event_telling is true, by one load of the flags. */
static inline bool hd__event_listening(void)
{
    return HD__UNLIKELY(hd__debug_any() & (HD__DEBUG_WATCHES | HD__TELLS));
}

/* The path of the module whose forward runs on this thread, such as "GPT.blocks.0.attention"; NULL
 * outside a forward. Valid while hd__event_listening. nn sets it to a text that lasts as long as
 * the process. */
extern HD__TLS const char *hd__debug_module;

/* If HEED_DEBUG is set in the environment, and not to "0", sets `bits` in hd__debug and turns
 * warnings on. */
void hd__debug_start(unsigned int bits);

extern atomic_bool hd__error_warning_on; /* the result of hd__error_warns */

/* True if warnings have a handler, or are printed because of HEED_DEBUG=1. Check it before you
 * compute a warning's text, if that is costly. A caller of hd_warn must hold no lock, and its
 * objects must be complete, because the handler may call heed. */
static inline bool hd__error_warns(void)
{
    return HD__UNLIKELY(atomic_load_explicit(&hd__error_warning_on, memory_order_relaxed));
}

/* The bytes of a note: a text that a higher layer adds to the end of a message. */
enum { HD__NOTE = 300 };

#endif
