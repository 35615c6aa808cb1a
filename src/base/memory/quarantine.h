/* quarantine.h - a thread's ring of freed blocks that stay out of use for a while
 * (quarantine.c). */
#ifndef HEED_BASE_QUARANTINE_H
#define HEED_BASE_QUARANTINE_H

#include <stdbool.h>

#include "base/error/assert.h"
#include "base/memory/blocks.h"
#include "base/system/threads.h"

/* A thread's quarantine. `blocks` has mask + 1 places, a power of two. An empty place is NULL. The
 * next block goes to the place `at`, modulo the number of places. */
typedef struct hd__ring {
    uint32_t quick; /* bit i: blocks of class i may go straight into the ring */
    unsigned int at, mask;
    unsigned int last; /* index of the oldest block; last and bytes are for HEED_DEBUG=1 */
    size_t bytes;
    void *blocks[];
} hd__ring;

/* HD__RING_FEW: the places of a ring without HEED_DEBUG=1. HD__RETIRED_CLASS: the largest class
 * whose blocks go into quarantine; they have 4 KiB. */
enum { HD__RING_FEW = 64, HD__RETIRED_CLASS = 31 };

extern HD__TLS hd__ring *hd__ring_mine;

/* True if p is not in the ring r. Only assertions call it. */
bool hd__ring_lacks(const hd__ring *r, const void *p);

/* Puts p into the ring in place of the oldest block, and frees that block. Only for a ring without
 * HEED_DEBUG=1. */
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
