/* blocks.h - the blocks that memory is cut into, for the files of this room (alloc.c). */
#ifndef HEED_BASE_BLOCKS_H
#define HEED_BASE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* What lies in the 16 bytes before each block. */
typedef struct hd__mem_header {
    size_t size;      /* what the caller asked for, at least 1; or HD__FREED_SIZE */
    int32_t freed_by; /* of a freed object: hd__lasting_code */
    uint16_t class;
    uint16_t kind; /* of an object: an hd__object_kind_of_object */
} hd__mem_header;

#define HD__FREED_SIZE SIZE_MAX

static inline hd__mem_header *hd__mem_header_of(const void *p)
{
    return (hd__mem_header *)((char *)(uintptr_t)p - 16);
}

size_t hd__mem_class_bytes(unsigned int class); /* of a block, with its header */

/* Brings the calling thread as many free blocks of a class as its ring will hold, if it keeps
 * blocks of that class one by one. */
void hd__mem_cache_fill(unsigned int class);

/* Frees a block of a class whose bytes are not counted any more. */
void hd__mem_block_free(void *p);

/* Gives the free blocks that the calling thread keeps to where all threads find them. */
void hd__mem_cache_leave(void);

void hd__count_system_alloc(void);

#endif
