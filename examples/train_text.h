/* train_text.h - the text that train_gpt learns. */
#ifndef HEED_EXAMPLES_TRAIN_TEXT_H
#define HEED_EXAMPLES_TRAIN_TEXT_H

#include "heed/heed.h"

/* The bytes of a file, or of all .c and .h files under a directory in the order of their names. *n
 * gets their number, which is 1 or more; a zero follows them. The caller frees the text with free.
 * NULL: the error is set. */
char *read_text(const char *path, size_t *n);

#endif
