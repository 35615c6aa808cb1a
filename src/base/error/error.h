/* error.h - heed's internal functions for failures and warnings (error.c). heed/base.h has the
 * public ones. */
#ifndef HEED_BASE_ERROR_H
#define HEED_BASE_ERROR_H

#include "base/error/call.h"
#include "base/error/debug.h"

/* Fails with HD_MEMORY: "hd_zeros: 64 bytes: out of memory". Allocates nothing. Returns NULL. */
void *hd__error_no_memory(size_t bytes);
/* A function that nn sets, or NULL. If an argument is NULL and no error is set,
 * hd__error_null_arg_or calls this function with an empty `text`. The function may write a hint
 * into `text`, such as the field of a module that is NULL; the message ends with the hint. It sets
 * no error. */
extern void (*_Atomic hd__null_note)(char text[HD__NOTE]);

/* Sets this thread's number of failures since its last hd_error_clear to n, and returns the old
 * number. To count only its own failures, a caller begins with before = swap(0), and ends with own
 * = swap(0); swap(before + own). */
uint64_t hd__error_uncleared_swap(uint64_t n);

/* Sets the function f with which messages of debug mode find the place where the program opened
 * this thread's innermost scope. f returns the file and sets *line, or returns NULL if the place is
 * unknown. */
void hd__error_on_message(const char *(*f)(int *line));

/* Returns the last `most` bytes of a text, or up to 3 bytes fewer, so that no UTF-8 character is
 * cut. */
const char *hd__error_tail(const char *text, size_t most);

/* ---------------------------------------------------------------- warnings */

/* Adds a cause to the set *told, and returns true if it was not in the set. The set has one bit for
 * each of 64 hash values, so two causes rarely count as one. */
bool hd__error_first(atomic_uint_least64_t *told, uintptr_t cause);

extern pthread_mutex_t hd__error_handlers_lock; /* start.c locks it around a fork */

#endif
