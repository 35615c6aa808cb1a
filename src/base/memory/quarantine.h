/* quarantine.h - the blocks that a thread keeps out of use after they were freed (quarantine.c). */
#ifndef HEED_BASE_QUARANTINE_H
#define HEED_BASE_QUARANTINE_H

#include <stdbool.h>

#include "base/error/assert.h"
#include "base/memory/blocks.h"
#include "base/system/threads.h"

/* The blocks that a thread keeps in quarantine: a power of two of places. An empty place is
 * NULL. */
typedef struct hd__ring {
    uint32_t quick; /* the classes whose blocks go in with no more ado */
    unsigned int at, mask;
    unsigned int last; /* the oldest block; this and bytes are only kept with HEED_DEBUG=1 */
    size_t bytes;
    void *blocks[];
} hd__ring;

/* HD__RETIRED_CLASS is the class whose blocks have 4 KiB. */
enum { HD__RING_FEW = 64, HD__RETIRED_CLASS = 31 };

extern HD__TLS hd__ring *hd__ring_mine;

bool hd__ring_lacks(const hd__ring *r, const void *p); /* for assertions */

/* Without HEED_DEBUG=1: p takes the place of the oldest block, which is freed. */
static inline void hd__ring_turn(hd__ring *r, void *p)
{
    void **place = &r->blocks[r->at++ % HD__RING_FEW], *oldest = *place;
    hd__assert(hd__ring_lacks(r, p));
    *place = p;
    if (oldest) {
        hd__mem_block_free(oldest);
    }
}

/* Frees the blocks that the calling thread keeps in quarantine. */
void hd__mem_quarantine_empty(void);

#endif
