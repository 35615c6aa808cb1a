/* unary.c - loops of one input: those of the rows of elementwise.h, and sine and cosine. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/functions.h"

#define NEGATIVE(x) _Generic((x), int64_t : (int64_t)(0 - (uint64_t)(x)), default : -(x))
#define ABSOLUTE(x) _Generic((x), float : fabsf, double : fabs, default : size_of_i64)(x)

HDK_INLINE int64_t size_of_i64(int64_t x)
{
    return x < 0 ? NEGATIVE(x) : x;
}

#define FLOATS(name, EXPR)                                                                         \
    HDK_UNARY_LOOP(name##_f32, float, HDK_EACH, EXPR)                                              \
    HDK_UNARY_LOOP(name##_f64, double, HDK_EACH, EXPR)
#define NUMBERS(name, EXPR) FLOATS(name, EXPR) HDK_UNARY_LOOP(name##_i64, int64_t, HDK_EACH, EXPR)
#define LONG(name, EXPR)                                                                           \
    HDK_UNARY_LOOP(name##_f32, float, HDK_WHOLE, EXPR)                                             \
    HDK_UNARY_LOOP(name##_f64, double, HDK_WHOLE, EXPR)
#define VECTORS(name, EXPR)                                                                        \
    HDK_VECTOR_LOOP(name##_f32, 1, EXPR) HDK_UNARY_LOOP(name##_f64, double, HDK_WHOLE, EXPR)
#define OWN(name, ...)
#define LOOPS(op, name, TYPES, EXPR) TYPES(name, EXPR)
HDK_UNARY_ROWS(LOOPS) /* heed-loop */

enum { PART = 256 }; /* elements that stay in the first cache */

/* sin(x + quarters pi / 2), which is libm's where |x| is large */
#define CIRCLE(SUFFIX, T)                                                                          \
    HDK_UNARY_LOOP(small_##SUFFIX, T, HDK_WHOLE, scalar_sin_f64((double)x, (int)p0))               \
    static HDK_NOINLINE void circle_##SUFFIX(T *y, const T *x, int64_t n, int quarters,            \
                                             T (*libm)(T))                                         \
    {                                                                                              \
        const int64_t strides[] = {sizeof(T), sizeof(T)};                                          \
        const T p[] = {(T)quarters, 0};                                                            \
        T xs[PART];                                                                                \
        for (int64_t m; n > 0; n -= m, x += m, y += m) {                                           \
            int large = 0;                                                                         \
            m = n < PART ? n : PART;                                                               \
            memcpy(xs, x, (size_t)m * sizeof(T));                                                  \
            small_##SUFFIX((char *[]){(char *)y, (char *)xs}, strides, m, p);                      \
            for (int64_t i = 0; i < m; i++) {                                                      \
                large |= !(xs[i] < F64_SIN_MOST) | !(xs[i] > -F64_SIN_MOST);                       \
            }                                                                                      \
            for (int64_t i = 0; large && i < m; i++) {                                             \
                if (!(fabs((double)xs[i]) < F64_SIN_MOST)) {                                       \
                    y[i] = libm(xs[i]);                                                            \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
CIRCLE(f32, float)
CIRCLE(f64, double)

#define ON_CIRCLE(name, SUFFIX, T, quarters, libm)                                                 \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        HDK_DENSE(name, params, 2, sizeof(T), sizeof(T))                                           \
        circle_##SUFFIX((T *)data[0], (const T *)data[1], n, quarters, libm);                      \
    }
ON_CIRCLE(sin_f32, f32, float, 0, sinf)
ON_CIRCLE(sin_f64, f64, double, 0, sin)
ON_CIRCLE(cos_f32, f32, float, 1, cosf)
ON_CIRCLE(cos_f64, f64, double, 1, cos)

/* log(1 + e^(beta x)) / beta, or x from the threshold on: a part at a time, because the steps of
 * several elements go side by side then */
#define SOFTPLUS(name, T, ALL)                                                                     \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        const T beta = ((const T *)params)[0], threshold = ((const T *)params)[1];                 \
        T e[PART];                                                                                 \
        HDK_DENSE(name, params, 2, sizeof(T), sizeof(T))                                           \
        for (int64_t at = 0, m; at < n; at += m) {                                                 \
            T *y = (T *)data[0] + at;                                                              \
            const T *x = (const T *)data[1] + at;                                                  \
            m = n - at < PART ? n - at : PART;                                                     \
            for (int64_t i = 0; i < m; i++) {                                                      \
                e[i] = beta * x[i];                                                                \
            }                                                                                      \
            ALL(HDK_EXP, e, m);                                                                    \
            ALL(HDK_LOG1P, e, m);                                                                  \
            HDK_INDEPENDENT                                                                        \
            for (int64_t i = 0; i < m; i++) {                                                      \
                const T v = x[i], curved = e[i] / beta;                                            \
                y[i] = beta * v > threshold ? v : curved;                                          \
            }                                                                                      \
        }                                                                                          \
    }
SOFTPLUS(softplus_f32, float, hdk_unary_all_f32)
SOFTPLUS(softplus_f64, double, hdk_unary_all_f64)

#define FLOATS_OF(name) name##_f32, name##_f64
#define NUMBERS_OF(name) FLOATS_OF(name), name##_i64
#define LONG_OF(name) FLOATS_OF(name)
#define VECTORS_OF(name) FLOATS_OF(name)
#define OWN_OF(name) FLOATS_OF(name)

const struct hdk_unary HDK_TABLE(hdk_unary) = {
    .of = {HDK_UNARY_ROWS(HDK_ENTRY)},
};
