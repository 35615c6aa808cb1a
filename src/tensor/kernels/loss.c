/* loss.c - cross entropy and squared error, forward and backward.
 *
 * Cross entropy reads each row of logits twice forward (maximum, sum) and once backward: the
 * softmax is never stored, only the two numbers a row that give it. */
#include <string.h>

#include "tensor/kernels/loss.h"

#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/softmax_f32.h"
#include "tensor/kernels/vexp.h"

enum { ROOM = 2048 }; /* elements of a row made beside the result, in the first cache */

#define T float
#define F(name) name##_f32
#define EXP hdk_vexpf
#define LOG logf
#include "tensor/kernels/loss_body.h"
#undef T
#undef F
#undef EXP
#undef LOG

#ifdef HDK_ALL_TYPES
#define T double
#define F(name) name##_f64
#define EXP exp
#define LOG log
#include "tensor/kernels/softmax_row.h"
#include "tensor/kernels/loss_body.h"
#undef T
#undef F
#undef EXP
#undef LOG
#endif

const struct hdk_loss HDK_TABLE(hdk_loss) = {
    .cross_entropy = {cross_entropy_f32, HDK_COMMON(cross_entropy_f64)},
    .cross_entropy_backward = {cross_entropy_backward_f32, HDK_COMMON(cross_entropy_backward_f64)},
    .square = {square_f32, HDK_COMMON(square_f64)},
    .square_backward = {square_backward_f32, HDK_COMMON(square_backward_f64)},
};
