/* error.h - heed's internal functions for failures and warnings (error.c). heed/base.h has the
 * public ones. */
#ifndef HEED_BASE_ERROR_H
#define HEED_BASE_ERROR_H

#include "base/error/call.h"
#include "base/error/debug.h"

/* Fails with HD_MEMORY: "hd_zeros: 64 bytes: out of memory". Allocates nothing. Returns NULL. */
void *hd__error_no_memory(size_t bytes);
/* NULL, or a function that nn sets. While no error is set, it writes the end of the message about a
 * NULL argument into `text`, which is empty: a hint at the field of a module that may be NULL. It
 * sets no error. */
extern void (*_Atomic hd__null_note)(char text[HD__NOTE]);

/* Sets this thread's number of failures since its last hd_error_clear to n, and returns the old
 * number. To count only its own failures, a caller begins with before = swap(0), and ends with own
 * = swap(0); swap(before + own). */
uint64_t hd__error_uncleared_swap(uint64_t n);

/* Sets f, which returns the file and line where the program opened this thread's innermost scope,
 * or NULL if they are unknown. In debug mode, messages end with them. */
void hd__error_on_message(const char *(*f)(int *line));

/* The last `most` bytes of a text, or up to 3 bytes fewer, so that no UTF-8 character is cut. */
const char *hd__error_tail(const char *text, size_t most);

/* ---------------------------------------------------------------- warnings */

/* True if *told does not have this cause yet; adds it. Two causes rarely share one of its 64
 * bits. */
bool hd__error_first(atomic_uint_least64_t *told, uintptr_t cause);

extern pthread_mutex_t hd__error_handlers_lock; /* start.c locks it around a fork */

#endif
