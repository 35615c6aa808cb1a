/* repr.h - what the printing files share: text in a scope. */
#ifndef HEED_TENSOR_REPR_H
#define HEED_TENSOR_REPR_H

#include "tensor/tensor_internal.h"

/* Moves the text, ended by a zero, to the innermost scope; NULL after a failure. */
const char *hd__text_give(const char *function, hd__text *t);

#endif
