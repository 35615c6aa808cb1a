/* alloc.h - heed's internal functions for memory (alloc.c). heed/base.h has the public ones. */
#ifndef HEED_BASE_ALLOC_H
#define HEED_BASE_ALLOC_H

#include "heed/base.h"

/* As hd_alloc, but sets no error: on NULL, the caller calls hd__error_no_memory. */
void *hd__mem_alloc(size_t size);
/* As hd_alloc, zeroed. */
void *hd__mem_alloc_zeroed(size_t size);

enum { HD__RETIRED_MOST = 4096 - 64 }; /* the largest block that goes into quarantine */

/* Frees a block like hd_free. A block of at most HD__RETIRED_MOST bytes goes into quarantine first
 * (quarantine.c). */
void hd__mem_retire(void *p);

/* As hd__mem_retire, for an object that `freed_by` frees; hd__object's messages name it. freed_by
 * is hd__call_kept() or another text that lasts; with NULL it is hd__mem_retire. */
void hd__mem_retire_object(void *p, const char *freed_by);

#endif
