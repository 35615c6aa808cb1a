/* heap.h - the heap, for blocks above 1 KiB (heap.c). */
#ifndef HEED_BASE_HEAP_H
#define HEED_BASE_HEAP_H

#include "base/system/threads.h"

/* Blocks are aligned to HD__HEAP_LINE. The 16 bytes before a block belong to the caller.
 * hd__heap_alloc returns NULL if memory runs out. */
enum { HD__HEAP_LINE = 64 };
void *hd__heap_alloc(size_t size);
void hd__heap_free(void *p);
void hd__heap_release(void); /* returns free memory to the system */

typedef struct hd__mem_held {
    size_t mapped, used, touched; /* bytes that are mapped; in use; free but touched (heap.c) */
} hd__mem_held;
extern hd__mem_held hd__heap; /* protected by hd__heap_lock */

extern pthread_mutex_t hd__heap_lock; /* start.c locks it around a fork */

#endif
