/* gelu.h - GELU and its derivative for one element, in float32 and float64.
 *
 * Hendrycks and Gimpel 2016, "Gaussian Error Linear Units": x Phi(x), and its approximation
 * 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). */
#ifndef HEED_KERNELS_GELU_H
#define HEED_KERNELS_GELU_H

#include "tensor/kernels/vmath.h"

#define GELU_SQRT1_2 0.70710678118654752440 /* 1 / sqrt(2) */
#define GELU_PDF 0.39894228040143267794     /* 1 / sqrt(2 pi), the density at 0 */
#define GELU_BETA 0.79788456080286535588    /* sqrt(2 / pi) */
#define GELU_KAPPA 0.044715

#define GELU_FUNCTIONS(T, SUFFIX, ERF, TANH, EXP)                                                  \
    static inline T gelu_##SUFFIX(T x)                                                             \
    {                                                                                              \
        return x * (T)0.5 * (1 + ERF(x * (T)GELU_SQRT1_2));                                        \
    }                                                                                              \
    /* Phi(x) + x phi(x) */                                                                        \
    static inline T gelu_slope_##SUFFIX(T x)                                                       \
    {                                                                                              \
        T cdf = (T)0.5 * (1 + ERF(x * (T)GELU_SQRT1_2));                                           \
        return cdf + x * ((T)GELU_PDF * EXP(x * x * (T)-0.5));                                     \
    }                                                                                              \
    static inline T gelu_tanh_##SUFFIX(T x)                                                        \
    {                                                                                              \
        T inner = (T)GELU_BETA * (x + (T)GELU_KAPPA * (x * x * x));                                \
        return (T)0.5 * x * (1 + TANH(inner));                                                     \
    }                                                                                              \
    static inline T gelu_tanh_slope_##SUFFIX(T x)                                                  \
    {                                                                                              \
        T t = TANH((T)GELU_BETA * (x + (T)GELU_KAPPA * (x * x * x)));                              \
        T dinner = (T)GELU_BETA * (1 + 3 * (T)GELU_KAPPA * (x * x));                               \
        return (T)0.5 * (1 + t) + (T)0.5 * x * ((1 - t * t) * dinner);                             \
    }

GELU_FUNCTIONS(float, f32, hdk_verff, hdk_vtanhf, hdk_vexpf)
GELU_FUNCTIONS(double, f64, erf, tanh, exp)

#endif
