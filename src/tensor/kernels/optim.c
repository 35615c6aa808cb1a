/* optim.c - SGD and AdamW, in the order of operations of PyTorch's single-tensor loops.
 *
 * Options are doubles and are rounded to the element's type where PyTorch rounds them. A fused
 * multiply-add stands where PyTorch's vector loops (add with alpha, lerp, addcmul) have one. */
#include "tensor/kernels/optim.h"

#define SGD(name, T, FMA)                                                                          \
    static inline void name##_run(T *p, int64_t ps, const T *g, int64_t gs, T *v, int64_t n,       \
                                  const hdk_sgd *o)                                                \
    {                                                                                              \
        const T minus_lr = (T)-o->lr, momentum = (T)o->momentum, decay = (T)o->weight_decay;       \
        const T keep = (T)(1 - o->dampening), sign = o->maximize ? -1 : 1;                         \
        const bool first = o->first, nesterov = o->nesterov;                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T dx = sign * g[i * gs];                                                               \
            dx = decay != 0 ? FMA(decay, p[i * ps], dx) : dx;                                      \
            if (v) {                                                                               \
                v[i] = first ? dx : FMA(keep, dx, v[i] * momentum);                                \
                dx = nesterov ? FMA(momentum, v[i], dx) : v[i];                                    \
            }                                                                                      \
            p[i * ps] = FMA(minus_lr, dx, p[i * ps]);                                              \
        }                                                                                          \
    }                                                                                              \
    static void name(const hdk_step *s, int64_t n, const hdk_sgd *o)                               \
    {                                                                                              \
        if (s->p_stride == 1 && s->g_stride == 1) {                                                \
            name##_run(s->p, 1, s->g, 1, s->state[0], n, o);                                       \
        } else {                                                                                   \
            name##_run(s->p, s->p_stride, s->g, s->g_stride, s->state[0], n, o);                   \
        }                                                                                          \
    }

SGD(sgd_f32, float, HDK_FMAF)
SGD(sgd_f64, double, HDK_FMA)

/* m = lerp(m, g, 1 - beta1), from the nearer end; a larger v keeps NaN, as maximum does. */
#define ADAMW(name, T, FMA, SQRT)                                                                  \
    static inline void name##_run(T *p, int64_t ps, const T *g, int64_t gs, T *m, T *v, T *top,    \
                                  int64_t n, const hdk_adamw *o)                                   \
    {                                                                                              \
        const T decay = (T)o->decay, w1 = (T)o->one_minus_beta1, beta2 = (T)o->beta2;              \
        const T w2 = (T)o->one_minus_beta2, eps = (T)o->eps, sign = o->maximize ? -1 : 1;          \
        const T step = (T)-o->step_size, correction2 = (T)o->correction2;                          \
        const bool near = w1 < (T)0.5;                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T dx = sign * g[i * gs], x = p[i * ps] * decay;                                        \
            m[i] = near ? FMA(w1, dx - m[i], m[i]) : FMA(w1 - 1, dx - m[i], dx);                   \
            v[i] = FMA(w2 * dx, dx, v[i] * beta2);                                                 \
            T d = v[i];                                                                            \
            if (top) {                                                                             \
                top[i] = d > top[i] || d != d ? d : top[i];                                        \
                d = top[i];                                                                        \
            }                                                                                      \
            p[i * ps] = x + step * m[i] / (SQRT(d) / correction2 + eps);                           \
        }                                                                                          \
    }                                                                                              \
    static void name(const hdk_step *s, int64_t n, const hdk_adamw *o)                             \
    {                                                                                              \
        T *top = o->amsgrad ? s->state[2] : NULL;                                                  \
        if (s->p_stride == 1 && s->g_stride == 1) {                                                \
            name##_run(s->p, 1, s->g, 1, s->state[0], s->state[1], top, n, o);                     \
        } else {                                                                                   \
            name##_run(s->p, s->p_stride, s->g, s->g_stride, s->state[0], s->state[1], top, n, o); \
        }                                                                                          \
    }

ADAMW(adamw_f32, float, HDK_FMAF, sqrtf)
ADAMW(adamw_f64, double, HDK_FMA, sqrt)

const struct hdk_optim HDK_TABLE(hdk_optim) = {
    .sgd_f32 = sgd_f32, .sgd_f64 = sgd_f64, .adamw_f32 = adamw_f32, .adamw_f64 = adamw_f64};
