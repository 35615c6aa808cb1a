/* repr_text.h - writes a text to a file (repr_text.c). */
#ifndef HEED_TENSOR_REPR_TEXT_H
#define HEED_TENSOR_REPR_TEXT_H

#include <stdio.h>

#include "base/text/text.h"

/* Writes t's text to f, and frees the text. Flushes f if at_once is true. Returns false with HD_IO
 * if f cannot be written, and false if memory ran out while t was built. */
bool hd__tensor_text_print(hd__text *t, FILE *f, bool at_once);

#endif
