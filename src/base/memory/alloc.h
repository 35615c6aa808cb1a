/* alloc.h - heed's internal functions for memory (alloc.c). heed/base.h has the public ones. */
#ifndef HEED_BASE_ALLOC_H
#define HEED_BASE_ALLOC_H

#include "heed/base.h"

/* Allocates like hd_alloc, but sets no error: if it returns NULL, the caller calls
 * hd__error_no_memory. */
void *hd__mem_alloc(size_t size);
/* Allocates like hd_alloc, and sets all bytes to 0. Returns NULL with HD_MEMORY if memory runs
 * out. */
void *hd__mem_alloc_zeroed(size_t size);

enum { HD__RETIRED_MOST = 4096 - 64 }; /* bytes of the largest block that goes into quarantine */

/* Frees a block like hd_free. A block of at most HD__RETIRED_MOST bytes goes into quarantine first
 * (quarantine.c). */
void hd__mem_retire(void *p);

/* Frees an object like hd__mem_retire. If the program uses the object later, the message names the
 * function freed_by: hd__call_kept() or another text that lasts as long as the process. If freed_by
 * is NULL, the block is not marked as a freed object. */
void hd__mem_retire_object(void *p, const char *freed_by);

#endif
