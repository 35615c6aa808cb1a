/* train_text.h - reads the text on which train_gpt trains. */
#ifndef HEED_EXAMPLES_TRAIN_TEXT_H
#define HEED_EXAMPLES_TRAIN_TEXT_H

#include "heed/heed.h"

/* Returns the bytes of the file at path. If path is a directory, returns the bytes of all .c and .h
 * files under it, in the order of their names. *n gets the number of bytes, which is 1 or more; a
 * zero follows the last byte. The caller frees the text with free. NULL: the error is set. */
char *read_text(const char *path, size_t *n);

#endif
