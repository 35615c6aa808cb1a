/* quarantine.h - true if this run keeps freed memory in quarantine. Under a sanitizer or with
 * HEED_CACHE=0 it does not, and a test of freed objects would use freed memory. */
#ifndef HEED_TESTS_QUARANTINE_H
#define HEED_TESTS_QUARANTINE_H

#include <stdlib.h>
#include <string.h>

#include "heed/base.h"

static inline bool quarantine_on(void)
{
    hd_free(hd_alloc(100));
    int64_t before = hd_system_allocs();
    hd_free(hd_alloc(100));
    return hd_system_allocs() == before;
}

/* True if this run has HEED_DEBUG=1. */
static inline bool debugging(void)
{
    const char *text = getenv("HEED_DEBUG");
    return text && strcmp(text, "1") == 0;
}

#endif
