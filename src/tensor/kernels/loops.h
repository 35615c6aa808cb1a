/* loops.h - how a loop over elements is written: by a macro that takes an expression.
 *
 *     HDK_LOOP(where_f32, HDK_EACH, 3, float, uint8_t, float, float, a ? b : c)
 * defines the hdk_loop where_f32 of three inputs, whose elements are a, b and c in the expression.
 * x is another name of a, and p0 and p1 are the params, two numbers of a's type. The output may be
 * the same memory as an input, element for element. The compiler makes vectors of the loop.
 *
 * A loop has contiguous operands; others are gathered for it (runs.c). */
#ifndef HEED_KERNELS_LOOPS_H
#define HEED_KERNELS_LOOPS_H

#include "tensor/kernels/kernels.h"

/* Stands before a loop whose turns are independent although its output may be one of its inputs.
 * Clang warns where it cannot vectorise such a loop, as under sanitizers. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define HDK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define HDK_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* How many elements a loop computes at least: those that are missing are padded. Long expressions
 * are then computed in whole vectors at every level. */
enum { HDK_EACH = 1, HDK_WHOLE = 16 };

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
#define hdk_padded HDK_TABLE(hdk_padded)

/* Runs f, which wants contiguous operands, on any strides: an input that is not contiguous is
 * copied beside f, a run at a time, and the output is copied back. */
void hdk_in_runs(hdk_loop f, const hdk_operands *o, char *const *data, const int64_t *strides,
                 int64_t n, const void *params);

/* Runs f over the elements [from, n), fewer than HDK_WHOLE, and zeros after them. */
void hdk_padded(hdk_loop f, const hdk_operands *o, char *const *data, int64_t from, int64_t n,
                const void *params);

/* Stands at the beginning of f, an hdk_loop of `count` operands whose elements have so many bytes:
 * after it they are contiguous. */
#define HDK_DENSE(f, params, count, ...)                                                           \
    static const hdk_operands dense = {count, {__VA_ARGS__}};                                      \
    if (!hdk_is_dense(&dense, strides)) {                                                          \
        hdk_in_runs(f, &dense, data, strides, n, params);                                          \
        return;                                                                                    \
    }

/* what a loop without params reads in their place */
static const double hdk_no_params[2] = {0};

/* the body of the loop `self` */
#define HDK__TURNS(self, LEAST, COUNT, TO, A, B, C, EXPR)                                          \
    {                                                                                              \
        TO *y = (TO *)data[0];                                                                     \
        const A *as = (const A *)data[1], *p = params ? params : (const void *)hdk_no_params;      \
        const A p0 = p[0], p1 = p[1];                                                              \
        const B *bs = (const B *)data[COUNT > 1 ? 2 : 1];                                          \
        const C *cs = (const C *)data[COUNT];                                                      \
        HDK_DENSE(self, params, COUNT + 1, sizeof(TO), sizeof(A), sizeof(B), sizeof(C))            \
        (void)p0, (void)p1;                                                                        \
        HDK_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < (n & -(int64_t)LEAST); i++) {                                      \
            const A a = as[i], x = a;                                                              \
            const B b = bs[i];                                                                     \
            const C c = cs[i];                                                                     \
            (void)x, (void)b, (void)c;                                                             \
            y[i] = (TO)(EXPR);                                                                     \
        }                                                                                          \
        if (n % LEAST) {                                                                           \
            hdk_padded(self, &dense, data, n & -(int64_t)LEAST, n, params);                        \
        }                                                                                          \
    }

#define HDK_LOOP(name, ...)                                                                        \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
        HDK__TURNS(name, __VA_ARGS__)

/* y = EXPR of x, both of type T; and of a and b */
#define HDK_UNARY_LOOP(name, T, LEAST, EXPR) HDK_LOOP(name, LEAST, 1, T, T, T, T, EXPR)
#define HDK_BINARY_LOOP(name, T, LEAST, EXPR) HDK_LOOP(name, LEAST, 2, T, T, T, T, EXPR)

/* The same of float32, where x, a and b are vectors (vec.h): what compilers make of minima and
 * maxima is slower. */
#define HDK_VECTOR_LOOP(name, COUNT, EXPR)                                                         \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        enum { SIZE = sizeof(float) };                                                             \
        const float *p = params ? params : (const void *)hdk_no_params, p0 = p[0], p1 = p[1];      \
        HDK_DENSE(name, params, COUNT + 1, SIZE, SIZE, SIZE)                                       \
        (void)p0, (void)p1;                                                                        \
        vec_f32 *y = (vec_f32 *)data[0];                                                           \
        const vec_f32 *as = (const vec_f32 *)data[1], *bs = (const vec_f32 *)data[COUNT];          \
        for (int64_t i = 0; i < n / HDK_V; i++) {                                                  \
            const vec_f32 a = as[i], b = bs[i], x = a;                                             \
            (void)x, (void)b;                                                                      \
            y[i] = EXPR;                                                                           \
        }                                                                                          \
        if (n % HDK_V) {                                                                           \
            hdk_padded(name, &dense, data, n & -(int64_t)HDK_V, n, params);                        \
        }                                                                                          \
    }

/* The same, where a b that repeats itself, as a number does, has a loop of its own */
#define HDK_NUMBER_LOOP(name, T, EXPR)                                                             \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        if (strides[0] == sizeof(T) && strides[1] == sizeof(T) && strides[2] == 0) {               \
            T *y = (T *)data[0];                                                                   \
            const T *as = (const T *)data[1], b = *(const T *)data[2];                             \
            HDK_INDEPENDENT                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const T a = as[i];                                                                 \
                y[i] = (T)(EXPR);                                                                  \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        HDK__TURNS(name, HDK_EACH, 2, T, T, T, T, EXPR)                                            \
    }

#endif
