/* optim_kernels.c - the steps of optimizers, in the order of operations of PyTorch's single-tensor
 * loops, and the kernels of clipping.
 *
 * Options are doubles, and are rounded to the element's type where PyTorch rounds them. The loops
 * use fused multiply-adds where PyTorch's vector loops do (add with alpha, lerp, addcmul). */
#include "tensor/kernels/optim.h"

#include "tensor/kernels/template.h"

/* LERP is m + w * (g - m), computed from m or from g, whichever is nearer. */
#define LERP(m, g, w) ((w) < (T)0.5 ? FMA(w, (g) - (m), m) : FMA((w)-1, (g) - (m), g))

#define TYPE f32
#include "tensor/kernels/optim_body.h"
#include "tensor/kernels/optim_steps.h"
#undef TYPE

#define TYPE f64
#include "tensor/kernels/optim_body.h"
#include "tensor/kernels/optim_steps.h"
#undef TYPE

#define FLOATS(name) name##_f32, name##_f64
#define STEP_ROW(name, loop) {FLOATS(loop)},

const struct hdk_optim HDK_TABLE(hdk_optim) = {
    .step = {HDK_OPTIM_STEPS(STEP_ROW)},
    .norm = {FLOATS(norm)},
    .change = {{FLOATS(scale)}, {FLOATS(clamp_both)}},
};
