/* lasting.h - texts that last as long as the process (lasting.c). */
#ifndef HEED_BASE_LASTING_H
#define HEED_BASE_LASTING_H

#include <stdint.h>

#include "base/system/threads.h"

/* A tensor remembers the function that freed it. A tensor that a scope freed remembers this text
 * instead, or with HEED_DEBUG=1 a text of hd__lasting_text with the scope's file and line. */
extern const char hd__lasting_scope_end[]; /* "when its scope closed" */
/* Returns a copy of the text. The copy is never freed, because a message may need it at any time.
 * Equal texts share one copy. Returns "?" if memory runs out. */
const char *hd__lasting_text(const char *text);

/* hd__lasting_code returns a number for a text of this library or of hd__lasting_text, and
 * hd__lasting_of_code returns the text for the number. */
int32_t hd__lasting_code(const char *text);
const char *hd__lasting_of_code(int32_t code);

extern pthread_mutex_t hd__lasting_lock; /* start.c locks it around a fork */

#endif
