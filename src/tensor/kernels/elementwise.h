/* elementwise.h - the table of the elementwise operations.
 *
 * A row has the operation's name, the name of its loops, its types, and the expression that it
 * computes, written with the functions of functions.h. The enums below are made from the rows. When
 * heed is built, tools/functions/loops writes a C function for each row and type to unary_made.h
 * and binary_made.h in the build folder; gdb steps through them. The tables of loops are indexed by
 * operation and by the dtype of the inputs. An entry is NULL if PyTorch has no such operation, or
 * if the CPU level uses another level's loop, which hdk_unary_loop and hdk_binary_loop find. */
#ifndef HEED_KERNELS_ELEMENTWISE_H
#define HEED_KERNELS_ELEMENTWISE_H

#include "tensor/kernels/kernels.h"

/* The types of a row:
 *     FLOATS      float32 and float64
 *     NUMBERS     FLOATS and int64
 *     ALL         NUMBERS and bool
 *     TRAINING    FLOATS of a backward function; not every level has float64
 *     LONG        FLOATS with a long expression
 *     VECTORS     LONG, and float32 is computed in vectors
 *     POWERS      NUMBERS; not every level has float64 and int64
 *     others      are in the list in tools/functions/loops
 * A row's expressions are those for floats, int64, bool and bfloat16, in this order. The last
 * expression serves the remaining types. Integers are computed in uint64, so they wrap. */

/* y = f(x), both of one dtype, and conversions to a dtype. NaN stays NaN. The loops of rows without
 * an expression are in unary_body.h.
 *     clamp         p0 = lo, p1 = hi; if lo > hi, y is hi
 *     elu           p0 = alpha; e^x - 1 = 2 * t / (1 - t) with t = tanh(x / 2)
 *     leaky_relu    p0 = slope
 *     softplus      p0 = beta, p1 = threshold
 *     to_i64        NaN and floats outside of int64's range become INT64_MIN, as on x86
 *     to_b8         everything except zero is true, NaN too */
#define HDK_UNARY_ROWS(ROW)                                                                        \
    ROW(NEG, neg, NUMBERS, -x, (int64_t)(0 - (uint64_t)x))                                         \
    ROW(ABS, abs, NUMBERS, ABSOLUTE(x), x < 0 ? (int64_t)(0 - (uint64_t)x) : x)                    \
    ROW(RELU, relu, NUMBERS, x < 0 ? 0 : x)                                                        \
    ROW(CLAMP, clamp, NUMBERS, (x < p0 ? p0 : x) > p1 ? p1 : x < p0 ? p0 : x)                      \
    ROW(RECIPROCAL, reciprocal, FLOATS, 1 / x)                                                     \
    ROW(SQRT, sqrt, FLOATS, SQRT(x))                                                               \
    ROW(RSQRT, rsqrt, FLOATS, 1 / SQRT(x))                                                         \
    ROW(CUBE, cube, FLOATS, (x * x * x))                                                           \
    ROW(INVERSE_SQUARE, inverse_square, FLOATS, 1 / (x * x))                                       \
    ROW(EXP, exp, VECTORS, EXP_OF(x))                                                              \
    ROW(LOG, log, LONG, LOG_OF(x))                                                                 \
    ROW(TANH, tanh, LONG, TANH_OF(x))                                                              \
    ROW(ERF, erf, LONG, ERF_OF(x))                                                                 \
    ROW(SIGMOID, sigmoid, VECTORS, SIGMOID(x))                                                     \
    ROW(GELU, gelu, VECTORS, GELU(x))                                                              \
    ROW(GELU_TANH, gelu_tanh, VECTORS, GELU_TANH(x))                                               \
    ROW(ELU, elu, LONG, x < 0 ? 2 * TANH_OF(x / 2) / (1 - TANH_OF(x / 2)) * p0 : x)                \
    ROW(LEAKY_RELU, leaky_relu, FLOATS, (x * (x > 0 ? 1 : p0)))                                    \
    ROW(SOFTPLUS, softplus, FLOATS, )                                                              \
    ROW(SILU, silu, VECTORS, x / ONE_AND_EXP(x))                                                   \
    ROW(SIN, sin, FLOATS, )                                                                        \
    ROW(COS, cos, FLOATS, )                                                                        \
    ROW(LOG1P, log1p, LONG, LOG1P_OF(x))                                                           \
    ROW(TO_F32, to_f32, TO_F32, x, x, x, hdk_from_bf16(x))                                         \
    ROW(TO_F64, to_f64, TO_F64, x)                                                                 \
    ROW(TO_I64, to_i64, TO_I64, hdk_int_of((double)x), x)                                          \
    ROW(TO_B8, to_b8, TO_B8, x != 0, x != 0, x)                                                    \
    ROW(TO_BF16, to_bf16, TO_BF16, hdk_to_bf16(x), x)

/* y = a op b, all of one dtype.
 *     add, mul            of bools, which are bytes 0 and 1: a | b and a & b
 *     maximum, minimum    are b if a and b are equal, as 0.0 and -0.0 are; PyTorch's vector code
 *                         does the same
 *     ..._backward        a = dy; b = y (tanh, sigmoid, relu, sqrt, rsqrt) or x (the others);
 *                         p0 and p1 as in forward
 *     eq ... ge           give bools; gt(a, b) is lt(b, a), and ge(a, b) is le(b, a) (binary.c)
 *     dropout             b = a mask of bytes, p0 = 1 / keep; a dropped element is multiplied by 0,
 *                         as in PyTorch: -1 gives -0, inf gives NaN
 *     where               y = a ? b : c; a is bool, and b and c have one dtype */
#define HDK_BINARY_ROWS(ROW)                                                                       \
    ROW(ADD, add, ALL, a + b, (int64_t)((uint64_t)a + (uint64_t)b), a | b)                         \
    ROW(SUB, sub, NUMBERS, a - b, (int64_t)((uint64_t)a - (uint64_t)b))                            \
    ROW(MUL, mul, ALL, (a * b), (int64_t)((uint64_t)a * (uint64_t)b), (a & b))                     \
    ROW(DIV, div, FLOATS, a / b)                                                                   \
    ROW(MAXIMUM, maximum, ALL, a > b || a != a ? a : b, a > b ? a : b, a | b)                      \
    ROW(MINIMUM, minimum, ALL, a < b || a != a ? a : b, a < b ? a : b, (a & b))                    \
    ROW(POW, pow, POWERS, POW_OF(a, b))                                                            \
    ROW(TANH_BACKWARD, tanh_backward, TRAINING, (a * (1 - b * b)))                                 \
    ROW(SIGMOID_BACKWARD, sigmoid_backward, TRAINING, (a * (1 - b) * b))                           \
    ROW(RELU_BACKWARD, relu_backward, TRAINING, b <= 0 ? 0 : a)                                    \
    ROW(ABS_BACKWARD, abs_backward, TRAINING, (a * ((b > 0) - (b < 0))))                           \
    ROW(GELU_BACKWARD, gelu_backward, VECTORS, (a * GELU_SLOPE(b)))                                \
    ROW(GELU_TANH_BACKWARD, gelu_tanh_backward, VECTORS, (a * GELU_TANH_SLOPE(b)))                 \
    ROW(SILU_BACKWARD, silu_backward, VECTORS, (a * SIGMOID(b) * (b * (1 - SIGMOID(b)) + 1)))      \
    ROW(ELU_BACKWARD, elu_backward, VECTORS, CHOOSE(b > 0, a, a * p0 * EXP_OF(b)))                 \
    ROW(HARDTANH_BACKWARD, hardtanh_backward, TRAINING, b > p0 && b < p1 ? a : 0)                  \
    ROW(LEAKY_RELU_BACKWARD, leaky_relu_backward, TRAINING, (a * (b > 0 ? 1 : p0)))                \
    ROW(SOFTPLUS_BACKWARD, softplus_backward, VECTORS,                                             \
        CHOOSE((b * p0) > p1, a, a * EXP_OF(b * p0) / (EXP_OF(b * p0) + 1)))                       \
    ROW(SQRT_BACKWARD, sqrt_backward, TRAINING, a / (b * 2))                                       \
    ROW(RSQRT_BACKWARD, rsqrt_backward, TRAINING, (a / -2 * (b * b * b)))                          \
    ROW(LOG1P_BACKWARD, log1p_backward, TRAINING, a / (b + 1))                                     \
    ROW(EQ, eq, COMPARES, a == b)                                                                  \
    ROW(NE, ne, COMPARES, a != b)                                                                  \
    ROW(LT, lt, COMPARES, a < b)                                                                   \
    ROW(LE, le, COMPARES, a <= b)                                                                  \
    ROW(GT, gt, COMPARES, )                                                                        \
    ROW(GE, ge, COMPARES, )                                                                        \
    ROW(DROPOUT, dropout, MASKS, (a * (b ? p0 : 0)))                                               \
    ROW(WHERE, where, CHOICES, a ? b : c)

#define HDK_NAME(name, ...) HDK_##name,
enum { HDK_BINARY_ROWS(HDK_NAME) HDK_BINARIES };
enum { HDK_UNARY_ROWS(HDK_NAME) HDK_UNARIES };

struct hdk_binary {
    hdk_loop of[HDK_BINARIES][HDK_B8 + 1]; /* HDK_WHERE has three inputs */
};
HDK_FAMILY(hdk_binary, baseline, HDK_I64)

/* Returns the loop of `op` for `dtype` at the CPU level or, if the level has none, the loop of the
 * common table (kernels.h). */
static inline hdk_loop hdk_binary_loop(int op, int dtype)
{
    hdk_loop loop = hdk_binary()->of[op][dtype];
    return loop ? loop : hdk_binary_common()->of[op][dtype];
}

struct hdk_unary {
    hdk_loop of[HDK_UNARIES][HDK_BF16 + 1];
};
HDK_FAMILY(hdk_unary, baseline, HDK_F32)

/* Returns the loop of `op` for `dtype` at the CPU level or, if the level has none, the loop of the
 * common table (kernels.h). */
static inline hdk_loop hdk_unary_loop(int op, int dtype)
{
    hdk_loop loop = hdk_unary()->of[op][dtype];
    return loop ? loop : hdk_unary_common()->of[op][dtype];
}

/* Returns the loop that converts from dtype `from` to dtype `to`. It is NULL between bfloat16 and a
 * dtype other than float32; the caller then converts to float32 first. */
static inline hdk_loop hdk_convert(int to, int from)
{
    return hdk_unary_loop(HDK_TO_F32 + to, from);
}

/* Applies `op` to n contiguous elements x in place, with the CPU level's loop. */
static inline void hdk_unary_all_f32(int op, float *x, int64_t n)
{
    hdk_unary_loop(op, HDK_F32)((char *[]){(char *)x, (char *)x}, (int64_t[]){sizeof *x, sizeof *x},
                                n, NULL);
}

static inline void hdk_unary_all_f64(int op, double *x, int64_t n)
{
    hdk_unary_loop(op, HDK_F64)((char *[]){(char *)x, (char *)x}, (int64_t[]){sizeof *x, sizeof *x},
                                n, NULL);
}

#endif
