/* unary.c - loops of one input. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/gelu.h"
#include "tensor/kernels/vdouble.h"

#define UNARY(name, T, EXPR)                                                                       \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T *y = (T *)data[0];                                                                       \
        const T *xs = (const T *)data[1];                                                          \
        HDK_DENSE(name, params, 2, sizeof(T), sizeof(T));                                          \
        HDK_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = xs[i];                                                                     \
            y[i] = (T)(EXPR);                                                                      \
        }                                                                                          \
    }

/* Loops over EXPR of double arithmetic (vdouble.h), whose runs are whole vectors at every level. */
enum { WHOLE = 16, PART = 256 };
typedef void (*whole_run)(void *y, const void *x, int64_t n, const void *params);

/* f of any number of elements: those after the last whole vectors are padded. */
static HDK_NOINLINE void run_whole(whole_run f, size_t size, char *const *data, int64_t n,
                                   const void *params)
{
    char some[WHOLE * sizeof(double)] = {0};
    const size_t whole = (size_t)(n & -WHOLE) * size, rest = (size_t)n * size - whole;
    if (whole > 0) {
        f(data[0], data[1], n & -WHOLE, params);
    }
    if (rest > 0) {
        memcpy(some, data[1] + whole, rest);
        f(some, some, WHOLE, params);
        memcpy(data[0] + whole, some, rest);
    }
}

/* The loop `self`, whose runs are f */
static HDK_NOINLINE void loop_whole(whole_run f, hdk_loop self, int size, char *const *data,
                                    const int64_t *strides, int64_t n, const void *params)
{
    HDK_DENSE(self, params, 2, size, size);
    run_whole(f, (size_t)size, data, n, params);
}

#define WHOLE_RUN(name, T, EXPR)                                                                   \
    static void name##_run(void *y_, const void *x_, int64_t n, const void *params)                \
    {                                                                                              \
        T *y = y_;                                                                                 \
        const T *xs = x_;                                                                          \
        (void)params;                                                                              \
        HDK_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < (n & -WHOLE); i++) {                                               \
            const T x = xs[i];                                                                     \
            y[i] = (T)(EXPR);                                                                      \
        }                                                                                          \
    }
#define WHOLE_LOOP(name, T, EXPR)                                                                  \
    WHOLE_RUN(name, T, EXPR)                                                                       \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        loop_whole(name##_run, name, sizeof(T), data, strides, n, params);                         \
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
    HDK_INLINE T leaky_##SUFFIX(T x, T slope)                                                      \
    {                                                                                              \
        return x * (x > 0 ? 1 : slope);                                                            \
    }                                                                                              \
    UNARY(leaky_relu_##SUFFIX, T, leaky_##SUFFIX(x, LO(T)))                                        \
    CLAMP(clamp_##SUFFIX, T)                                                                       \
    UNARY(cube_##SUFFIX, T, (x * x * x))

#define ROOTS(T, SUFFIX, M)                                                                        \
    UNARY(reciprocal_##SUFFIX, T, 1 / x)                                                           \
    UNARY(inverse_square_##SUFFIX, T, 1 / (x * x))                                                 \
    UNARY(sqrt_##SUFFIX, T, M(sqrt)(x))                                                            \
    UNARY(rsqrt_##SUFFIX, T, 1 / M(sqrt)(x))

#define SINGLE(function) function##f
#define DOUBLE(function) function
FLOATS(float, f32, SINGLE)
ROOTS(float, f32, SINGLE)
ROOTS(double, f64, DOUBLE)

VECTOR_LOOP(exp_f32, 1, exp_of(x))
UNARY(log_f32, float, hdk_vlogf(x))
UNARY(tanh_f32, float, hdk_vtanhf(x))
UNARY(erf_f32, float, hdk_verff(x))
VECTOR_LOOP(gelu_loop_f32, 1, gelu_v(x))
VECTOR_LOOP(gelu_tanh_loop_f32, 1, gelu_tanh_v(x))

VECTOR_LOOP(sigmoid_f32, 1, 1 / one_and_exp(x))
VECTOR_LOOP(silu_f32, 1, x / one_and_exp(x))

WHOLE_LOOP(exp_f64, double, vdouble_exp(x))
WHOLE_LOOP(log_f64, double, vdouble_log(x))
WHOLE_LOOP(log1p_f32, float, vdouble_log1p_short((double)x))
WHOLE_LOOP(log1p_f64, double, vdouble_log1p(x))
WHOLE_LOOP(tanh_f64, double, vdouble_tanh(x))
WHOLE_LOOP(erf_f64, double, vdouble_erf(x))
WHOLE_LOOP(sigmoid_f64, double, 1 / (1 + vdouble_exp_beside_1(-x)))
WHOLE_LOOP(silu_f64, double, x / (1 + vdouble_exp_beside_1(-x)))

/* Sine or cosine of elements some of which are large is libm's. */
#define CIRCLE(SUFFIX, T)                                                                          \
    WHOLE_RUN(circle_##SUFFIX, T, vdouble_sin((double)x, *(const int *)params))                    \
    static HDK_NOINLINE void circle_##SUFFIX(T *y, const T *x, int64_t n, int quarters,            \
                                             T (*libm)(T))                                         \
    {                                                                                              \
        T xs[PART];                                                                                \
        for (int64_t at = 0, m; at < n; at += m) {                                                 \
            int large = 0;                                                                         \
            m = n - at < PART ? n - at : PART;                                                     \
            memcpy(xs, x + at, (size_t)m * sizeof(T));                                             \
            run_whole(circle_##SUFFIX##_run, sizeof(T), (char *[]){(char *)(y + at), (char *)xs},  \
                      m, &quarters);                                                               \
            for (int64_t i = 0; i < m; i++) {                                                      \
                large |= !(xs[i] < VDOUBLE_SIN_MOST) | !(xs[i] > -VDOUBLE_SIN_MOST);               \
            }                                                                                      \
            for (int64_t i = 0; large && i < m; i++) {                                             \
                if (!(fabs((double)xs[i]) < VDOUBLE_SIN_MOST)) {                                   \
                    y[at + i] = libm(xs[i]);                                                       \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
CIRCLE(f32, float)
CIRCLE(f64, double)

#define ON_CIRCLE(name, SUFFIX, T, quarters, libm)                                                 \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        HDK_DENSE(name, params, 2, sizeof(T), sizeof(T));                                          \
        circle_##SUFFIX((T *)data[0], (const T *)data[1], n, quarters, libm);                      \
    }
ON_CIRCLE(sin_f32, f32, float, 0, sinf)
ON_CIRCLE(sin_f64, f64, double, 0, sin)
ON_CIRCLE(cos_f32, f32, float, 1, cosf)
ON_CIRCLE(cos_f64, f64, double, 1, cos)

FLOATS(double, f64, DOUBLE)

UNARY(neg_i64, int64_t, 0 - (uint64_t)x)
UNARY(abs_i64, int64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
UNARY(relu_i64, int64_t, x < 0 ? 0 : x)
CLAMP(clamp_i64, int64_t)

#ifdef HDK_ALL_TYPES

/* Loops over parts of x, for which the level's own loops do most: MAKE fills e, and y is EXPR. */
#define IN_PARTS(name, T, MAKE, EXPR)                                                              \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T e[PART];                                                                                 \
        HDK_DENSE(name, params, 2, sizeof(T), sizeof(T));                                          \
        for (int64_t at = 0, m; at < n; at += m) {                                                 \
            T *y = (T *)data[0] + at;                                                              \
            const T *xs = (const T *)data[1] + at;                                                 \
            m = n - at < PART ? n - at : PART;                                                     \
            MAKE;                                                                                  \
            HDK_INDEPENDENT                                                                        \
            for (int64_t i = 0; i < m; i++) {                                                      \
                const T x = xs[i];                                                                 \
                y[i] = (T)(EXPR);                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

static void gelu_erfs(const double *x, double *e, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        e[i] = x[i] * GELU_SQRT1_2;
    }
    hdk_unary_all_f64(HDK_ERF, e, n);
}

static void gelu_tanhs(const double *x, double *e, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        e[i] = GELU_BETA * (x[i] + GELU_KAPPA * (x[i] * x[i] * x[i]));
    }
    hdk_unary_all_f64(HDK_TANH, e, n);
}

IN_PARTS(gelu_loop_f64, double, gelu_erfs(xs, e, m), x * 0.5 * (1 + e[i]))
IN_PARTS(gelu_tanh_loop_f64, double, gelu_tanhs(xs, e, m), 0.5 * x * (1 + e[i]))

/* alpha (e^x - 1) where x < 0, of t = tanh(x / 2), because e^x - 1 = 2 t / (1 - t) */
#define ELU(name, T, ALL)                                                                          \
    static void name##_parts(const T *x, T *t, int64_t n)                                          \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            t[i] = x[i] / 2;                                                                       \
        }                                                                                          \
        ALL(HDK_TANH, t, n);                                                                       \
    }                                                                                              \
    IN_PARTS(name, T, name##_parts(xs, e, m), x < 0 ? 2 * e[i] / (1 - e[i]) * LO(T) : x)
ELU(elu_f32, float, hdk_unary_all_f32)
ELU(elu_f64, double, hdk_unary_all_f64)

/* params: beta and threshold */
#define SOFTPLUS(name, T, ALL)                                                                     \
    static void name##_parts(const T *x, T *e, int64_t n, T beta)                                  \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            e[i] = beta * x[i];                                                                    \
        }                                                                                          \
        ALL(HDK_EXP, e, n);                                                                        \
        ALL(HDK_LOG1P, e, n);                                                                      \
    }                                                                                              \
    IN_PARTS(name, T, name##_parts(xs, e, m, LO(T)), LO(T) * x > HI(T) ? x : e[i] / LO(T))
SOFTPLUS(softplus_f32, float, hdk_unary_all_f32)
SOFTPLUS(softplus_f64, double, hdk_unary_all_f64)
#endif

#define NUMBER(name) BOTH(name), name##_i64
#define ONCE(name) HDK_COMMON(name##_f32), HDK_COMMON(name##_f64)
#define BOTH(name) name##_f32, name##_f64
#define F64_ONCE(name) name##_f32, HDK_COMMON(name##_f64)

const struct hdk_unary HDK_TABLE(hdk_unary) = {
    .of = {HDK_UNARY_ROWS(HDK_ROW)},
};
