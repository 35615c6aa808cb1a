/* train_text.h - the text that train_gpt learns. */
#ifndef HEED_EXAMPLES_TRAIN_TEXT_H
#define HEED_EXAMPLES_TRAIN_TEXT_H

#include "heed/heed.h"

/* The bytes of a file, or of all .c and .h files under a directory, in the order of their names;
 * *n of them, 1 or more, and a zero, to be freed with free. NULL: the error is set. */
char *read_text(const char *path, size_t *n);

#endif
