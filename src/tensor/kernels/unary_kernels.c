/* unary_kernels.c - the elementwise loops of one input. The build makes them from the table of
 * operations in elementwise.h, except sin, cos and softplus, which unary_body.h defines. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"

#include "tensor/kernels/unary_made.h"

enum { UNARY_PART = 256 }; /* number of elements that are computed at a time, in the L1 cache */

#define TYPE f32
#include "tensor/kernels/unary_body.h"
#undef TYPE
#define TYPE f64
#include "tensor/kernels/unary_body.h"
#undef TYPE

const struct hdk_unary HDK_TABLE(hdk_unary) = {
    .of = {HDK_UNARY_LOOPS},
};
