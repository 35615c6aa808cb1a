/* lasting.h - texts that last as long as the process (lasting.c). */
#ifndef HEED_BASE_LASTING_H
#define HEED_BASE_LASTING_H

#include <stdint.h>

#include "base/system/threads.h"

/* In place of a function's name, for tensors that a scope freed: hd__lasting_scope_end, or in debug
 * mode a text of hd__lasting_text with the scope's place. */
extern const char hd__lasting_scope_end[]; /* "when its scope closed" */
/* A copy of the text that is never freed, because a message may name it at any time. Equal texts
 * share one copy. Returns "?" if memory runs out. */
const char *hd__lasting_text(const char *text);

/* A number for a text of this library or of hd__lasting_text. hd__lasting_of_code returns the
 * text. */
int32_t hd__lasting_code(const char *text);
const char *hd__lasting_of_code(int32_t code);

extern pthread_mutex_t hd__lasting_lock; /* start.c locks it around a fork */

#endif
