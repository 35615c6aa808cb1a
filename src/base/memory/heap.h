/* heap.h - the heap, for blocks above 1 KiB (heap.c). */
#ifndef HEED_BASE_HEAP_H
#define HEED_BASE_HEAP_H

#include "base/system/threads.h"

/* The heap (heap.c), for blocks above 1 KiB. They are aligned to HD__HEAP_LINE, and the last 16
 * bytes before a block belong to the caller. NULL: out of memory. */
enum { HD__HEAP_LINE = 64 };
void *hd__heap_alloc(size_t size);
void hd__heap_free(void *p);
void hd__heap_release(void); /* gives free memory to the system */

typedef struct hd__mem_held {
    size_t mapped, used, touched; /* bytes; touched: free, but not untouched (heap.c) */
} hd__mem_held;
extern hd__mem_held hd__heap; /* what the heap holds; changes behind its lock */

extern pthread_mutex_t hd__heap_lock; /* for a fork (start.c) */

#endif
