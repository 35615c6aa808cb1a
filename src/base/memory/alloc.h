/* alloc.h - memory, besides what is public (alloc.c). */
#ifndef HEED_BASE_ALLOC_H
#define HEED_BASE_ALLOC_H

#include "heed/base.h"

/* As hd_alloc, but sets no error: the caller does, with hd__no_memory. */
void *hd__alloc(size_t size);
/* As hd_alloc, zeroed. */
void *hd__alloc_zeroed(size_t size);

enum { HD__RETIRED_MOST = 4096 - 64 }; /* the largest block that goes into quarantine */

/* Frees a block as hd_free does, but keeps it out of use for a while if it is small enough. */
void hd__retire(void *p);

/* The same for an object, of which hd__object then tells that `freed_by`, hd__call_kept or another
 * text that lasts, freed it. With NULL it is hd__retire. */
void hd__retire_object(void *p, const char *freed_by);

#endif
