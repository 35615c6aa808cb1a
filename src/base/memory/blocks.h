/* blocks.h - the header before each block, and functions of alloc.c for the other files of this
 * folder. */
#ifndef HEED_BASE_BLOCKS_H
#define HEED_BASE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* The 16 bytes before each block. */
typedef struct hd__mem_header {
    size_t size;      /* the requested bytes, at least 1; HD__FREED_SIZE for a freed object */
    int32_t freed_by; /* hd__lasting_code of the function that freed the object */
    uint16_t class;
    uint16_t kind; /* the object's hd__object_kind_of_object; 0: the block is not a live object */
} hd__mem_header;

#define HD__FREED_SIZE SIZE_MAX

static inline hd__mem_header *hd__mem_header_of(const void *p)
{
    return (hd__mem_header *)((char *)(uintptr_t)p - 16);
}

size_t hd__mem_class_bytes(unsigned int class); /* bytes of one block with its header */

/* For a small class: allocates free blocks until the calling thread keeps HD__RING_FEW of them, or
 * memory runs out. Does nothing for other classes. */
void hd__mem_cache_fill(unsigned int class);

/* Frees a block of a size class. The caller has already subtracted its bytes from the count. */
void hd__mem_block_free(void *p);

/* Empties the calling thread's quarantine, makes its free blocks available to all threads, and
 * closes its cache. */
void hd__mem_cache_leave(void);

void hd__count_system_alloc(void);

#endif
