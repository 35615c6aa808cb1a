/* parts.h - what the files of base offer to each other, and to no other layer. */
#ifndef HEED_BASE_PARTS_H
#define HEED_BASE_PARTS_H

#include "base/events.h"

enum { HD__MAX_THREADS = 1024 };

/* The level to use on a CPU that could run the level `cpu`, with kernels compiled up to `built`:
 * the lower of the two, or the one that text, the value of HEED_CPU, names. If that one is higher
 * or does not exist, writes a message into `wrong`. */
int hd__level_choose(int cpu, int built, const char *text, char *wrong, size_t size);

/* Takes the thread count from HEED_THREADS or the CPUs. If HEED_THREADS is wrong, writes a message
 * into `wrong`. */
void hd__pool_start(char *wrong, size_t size);

/* Ends and joins the pool's workers; does nothing while a call is using them. */
void hd__pool_stop(void);

/* Gives the free blocks that the calling thread keeps to where all threads find them. */
void hd__cache_leave(void);

void hd__count_system_alloc(void);

/* What lies in the 16 bytes before each block. */
typedef struct hd__header {
    size_t size;      /* what the caller asked for, at least 1; or HD__FREED_SIZE */
    int32_t freed_by; /* of a freed object: hd__text_code */
    uint16_t class;
    uint16_t kind; /* of an object: an hd__object_kind */
} hd__header;

#define HD__FREED_SIZE SIZE_MAX

static inline hd__header *hd__header_of(const void *p)
{
    return (hd__header *)((char *)(uintptr_t)p - 16);
}

size_t hd__class_bytes(unsigned int class); /* of a block, with its header */

/* Brings the calling thread as many free blocks of a class as its ring will hold, if it keeps
 * blocks of that class one by one. */
void hd__cache_fill(unsigned int class);

/* Frees a block of a class whose bytes are not counted any more. */
void hd__block_free(void *p);

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

/* A number for a text of this library or of hd__text_for_ever, and the text again. */
int32_t hd__text_code(const char *text);
const char *hd__text_of_code(int32_t code);

/* Sets these bits of hd__debug if the environment has HEED_DEBUG=1. */
void hd__debug_start(unsigned int bits);

bool hd__ring_lacks(const hd__ring *r, const void *p); /* for assertions */

/* Without HEED_DEBUG=1: p takes the place of the oldest block, which is freed. */
static inline void hd__ring_turn(hd__ring *r, void *p)
{
    void **place = &r->blocks[r->at++ % HD__RING_FEW], *oldest = *place;
    hd__assert(hd__ring_lacks(r, p));
    *place = p;
    if (oldest) {
        hd__block_free(oldest);
    }
}

/* Frees the blocks that the calling thread keeps in quarantine. */
void hd__quarantine_empty(void);

/* The heap (heap.c), for blocks above 1 KiB. They are aligned to HD__HEAP_LINE, and the last 16
 * bytes before a block belong to the caller. NULL: out of memory. */
enum { HD__HEAP_LINE = 64 };
void *hd__heap_alloc(size_t size);
void hd__heap_free(void *p);
void hd__heap_release(void); /* gives free memory to the system */

typedef struct hd__held {
    size_t mapped, used, touched; /* bytes; touched: free, but not untouched (heap.c) */
} hd__held;
extern hd__held hd__heap; /* what the heap holds; changes behind its lock */

/* The calling thread ends: adds what it counted to the total. */
void hd__count_thread_end(void);

/* In the child of a fork there are no workers. The caller holds the pool's lock. */
void hd__pool_fork_child(void);

/* The locks of base, for a fork (start.c). Otherwise each is used in its own file alone. */
extern pthread_mutex_t hd__pool_lock, hd__count_lock, hd__heap_lock, hd__lasting_lock,
    hd__handlers_lock;

#endif
