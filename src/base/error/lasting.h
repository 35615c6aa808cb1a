/* lasting.h - texts that last as long as the process (lasting.c). */
#ifndef HEED_BASE_LASTING_H
#define HEED_BASE_LASTING_H

#include <stdint.h>

#include "base/system/threads.h"

/* What frees the tensors of a scope, in the place of hd__call: hd__lasting_scope_end, or in debug
 * mode another text of hd__lasting_text. */
extern const char hd__lasting_scope_end[]; /* "when its scope closed" */
/* A copy of the text that stays as long as the process, because what is freed may be found at any
 * time. Equal texts share one. "?" if memory runs out. */
const char *hd__lasting_text(const char *text);

/* A number for a text of this library or of hd__lasting_text, and the text again. */
int32_t hd__lasting_code(const char *text);
const char *hd__lasting_of_code(int32_t code);

extern pthread_mutex_t hd__lasting_lock; /* for a fork (start.c) */

#endif
