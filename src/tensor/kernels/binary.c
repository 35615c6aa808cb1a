/* binary.c - loops of two inputs, and of where.
 *
 * Integers wrap, in uint64. Bools are bytes 0 and 1, whose sum is "or" and whose product is "and".
 * Of two equal numbers (0.0 and -0.0) maximum and minimum take the second, as PyTorch's vectors
 * do. */
#include "tensor/kernels/elementwise.h"
#include "tensor/kernels/gelu.h"
#include "tensor/kernels/vdouble.h"

/* y[i] = EXPR of a and b */
#define EACH(TO, FROM, EXPR)                                                                       \
    HDK_INDEPENDENT                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const FROM a = as[i], b = bs[i];                                                           \
        y[i] = (TO)(EXPR);                                                                         \
    }

#define DENSE_LOOP(name, TO, FROM, EXPR)                                                           \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        TO *y = (TO *)data[0];                                                                     \
        const FROM *as = (const FROM *)data[1], *bs = (const FROM *)data[2];                       \
        HDK_DENSE(name, params, 3, sizeof(TO), sizeof(FROM), sizeof(FROM));                        \
        EACH(TO, FROM, EXPR)                                                                       \
    }

/* A b that repeats itself, as a number does, has a loop of its own. */
#define BINARY(name, T, EXPR)                                                                      \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T *y = (T *)data[0];                                                                       \
        const T *as = (const T *)data[1], *bs = (const T *)data[2];                                \
        if (strides[0] == sizeof(T) && strides[1] == sizeof(T) && strides[2] == 0) {               \
            const T b = *bs;                                                                       \
            HDK_INDEPENDENT                                                                        \
            for (int64_t i = 0; i < n; i++) {                                                      \
                const T a = as[i];                                                                 \
                y[i] = (T)(EXPR);                                                                  \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        HDK_DENSE(name, params, 3, sizeof(T), sizeof(T), sizeof(T));                               \
        EACH(T, T, EXPR)                                                                           \
    }

/* f(b, a) */
#define SWAPPED(name, f)                                                                           \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        f((char *[]){data[0], data[2], data[1]},                                                   \
          (const int64_t[]){strides[0], strides[2], strides[1]}, n, params);                       \
    }

#define U(x) ((uint64_t)(x))

#define FLOATS(T, SUFFIX)                                                                          \
    BINARY(add_##SUFFIX, T, a + b)                                                                 \
    BINARY(sub_##SUFFIX, T, a - b)                                                                 \
    BINARY(mul_##SUFFIX, T, (a * b))                                                               \
    BINARY(div_##SUFFIX, T, a / b)                                                                 \
    BINARY(maximum_##SUFFIX, T, a > b || a != a ? a : b)                                           \
    BINARY(minimum_##SUFFIX, T, a < b || a != a ? a : b)

#define BACKWARDS(T, SUFFIX)                                                                       \
    DENSE_LOOP(tanh_backward_##SUFFIX, T, T, (a * (1 - b * b)))                                    \
    DENSE_LOOP(sigmoid_backward_##SUFFIX, T, T, (a * (1 - b) * b))                                 \
    DENSE_LOOP(relu_backward_##SUFFIX, T, T, b <= 0 ? 0 : a)                                       \
    DENSE_LOOP(abs_backward_##SUFFIX, T, T, (a * (T)((b > 0) - (b < 0))))                          \
    HDK_INLINE T leaky_slope_##SUFFIX(T dy, T x, T slope)                                          \
    {                                                                                              \
        return dy * (x > 0 ? 1 : slope);                                                           \
    }                                                                                              \
    DENSE_LOOP(leaky_relu_backward_##SUFFIX, T, T, leaky_slope_##SUFFIX(a, b, *(const T *)params)) \
    DENSE_LOOP(sqrt_backward_##SUFFIX, T, T, a / (b * 2))                                          \
    DENSE_LOOP(rsqrt_backward_##SUFFIX, T, T, (a * (T)-0.5 * (b * b * b)))                         \
    DENSE_LOOP(log1p_backward_##SUFFIX, T, T, a / (b + 1))

enum { PART = 256 }; /* elements that stay in the first cache */

FLOATS(float, f32)
BACKWARDS(float, f32)
VECTOR_LOOP(gelu_backward_f32, 2, (a * gelu_slope_v(x)))
VECTOR_LOOP(gelu_tanh_backward_f32, 2, (a * gelu_tanh_slope_v(x)))

/* dy s (1 + x (1 - s)), rounded as the product of dy s and the rest */
HDK_INLINE vec_f32 silu_slope(vec_f32 dy, vec_f32 x)
{
    const vec_f32 s = 1 / one_and_exp(x);
    return (dy * s) * (x * (1 - s) + 1);
}
VECTOR_LOOP(silu_backward_f32, 2, silu_slope(a, x))

#ifdef HDK_WIDE_TYPES
/* dy where x > 0, (dy alpha) e^x elsewhere */
HDK_INLINE vec_f32 elu_slope(vec_f32 dy, vec_f32 x, const float *alpha)
{
    const vec_i32 straight = x > 0;
    return (vec_f32)(((vec_i32)dy & straight) | ((vec_i32)(dy * alpha[0] * exp_of(x)) & ~straight));
}
VECTOR_LOOP(elu_backward_f32, 2, elu_slope(a, x, params))
#endif

/* p: beta and threshold */
HDK_INLINE vec_f32 softplus_slope(vec_f32 dy, vec_f32 x, const float *p)
{
    const vec_f32 scaled = x * p[0], z = exp_of(scaled);
    const vec_i32 straight = scaled > p[1];
    return (vec_f32)(((vec_i32)dy & straight) | ((vec_i32)(dy * z / (z + 1)) & ~straight));
}
VECTOR_LOOP(softplus_backward_f32, 2, softplus_slope(a, x, params))
DENSE_LOOP(pow_f32, float, float, vdouble_pow_short((double)a, (double)b))

#define COMPARE(SUFFIX, T)                                                                         \
    DENSE_LOOP(eq_##SUFFIX, uint8_t, T, a == b)                                                    \
    DENSE_LOOP(ne_##SUFFIX, uint8_t, T, a != b)                                                    \
    DENSE_LOOP(lt_##SUFFIX, uint8_t, T, a < b)                                                     \
    DENSE_LOOP(le_##SUFFIX, uint8_t, T, a <= b)                                                    \
    SWAPPED(gt_##SUFFIX, lt_##SUFFIX)                                                              \
    SWAPPED(ge_##SUFFIX, le_##SUFFIX)

COMPARE(f32, float)

#define WHERE(name, T)                                                                             \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        T *y = (T *)data[0];                                                                       \
        const uint8_t *c = (const uint8_t *)data[1];                                               \
        const T *a = (const T *)data[2], *b = (const T *)data[3];                                  \
        HDK_DENSE(name, params, 4, sizeof(T), 1, sizeof(T), sizeof(T));                            \
        HDK_INDEPENDENT                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T u = a[i], v = b[i];                                                            \
            y[i] = c[i] ? u : v;                                                                   \
        }                                                                                          \
    }

WHERE(where_4, uint32_t)
WHERE(where_8, uint64_t)

FLOATS(double, f64)
COMPARE(f64, double)

BINARY(add_i64, int64_t, U(a) + U(b))
BINARY(sub_i64, int64_t, U(a) - U(b))
BINARY(mul_i64, int64_t, U(a) * U(b))
BINARY(maximum_i64, int64_t, a > b ? a : b)
BINARY(minimum_i64, int64_t, a < b ? a : b)
COMPARE(i64, int64_t)

#ifdef HDK_WIDE_TYPES
BACKWARDS(double, f64)
/* y = dy (Phi(x) + x phi(x)) */
static void gelu_slopes(double *y, const double *dy, const double *x, int64_t n)
{
    double e[PART], density[PART];
    for (int64_t i = 0; i < n; i++) {
        e[i] = x[i] * GELU_SQRT1_2;
        density[i] = x[i] * x[i] * -0.5;
    }
    hdk_unary_all_f64(HDK_ERF, e, n);
    hdk_unary_all_f64(HDK_EXP, density, n);
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        y[i] = dy[i] * (0.5 * (1 + e[i]) + x[i] * (GELU_PDF * density[i]));
    }
}

static void gelu_tanh_slopes(double *y, const double *dy, const double *x, int64_t n)
{
    double e[PART];
    for (int64_t i = 0; i < n; i++) {
        e[i] = GELU_BETA * (x[i] + GELU_KAPPA * (x[i] * x[i] * x[i]));
    }
    hdk_unary_all_f64(HDK_TANH, e, n);
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        const double v = x[i], t = e[i], du = GELU_BETA * (1 + 3 * GELU_KAPPA * (v * v));
        y[i] = dy[i] * (0.5 * (1 + t) + 0.5 * v * ((1 - t * t) * du));
    }
}

static void silu_slopes(double *y, const double *dy, const double *x, int64_t n)
{
    double s[PART];
    memcpy(s, x, (size_t)n * sizeof *s);
    hdk_unary_all_f64(HDK_SIGMOID, s, n);
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        y[i] = dy[i] * s[i] * (x[i] * (1 - s[i]) + 1);
    }
}

static void elu_slopes(double *y, const double *dy, const double *x, int64_t n, const double *alpha)
{
    double e[PART];
    memcpy(e, x, (size_t)n * sizeof *e);
    hdk_unary_all_f64(HDK_EXP, e, n);
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        const double d = dy[i], c = d * alpha[0] * e[i];
        y[i] = x[i] > 0 ? d : c;
    }
}

static void softplus_slopes(double *y, const double *dy, const double *x, int64_t n,
                            const double *p)
{
    const double beta = p[0], threshold = p[1];
    const int64_t strides[] = {sizeof *y, sizeof *y, sizeof *y};
    double z[PART], curved[PART];
    for (int64_t i = 0; i < n; i++) {
        z[i] = x[i] * beta;
    }
    hdk_unary_all_f64(HDK_EXP, z, n);
    for (int64_t i = 0; i < n; i++) {
        curved[i] = dy[i] * z[i];
        z[i] += 1;
    }
    hdk_binary_loop(HDK_DIV, HDK_F64)((char *[]){(char *)curved, (char *)curved, (char *)z},
                                      strides, n, NULL);
    HDK_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
        const double d = dy[i], c = curved[i];
        y[i] = x[i] * beta > threshold ? d : c;
    }
}

#define IN_PARTS(name, ...)                                                                        \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params)     \
    {                                                                                              \
        enum { SIZE = sizeof(double) };                                                            \
        HDK_DENSE(name, params, 3, SIZE, SIZE, SIZE);                                              \
        for (int64_t i = 0; i < n; i += PART) {                                                    \
            double *y = (double *)data[0] + i;                                                     \
            const double *dy = (const double *)data[1] + i, *x = (const double *)data[2] + i;      \
            const int64_t m = n - i < PART ? n - i : PART;                                         \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    }
IN_PARTS(gelu_backward_f64, gelu_slopes(y, dy, x, m))
IN_PARTS(gelu_tanh_backward_f64, gelu_tanh_slopes(y, dy, x, m))
IN_PARTS(silu_backward_f64, silu_slopes(y, dy, x, m))
IN_PARTS(elu_backward_f64, elu_slopes(y, dy, x, m, params))
IN_PARTS(softplus_backward_f64, softplus_slopes(y, dy, x, m, params))
DENSE_LOOP(pow_f64, double, double, pow(a, b))

/* For b < 0 the power is a fraction, of which only 1, -1 or 0 is left. */
static int64_t int_pow(int64_t a, int64_t b)
{
    uint64_t y = 1, base = U(a);
    if (b < 0) {
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    }
    for (; b; b >>= 1, base *= base) {
        y *= b & 1 ? base : 1;
    }
    return (int64_t)y;
}

DENSE_LOOP(pow_i64, int64_t, int64_t, int_pow(a, b))

DENSE_LOOP(or_b8, uint8_t, uint8_t, a | b)
DENSE_LOOP(and_b8, uint8_t, uint8_t, (a & b))
COMPARE(b8, uint8_t)
WHERE(where_1, uint8_t)
#endif

#define FLOAT(name) name##_f32, name##_f64
#define NUMBER(name) FLOAT(name), name##_i64
#define ALL(name) NUMBER(name), HDK_WIDE(name##_b8)
#define COMMON_F64(name) name##_f32, HDK_WIDE(name##_f64)
#define COMMON(name) HDK_WIDE(name##_f32), HDK_WIDE(name##_f64)

const struct hdk_binary HDK_TABLE(hdk_binary) = {
    .of = {HDK_BINARY_ROWS(HDK_ROW)},
    .compare = {{ALL(eq)}, {ALL(ne)}, {ALL(lt)}, {ALL(le)}, {ALL(gt)}, {ALL(ge)}},
    .where = {where_4, where_8, where_8, HDK_WIDE(where_1)},
};
