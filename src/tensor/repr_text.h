/* repr_text.h - a text that is printed (repr_text.c). */
#ifndef HEED_TENSOR_REPR_TEXT_H
#define HEED_TENSOR_REPR_TEXT_H

#include <stdio.h>

#include "base/text/text.h"

/* Writes the text to f, which is flushed if `at_once`, and frees the text. Fails with HD_IO, or
 * where the text failed. */
bool hd__text_print(hd__text *t, FILE *f, bool at_once);

#endif
