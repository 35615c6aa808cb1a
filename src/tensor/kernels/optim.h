/* optim.h - one optimizer step over n elements of a parameter; norms and clipping of gradients.
 *
 * A step overwrites the parameter and its states, and clipping the gradients; nothing else. The
 * equations stand above the loops in optim_body.h. */
#ifndef HEED_KERNELS_OPTIM_H
#define HEED_KERNELS_OPTIM_H

#include "tensor/kernels/kernels.h"

/* What a step changes and reads. p and g have any strides, in elements; the states are dense, or
 * NULL where the options need none. */
typedef struct hdk_step {
    void *p;
    const void *g;
    int64_t p_stride, g_stride;
    void *state[3]; /* SGD: v; Adam: m, v, the largest v; RMSprop: s, v, m; Adagrad: s */
} hdk_step;

typedef struct hdk_sgd {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize;
    bool first; /* the first step: v becomes the gradient */
} hdk_sgd;

typedef struct hdk_adam {
    double decay;        /* the parameter's factor: 1 - lr weight_decay for AdamW, 1 for Adam */
    double weight_decay; /* the parameter times this is added to the gradient; 0 for AdamW */
    double one_minus_beta1, beta2, one_minus_beta2, eps;
    double step_size;   /* lr / (1 - beta1^t) */
    double correction2; /* sqrt(1 - beta2^t) */
    bool maximize;
} hdk_adam;

typedef struct hdk_rmsprop {
    double lr, alpha, one_minus_alpha, eps, weight_decay, momentum;
    bool maximize;
} hdk_rmsprop;

typedef struct hdk_adagrad {
    double lr; /* as lr_decay leaves it */
    double eps, weight_decay;
    bool maximize;
} hdk_adagrad;

enum { HDK_SCALE /* x *= a */, HDK_CLAMP_BOTH /* into [-a, a]; NaN stays */ };

/* The last index is the dtype: float32, float64. */
struct hdk_optim {
    void (*sgd[2])(const hdk_step *s, int64_t n, const hdk_sgd *o);
    void (*adam[2])(const hdk_step *s, int64_t n, const hdk_adam *o);
    void (*rmsprop[2])(const hdk_step *s, int64_t n, const hdk_rmsprop *o);
    void (*adagrad[2])(const hdk_step *s, int64_t n, const hdk_adagrad *o);

    /* Takes n elements more into *sum: the sum of |x|^p, for p 0 how many are not 0, for p INFINITY
     * the largest |x|, for -INFINITY the least. NaN stays. */
    void (*norm[2])(const void *x, int64_t stride, int64_t n, double p, double *sum);
    void (*change[2][2])(void *x, int64_t stride, int64_t n, double a);
};
HDK_FAMILY_AVX2(hdk_optim)

#endif
