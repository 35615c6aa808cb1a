/* repr_text.h - writes a text to a file (repr_text.c). */
#ifndef HEED_TENSOR_REPR_TEXT_H
#define HEED_TENSOR_REPR_TEXT_H

#include <stdio.h>

#include "base/text/text.h"

/* Writes the text to f, and frees the text. Flushes f if `at_once`. Fails with HD_IO, or if memory
 * ran out in the text before. */
bool hd__tensor_text_print(hd__text *t, FILE *f, bool at_once);

#endif
