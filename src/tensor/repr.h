/* repr.h - what the printing files share: text in a scope, and numbers as text. */
#ifndef HEED_TENSOR_REPR_H
#define HEED_TENSOR_REPR_H

#include "tensor/tensor_internal.h"

/* Moves the text, ended by a zero, to the innermost scope; NULL after a failure. */
const char *hd__text_give(const char *function, hd__text *t);

enum {
    HD__PRECISION_MAX = 1000,
    HD__NUMBER_TEXT =
        HD__PRECISION_MAX + 400 /* the longest double has 309 digits before the point */
};

/* v as %.{precision}f or %.{precision}e ends in `form`, whatever the locale; `nan` has no sign.
 * Returns the length. */
int hd__number_text(char text[HD__NUMBER_TEXT], double v, char form, int precision);

#endif
