/* elementwise.h - loops over one, two or three inputs, element by element.
 *
 * All are hdk_loop: data[0] is the output, which may be the same memory as an input, element for
 * element. Tables are indexed by operation and by the dtype of the inputs, with NULL where PyTorch
 * has no such operation, or where only the baseline has the loop: hdk_unary_loop and
 * hdk_binary_loop find it. Each operation has one loop, over contiguous operands; others are
 * gathered for it. */
#ifndef HEED_KERNELS_ELEMENTWISE_H
#define HEED_KERNELS_ELEMENTWISE_H

#include "tensor/kernels/kernels.h"

enum { HDK_DTYPES = 4 };

/* Each operation is one row here: its name, and the loops of float32, float64, int64 and bool, by
 * the macros of the file that has them (binary.c, unary.c). HDK_ADD and so on follow, and the
 * tables. */

/* y = a op b, all of one dtype. Of backward a is dy, and b is y (tanh, sigmoid, relu, sqrt, rsqrt)
 * or x (the others). params, as an array of the dtype: alpha of elu, the slope of leaky_relu, beta
 * and threshold of softplus. */
#define HDK_BINARY_ROWS(X)                                                                         \
    X(ADD, NUMBER(add), HDK_WIDE(or_b8))                                                           \
    X(SUB, NUMBER(sub))                                                                            \
    X(MUL, NUMBER(mul), HDK_WIDE(and_b8))                                                          \
    X(DIV, FLOAT(div))                                                                             \
    X(MAXIMUM, NUMBER(maximum), HDK_WIDE(or_b8))                                                   \
    X(MINIMUM, NUMBER(minimum), HDK_WIDE(and_b8))                                                  \
    X(POW, COMMON_F64(pow), HDK_WIDE(pow_i64))                                                     \
    X(TANH_BACKWARD, COMMON_F64(tanh_backward))                                                    \
    X(SIGMOID_BACKWARD, COMMON_F64(sigmoid_backward))                                              \
    X(RELU_BACKWARD, COMMON_F64(relu_backward))                                                    \
    X(ABS_BACKWARD, COMMON_F64(abs_backward))                                                      \
    X(GELU_BACKWARD, COMMON_F64(gelu_backward))                                                    \
    X(GELU_TANH_BACKWARD, COMMON_F64(gelu_tanh_backward))                                          \
    X(SILU_BACKWARD, COMMON_F64(silu_backward))                                                    \
    X(ELU_BACKWARD, COMMON(elu_backward))                                                          \
    X(LEAKY_RELU_BACKWARD, COMMON_F64(leaky_relu_backward))                                        \
    X(SOFTPLUS_BACKWARD, COMMON_F64(softplus_backward))                                            \
    X(SQRT_BACKWARD, COMMON_F64(sqrt_backward))                                                    \
    X(RSQRT_BACKWARD, COMMON_F64(rsqrt_backward))                                                  \
    X(LOG1P_BACKWARD, COMMON_F64(log1p_backward))

/* y = a op b, y bool */
enum { HDK_EQ, HDK_NE, HDK_LT, HDK_LE, HDK_GT, HDK_GE, HDK_COMPARES };

/* y = f(x), both of one dtype. CUBE is x x x, INVERSE_SQUARE is 1 / (x x). params, as an array of
 * the dtype: of clamp lo and hi, the others as for backward. */
#define HDK_UNARY_ROWS(X)                                                                          \
    X(NEG, NUMBER(neg))                                                                            \
    X(ABS, NUMBER(abs))                                                                            \
    X(RELU, NUMBER(relu))                                                                          \
    X(CLAMP, NUMBER(clamp))                                                                        \
    X(RECIPROCAL, BOTH(reciprocal))                                                                \
    X(SQRT, BOTH(sqrt))                                                                            \
    X(RSQRT, BOTH(rsqrt))                                                                          \
    X(CUBE, BOTH(cube))                                                                            \
    X(INVERSE_SQUARE, BOTH(inverse_square))                                                        \
    X(EXP, BOTH(exp))                                                                              \
    X(LOG, BOTH(log))                                                                              \
    X(TANH, BOTH(tanh))                                                                            \
    X(ERF, BOTH(erf))                                                                              \
    X(SIGMOID, BOTH(sigmoid))                                                                      \
    X(GELU, F64_ONCE(gelu_loop))                                                                   \
    X(GELU_TANH, F64_ONCE(gelu_tanh_loop))                                                         \
    X(ELU, ONCE(elu))                                                                              \
    X(LEAKY_RELU, BOTH(leaky_relu))                                                                \
    X(SOFTPLUS, ONCE(softplus))                                                                    \
    X(SILU, BOTH(silu))                                                                            \
    X(SIN, BOTH(sin))                                                                              \
    X(COS, BOTH(cos))                                                                              \
    X(LOG1P, BOTH(log1p))

#define HDK_NAME(name, ...) HDK_##name,
enum { HDK_BINARY_ROWS(HDK_NAME) HDK_BINARIES };
enum { HDK_UNARY_ROWS(HDK_NAME) HDK_UNARIES };
#define HDK_ROW(name, ...) [HDK_##name] = {__VA_ARGS__},

struct hdk_binary {
    hdk_loop of[HDK_BINARIES][HDK_DTYPES];
    hdk_loop compare[HDK_COMPARES][HDK_DTYPES];
    hdk_loop where[HDK_DTYPES]; /* data[1] bool: data[0] = data[1] ? data[2] : data[3] */
};
HDK_FAMILY_WIDE(hdk_binary, HDK_I64)

/* The loop of op; one that not every level has serves the others (kernels.h). */
static inline hdk_loop hdk_binary_loop(int op, int dtype)
{
    hdk_loop loop = hdk_binary()->of[op][dtype];
    return loop ? loop : hdk_binary_common()->of[op][dtype];
}

struct hdk_unary {
    hdk_loop of[HDK_UNARIES][HDK_DTYPES];
};
HDK_FAMILY(hdk_unary, HDK_F32)

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

/* Stands before a loop whose turns are independent although its output may be one of its inputs.
 * Clang warns where it cannot vectorise such a loop, as under sanitizers. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define HDK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HDK_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* How many operands a loop has, the output first, and the bytes of an element of each. */
typedef struct hdk_operands {
    int n, size[4];
} hdk_operands;

static inline bool hdk_is_dense(const hdk_operands *o, const int64_t *strides)
{
    return strides[0] == o->size[0] && strides[1] == o->size[1] &&
           (o->n < 3 || strides[2] == o->size[2]) && (o->n < 4 || strides[3] == o->size[3]);
}

#define hdk_in_runs HDK_TABLE(hdk_in_runs)

/* Runs f, which wants contiguous operands, on any strides: an input that is not contiguous is
 * copied beside f, a run at a time, and the output is copied back. */
void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params);

/* Stands at the beginning of f, an hdk_loop of `count` operands whose elements have so many bytes:
 * after it they are contiguous. */
#define HDK_DENSE(f, params, count, ...)                                                           \
    do {                                                                                           \
        const hdk_operands dense_ = {count, {__VA_ARGS__}};                                        \
        if (!hdk_is_dense(&dense_, strides)) {                                                     \
            hdk_in_runs(f, &dense_, data, strides, n, params);                                     \
            return;                                                                                \
        }                                                                                          \
    } while (0)

#endif
