/* optim.h - one optimizer step over n elements of a parameter. */
#ifndef HEED_KERNELS_OPTIM_H
#define HEED_KERNELS_OPTIM_H

#include "tensor/kernels/kernels.h"

/* What a step changes and reads. p and g are any strided arrays; the states are dense. Strides in
 * elements. */
typedef struct hdk_step {
    void *p;
    const void *g;
    int64_t p_stride, g_stride;
    void *state[3]; /* SGD: v; AdamW: m, v, the largest v (amsgrad) */
} hdk_step;

typedef struct hdk_sgd {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize;
    bool first; /* v takes the gradient */
} hdk_sgd;

typedef struct hdk_adamw {
    double decay; /* 1 - lr weight_decay */
    double one_minus_beta1, beta2, one_minus_beta2, eps;
    double step_size;   /* lr / (1 - beta1^t) */
    double correction2; /* sqrt(1 - beta2^t) */
    bool amsgrad, maximize;
} hdk_adamw;

struct hdk_optim {
    void (*sgd_f32)(const hdk_step *s, int64_t n, const hdk_sgd *o);
    void (*sgd_f64)(const hdk_step *s, int64_t n, const hdk_sgd *o);
    void (*adamw_f32)(const hdk_step *s, int64_t n, const hdk_adamw *o);
    void (*adamw_f64)(const hdk_step *s, int64_t n, const hdk_adamw *o);
};
HDK_FAMILY(hdk_optim)

#endif
