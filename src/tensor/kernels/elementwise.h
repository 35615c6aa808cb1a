/* elementwise.h - the table of the operations that go element by element, over one or two inputs.
 *
 * A row has the operation's name, that of its loops, the types that it takes, and the expression
 * that it computes, in the words of functions.h. The enum, the loops and their table follow from
 * the row (loops.h). Tables are indexed by operation and by the dtype of the inputs, with NULL
 * where PyTorch has no such operation, or where not every level has the loop: hdk_unary_loop and
 * hdk_binary_loop find it. */
#ifndef HEED_KERNELS_ELEMENTWISE_H
#define HEED_KERNELS_ELEMENTWISE_H

#include "tensor/kernels/loops.h"

enum { HDK_DTYPES = 4 };

/* The types of a row: FLOATS are float32 and float64, NUMBERS int64 as well, ALL bools, too, whose
 * expression comes last. TRAINING are FLOATS of backward, of which not every level has float64;
 * LONG are FLOATS of a long expression, and so are VECTORS, of which that of float32 is computed in
 * vectors. OWN loops are written out. */

/* y = f(x), both of one dtype. CUBE is x x x, INVERSE_SQUARE is 1 / (x x). p0 and p1
 * are lo and hi of clamp, of which lo > hi gives hi; alpha of elu, the slope of leaky_relu; beta
 * and threshold of softplus. NaN stays. Of elu e^x - 1 = 2 t / (1 - t) with t = tanh(x / 2). */
#define HDK_UNARY_ROWS(ROW)                                                                        \
    ROW(NEG, neg, NUMBERS, NEGATIVE(x))                                                            \
    ROW(ABS, abs, NUMBERS, ABSOLUTE(x))                                                            \
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
    ROW(SOFTPLUS, softplus, OWN, )                                                                 \
    ROW(SILU, silu, VECTORS, x / ONE_AND_EXP(x))                                                   \
    ROW(SIN, sin, OWN, )                                                                           \
    ROW(COS, cos, OWN, )                                                                           \
    ROW(LOG1P, log1p, LONG, LOG1P_OF(x))

/* y = a op b, all of one dtype. Bools are bytes 0 and 1, whose sum is "or" and whose product is
 * "and". Of two equal numbers (0.0 and -0.0) maximum and minimum take the second, as PyTorch's
 * vectors do. Of backward a is dy, and b is y (tanh, sigmoid, relu, sqrt, rsqrt) or x (the others);
 * p0 and p1 are as forward. */
#define HDK_BINARY_ROWS(ROW)                                                                       \
    ROW(ADD, add, ALL, WRAP(a, +, b), a | b)                                                       \
    ROW(SUB, sub, NUMBERS, WRAP(a, -, b))                                                          \
    ROW(MUL, mul, ALL, WRAP(a, *, b), (a & b))                                                     \
    ROW(DIV, div, FLOATS, a / b)                                                                   \
    ROW(MAXIMUM, maximum, ALL, a > b || IS_NAN(a) ? a : b, a | b)                                  \
    ROW(MINIMUM, minimum, ALL, a < b || IS_NAN(a) ? a : b, (a & b))                                \
    ROW(POW, pow, OWN, )                                                                           \
    ROW(TANH_BACKWARD, tanh_backward, TRAINING, (a * (1 - b * b)))                                 \
    ROW(SIGMOID_BACKWARD, sigmoid_backward, TRAINING, (a * (1 - b) * b))                           \
    ROW(RELU_BACKWARD, relu_backward, TRAINING, b <= 0 ? 0 : a)                                    \
    ROW(ABS_BACKWARD, abs_backward, TRAINING, (a * SIGN(b)))                                       \
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
    ROW(LOG1P_BACKWARD, log1p_backward, TRAINING, a / (b + 1))

/* y = a op b, y bool */
enum { HDK_EQ, HDK_NE, HDK_LT, HDK_LE, HDK_GT, HDK_GE, HDK_COMPARES };

#define HDK_NAME(name, ...) HDK_##name,
enum { HDK_BINARY_ROWS(HDK_NAME) HDK_BINARIES };
enum { HDK_UNARY_ROWS(HDK_NAME) HDK_UNARIES };
#define HDK_ENTRY(name, loops, TYPES, ...) [HDK_##name] = {TYPES##_OF(loops)},

struct hdk_binary {
    hdk_loop of[HDK_BINARIES][HDK_DTYPES];
    hdk_loop compare[HDK_COMPARES][HDK_DTYPES];
    hdk_loop where[HDK_DTYPES]; /* data[1] bool: data[0] = data[1] ? data[2] : data[3] */
};
HDK_FAMILY(hdk_binary, baseline, HDK_I64)

/* The loop of op; one that not every level has serves the others (kernels.h). */
static inline hdk_loop hdk_binary_loop(int op, int dtype)
{
    hdk_loop loop = hdk_binary()->of[op][dtype];
    return loop ? loop : hdk_binary_common()->of[op][dtype];
}

struct hdk_unary {
    hdk_loop of[HDK_UNARIES][HDK_DTYPES];
};
HDK_FAMILY(hdk_unary, baseline, HDK_F32)

/* The loop of op; one that not every level has serves the others (kernels.h). */
static inline hdk_loop hdk_unary_loop(int op, int dtype)
{
    hdk_loop loop = hdk_unary()->of[op][dtype];
    return loop ? loop : hdk_unary_common()->of[op][dtype];
}

/* x = f(x) of n contiguous elements, by the level's loop */
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
