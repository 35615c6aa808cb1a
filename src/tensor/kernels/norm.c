/* norm.c - layer normalisation of rows. With rstd = 1 / sqrt(var + eps) and u = (x - mean) * rstd:
 *     forward     y = u * w + b
 *     backward    dx = rstd * (g - mean(g) - u * mean(g * u)) with g = dy * w;
 *                 dw = sum of dy * u, and db = sum of dy, over the rows
 * The results share no memory with the operands.
 *
 * Mean and variance take two passes, each with NORM_LANES partial sums. The second pass sums the
 * differences from the mean of the first pass. So the result is as accurate as the type allows,
 * even if x is far from 0. */
#include "tensor/kernels/norm.h"
#include "tensor/kernels/template.h"
#include "tensor/kernels/vec.h"

enum {
    NORM_ROOM = 4096, /* the most columns whose dw and db are summed on the stack */
    NORM_LANES = 32,  /* number of partial sums of a row: four vectors of 8 floats */
    NORM_SHORT = 16   /* rows of fewer elements are summed in order */
};

#define PARTS (NORM_LANES / VECTOR) /* the number of vectors that hold NORM_LANES elements */

#define TYPE f32
#include "tensor/kernels/norm_body.h"
#undef TYPE

#ifdef HDK_WIDE_TYPES
#define TYPE f64
#include "tensor/kernels/norm_body.h"
#undef TYPE
#endif

const struct hdk_norm HDK_TABLE(hdk_norm) = {
    .layer_norm = {layer_norm_f32, HDK_WIDE(layer_norm_f64)},
    .layer_norm_backward = {layer_norm_backward_f32, HDK_WIDE(layer_norm_backward_f64)},
};
