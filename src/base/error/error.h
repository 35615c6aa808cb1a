/* error.h - failures and warnings, besides what is public (error.c). */
#ifndef HEED_BASE_ERROR_H
#define HEED_BASE_ERROR_H

#include "base/error/call.h"
#include "base/error/debug.h"

/* Sets HD_MEMORY, which names the call and the bytes. Needs no memory. Returns NULL. */
void *hd__error_no_memory(size_t bytes);
/* Where it is not NULL, it writes into text, which is empty, what the message of a NULL ends with
 * while no error stands: what may have been NULL before. It sets no error. nn sets it. */
extern void (*_Atomic hd__null_note)(char text[HD__NOTE]);

/* The number of failures on this thread since its last hd_error_clear: sets it to n and returns
 * what it was. A caller that wants to know its own failures alone begins with before = swap(0), and
 * ends with own = swap(0); swap(before + own). */
uint64_t hd__error_uncleared_swap(uint64_t n);

/* From now on, f gives the file and line with which messages end in debug mode: where the program
 * opened the innermost scope of this thread; NULL: not known. */
void hd__error_on_message(const char *(*f)(int *line));

/* The last bytes of a text, of which so many are kept, and no UTF-8 character in part. */
const char *hd__error_tail(const char *text, size_t most);

/* ---------------------------------------------------------------- warnings */

/* Was this cause not told of yet? It counts as told then. Few causes share one of 64 bits. */
bool hd__error_first(atomic_uint_least64_t *told, uintptr_t cause);

extern pthread_mutex_t hd__error_handlers_lock; /* for a fork (start.c) */

#endif
