/* optim.h - one optimizer step over elements of a parameter; norms and clipping of gradients.
 *
 * Arrays are dense, and a kernel takes the elements from `begin` to end - 1. A step overwrites the
 * parameter and its states, and clipping the gradients; nothing else. The equations stand above the
 * loops in optim_steps.h. */
#ifndef HEED_KERNELS_OPTIM_H
#define HEED_KERNELS_OPTIM_H

#include "tensor/kernels/kernels.h"
#include "tensor/kernels/optim_steps.h"

/* The numbers of a step. Those that a kernel does not read are 0. */
typedef struct hdk_numbers {
    double lr;           /* Adam: lr / (1 - beta1^t); Adagrad: as lr_decay leaves it */
    double weight_decay; /* the parameter times this is added to the gradient; 0 for AdamW */
    double decay;        /* Adam: the parameter's factor; 1 - lr weight_decay for AdamW */
    double momentum, dampening;
    double beta1, beta2; /* RMSprop: beta2 is alpha */
    double w2;           /* 1 - beta2; 1 for Adagrad, as beta2 */
    double correction2;  /* Adam: sqrt(1 - beta2^t) */
    double eps;
    double nesterov, first; /* SGD: 0 or 1; first: v becomes the gradient. With bools the loop
                             * would not vectorise */
    bool maximize;
} hdk_numbers;

/* What a step changes and reads. The states are NULL where the options need none. */
typedef struct hdk_step {
    void *p;
    const void *g;
    void *state[3]; /* SGD: v; Adam: m, v, the largest v; RMSprop: s, v, m */
    hdk_numbers numbers;
} hdk_step;

#define HDK_STEP_NAME(name, loop) HDK_##name,
enum { HDK_OPTIM_STEPS(HDK_STEP_NAME) HDK_STEPS };
enum { HDK_SCALE /* x *= a */, HDK_CLAMP_BOTH /* into [-a, a]; NaN stays */ };

/* The last index is the dtype: float32, float64. */
struct hdk_optim {
    void (*step[HDK_STEPS][2])(const hdk_step *s, int64_t begin, int64_t end);

    /* Takes more elements into *sum: the sum of |x|^p, for p 0 how many are not 0, for p INFINITY
     * the largest |x|, for -INFINITY the least. NaN stays. */
    void (*norm[2])(const void *x, int64_t begin, int64_t end, double p, double *sum);
    void (*change[2][2])(void *x, int64_t begin, int64_t end, double a);
};
HDK_FAMILY_AVX2(hdk_optim, baseline)

#endif
