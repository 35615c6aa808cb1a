/* template.h - macros that compile one source for several element types.
 *
 * A template is a header without a guard. A .c file includes it once for each type. A header for
 * several .c files, such as vec.h, may do the same:
 *     #define TYPE f32
 *     #include "tensor/kernels/softmax_last.h"
 *     #undef TYPE
 * With this TYPE, T is float in the template, fn(row_sum) is row_sum_f32, and the macros below are
 * the functions for float. The last comment of a template lists the names of the functions that it
 * defines, so that a search for one of them finds the template. */
#ifndef HEED_KERNELS_TEMPLATE_H
#define HEED_KERNELS_TEMPLATE_H

#include "tensor/kernels/level.h"
#include "tensor/kernels/scalar_f32.h"

#define fn(name) HDK__JOIN(name, TYPE)
#define T fn(hdk_t)

typedef float hdk_t_f32;
typedef double hdk_t_f64;
typedef int64_t hdk_t_i64;
typedef uint64_t hdk_t_u64; /* int64 whose sums and products wrap */
typedef uint8_t hdk_t_b8;

/* FMA(a, b, c) is a * b + c. For floats the result is rounded once if the CPU level has an
 * instruction for fused multiply-adds, and twice otherwise. */
#define FMA(a, b, c) fn(hdk_fma)(a, b, c)
#define hdk_fma_f32 HDK_FMAF
#define hdk_fma_f64 HDK_FMA
#define hdk_fma_u64(a, b, c) ((a) * (b) + (c))

#define EXP(x) _Generic((T)0, float : scalar_exp_f32, default : exp)(x)
#define LOG(x) _Generic((T)0, float : logf, default : log)(x)
#define SQRT(x) _Generic((x), float : sqrtf, default : sqrt)(x)

#endif
