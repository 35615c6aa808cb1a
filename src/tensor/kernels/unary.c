/* unary.c - loops of one input. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/gelu.h"

#define UNARY_LOOP(name, T, PRAGMA, EXPR)                                                          \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T *y = (T *)data[0];                                                                       \
        const T *xs = (const T *)data[1];                                                          \
        HDK_DENSE(name, params, 2, sizeof(T), sizeof(T));                                          \
        PRAGMA                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = xs[i];                                                                     \
            y[i] = (T)(EXPR);                                                                      \
        }                                                                                          \
    }

#define PLAIN_LOOP /* for a loop with calls, which no compiler vectorises */
#define UNARY(name, T, EXPR) UNARY_LOOP(name, T, HDK_INDEPENDENT, EXPR)
#define CALLING(name, T, EXPR) UNARY_LOOP(name, T, PLAIN_LOOP, EXPR)

/* Loops that call one function: they share what they do around it. */
#define EACH(T, SUFFIX)                                                                            \
    static __attribute__((noinline)) void each_##SUFFIX(T (*f)(T), hdk_loop loop,                  \
                                                        char *const *data, const int64_t *strides, \
                                                        int64_t n, const void *params)             \
    {                                                                                              \
        T *y = (T *)data[0];                                                                       \
        const T *x = (const T *)data[1];                                                           \
        HDK_DENSE(loop, params, 2, sizeof(T), sizeof(T));                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            y[i] = f(x[i]);                                                                        \
        }                                                                                          \
    }
#define OF_EACH(name, SUFFIX, f)                                                                   \
    static void name##_##SUFFIX(char *const *data, const int64_t *strides, int64_t n,              \
                                const void *params)                                                \
    {                                                                                              \
        each_##SUFFIX(f, name##_##SUFFIX, data, strides, n, params);                               \
    }

/* params is lo and hi. A NaN x fails both comparisons and stays; lo > hi gives hi. */
#define LO(T) (((const T *)params)[0])
#define HI(T) (((const T *)params)[1])
#define CLAMP(name, T)                                                                             \
    UNARY(name, T, (x < LO(T) ? LO(T) : x) > HI(T) ? HI(T) : x < LO(T) ? LO(T) : x)

#define FLOATS(T, SUFFIX, M)                                                                       \
    UNARY(neg_##SUFFIX, T, -x)                                                                     \
    UNARY(abs_##SUFFIX, T, M(fabs)(x))                                                             \
    UNARY(relu_##SUFFIX, T, x < 0 ? 0 : x)                                                         \
    CLAMP(clamp_##SUFFIX, T)                                                                       \
    UNARY(reciprocal_##SUFFIX, T, 1 / x)                                                           \
    UNARY(sqrt_##SUFFIX, T, M(sqrt)(x))                                                            \
    UNARY(rsqrt_##SUFFIX, T, 1 / M(sqrt)(x))

#define SINGLE(function) function##f
#define DOUBLE(function) function
FLOATS(float, f32, SINGLE)

UNARY(exp_f32, float, hdk_vexpf(x))
UNARY(log_f32, float, hdk_vlogf(x))
UNARY(tanh_f32, float, hdk_vtanhf(x))
UNARY(erf_f32, float, hdk_verff(x))
GELU_LOOP(gelu_f32_loop, 1, gelu_v(x))
GELU_LOOP(gelu_tanh_f32_loop, 1, gelu_tanh_v(x))
UNARY(sigmoid_f32, float, 1 / (1 + hdk_vexpf(-x)))

#ifdef HDK_ALL_TYPES
FLOATS(double, f64, DOUBLE)
EACH(double, f64)
OF_EACH(exp, f64, exp)
OF_EACH(log, f64, log)
OF_EACH(tanh, f64, tanh)
OF_EACH(erf, f64, erf)
CALLING(gelu_f64_loop, double, gelu_f64(x))
CALLING(gelu_tanh_f64_loop, double, gelu_tanh_f64(x))
CALLING(sigmoid_f64, double, 1 / (1 + exp(-x)))

UNARY(neg_i64, int64_t, 0 - (uint64_t)x)
UNARY(abs_i64, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
UNARY(relu_i64, int64_t, x < 0 ? 0 : x)
CLAMP(clamp_i64, int64_t)

/* params: beta and threshold */
#define BETA(T) (((const T *)params)[0])
#define THRESHOLD(T) (((const T *)params)[1])
#define SOFTPLUS(name, T, EXP, LOG1P)                                                              \
    CALLING(name, T, BETA(T) * x > THRESHOLD(T) ? x : LOG1P(EXP(BETA(T) * x)) / BETA(T))
SOFTPLUS(softplus_f32, float, expf, log1pf)
SOFTPLUS(softplus_f64, double, exp, log1p)
CALLING(silu_f32, float, x / (1 + expf(-x)))
CALLING(silu_f64, double, x / (1 + exp(-x)))
EACH(float, f32)
OF_EACH(sin, f32, sinf)
OF_EACH(sin, f64, sin)
OF_EACH(cos, f32, cosf)
OF_EACH(cos, f64, cos)
OF_EACH(log1p, f32, log1pf)
OF_EACH(log1p, f64, log1p)
#endif

#define FLOAT(name) name##_f32, HDK_COMMON(name##_f64)
#define NUMBER(name) FLOAT(name), HDK_COMMON(name##_i64)
#define ONCE(name) HDK_COMMON(name##_f32), HDK_COMMON(name##_f64)

const struct hdk_unary HDK_TABLE(hdk_unary) = {
    .of =
        {
            [HDK_NEG] = {NUMBER(neg)},
            [HDK_ABS] = {NUMBER(abs)},
            [HDK_RELU] = {NUMBER(relu)},
            [HDK_CLAMP] = {NUMBER(clamp)},
            [HDK_RECIPROCAL] = {FLOAT(reciprocal)},
            [HDK_SQRT] = {FLOAT(sqrt)},
            [HDK_RSQRT] = {FLOAT(rsqrt)},
            [HDK_EXP] = {FLOAT(exp)},
            [HDK_LOG] = {FLOAT(log)},
            [HDK_TANH] = {FLOAT(tanh)},
            [HDK_ERF] = {FLOAT(erf)},
            [HDK_SIGMOID] = {FLOAT(sigmoid)},
            [HDK_GELU] = {gelu_f32_loop, HDK_COMMON(gelu_f64_loop), NULL, NULL},
            [HDK_GELU_TANH] = {gelu_tanh_f32_loop, HDK_COMMON(gelu_tanh_f64_loop), NULL, NULL},
            [HDK_SOFTPLUS] = {ONCE(softplus)},
            [HDK_SILU] = {ONCE(silu)},
            [HDK_SIN] = {ONCE(sin)},
            [HDK_COS] = {ONCE(cos)},
            [HDK_LOG1P] = {ONCE(log1p)},
        },
};
