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

/* y = a op b, all of one dtype */
enum {
    HDK_ADD,
    HDK_SUB,
    HDK_MUL,
    HDK_DIV,
    HDK_MAXIMUM,
    HDK_MINIMUM,
    HDK_POW,
    HDK_TANH_BACKWARD,    /* dx of dy and y */
    HDK_SIGMOID_BACKWARD, /* dy, y */
    HDK_RELU_BACKWARD,    /* dy, y */
    HDK_ABS_BACKWARD,     /* dy, x */
    HDK_GELU_BACKWARD,    /* dy, x */
    HDK_GELU_TANH_BACKWARD,
    HDK_SILU_BACKWARD,
    HDK_SOFTPLUS_BACKWARD, /* dy, x; params: beta and threshold, as an array of the dtype */
    HDK_SQRT_BACKWARD,     /* dy, y */
    HDK_RSQRT_BACKWARD,    /* dy, y */
    HDK_LOG1P_BACKWARD,    /* dy, x */
    HDK_BINARIES
};

/* y = a op b, y bool */
enum { HDK_EQ, HDK_NE, HDK_LT, HDK_LE, HDK_GT, HDK_GE, HDK_COMPARES };

/* y = f(x), both of one dtype */
enum {
    HDK_NEG,
    HDK_ABS,
    HDK_RELU,
    HDK_CLAMP, /* params: lo and hi, as an array of the dtype */
    HDK_RECIPROCAL,
    HDK_SQRT,
    HDK_RSQRT,
    HDK_CUBE,           /* x x x */
    HDK_INVERSE_SQUARE, /* 1 / (x x) */
    HDK_EXP,
    HDK_LOG,
    HDK_TANH,
    HDK_ERF,
    HDK_SIGMOID,
    HDK_GELU,
    HDK_GELU_TANH,
    HDK_SOFTPLUS, /* params: beta and threshold, as an array of the dtype */
    HDK_SILU,
    HDK_SIN,
    HDK_COS,
    HDK_LOG1P,
    HDK_UNARIES
};

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
