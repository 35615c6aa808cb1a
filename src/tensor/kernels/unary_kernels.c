/* unary_kernels.c - the loops of one input: those made from the rows of elementwise.h, and those of
 * rows without an expression (unary_body.h). */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"

#include "tensor/kernels/unary_made.h"

enum { UNARY_PART = 256 }; /* elements that stay in the L1 cache */

#define TYPE f32
#include "tensor/kernels/unary_body.h"
#undef TYPE
#define TYPE f64
#include "tensor/kernels/unary_body.h"
#undef TYPE

const struct hdk_unary HDK_TABLE(hdk_unary) = {
    .of = {HDK_UNARY_LOOPS},
};
