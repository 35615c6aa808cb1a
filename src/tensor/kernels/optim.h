/* optim.h - one optimizer step over elements of a parameter; norms and clipping of gradients.
 *
 * Arrays are dense. A kernel takes the elements [begin, end). A step changes only the parameter and
 * its states; clipping changes only the gradients. The equations are above the loops in
 * optim_steps.h. */
#ifndef HEED_KERNELS_OPTIM_H
#define HEED_KERNELS_OPTIM_H

#include "tensor/kernels/kernels.h"
#include "tensor/kernels/optim_steps.h"

/* The numbers of a step. Those that a kernel does not read are 0. */
typedef struct hdk_numbers {
    double lr; /* the learning rate; Adam: lr / (1 - beta1^t); Adagrad: the rate after lr_decay */
    double weight_decay; /* gradient += weight_decay * parameter; 0 for AdamW */
    double decay; /* the parameter's factor: 1 - lr * weight_decay for AdamW and Lion; 1 for Adam */
    double momentum, dampening; /* SGD; RMSprop: only momentum */
    double beta1, beta2;        /* RMSprop: beta2 is alpha */
    double w2;                  /* 1 - beta2; 1 for Adagrad, whose beta2 is 1, too */
    double correction2;         /* Adam: sqrt(1 - beta2^t) */
    double eps;
    double nesterov, first; /* SGD's flags, 0 or 1; bools would keep the loop from
                             * vectorising. If `first` is 1, the gradient replaces v. */
    bool maximize;
} hdk_numbers;

/* The arrays and the numbers of a step: the parameter p, its gradient g, and its states. A state is
 * NULL if the options need none. */
typedef struct hdk_step {
    void *p;
    const void *g;
    void *state[3]; /* SGD: v; Adam: m, v, the largest v; RMSprop: s, v, m; Lion: m */
    hdk_numbers numbers;
} hdk_step;

#define HDK_STEP_NAME(name, loop) HDK_##name,
enum { HDK_OPTIM_STEPS(HDK_STEP_NAME) HDK_STEPS };
enum { HDK_SCALE /* x *= a */, HDK_CLAMP_BOTH /* clamps x to [-a, a], keeps NaN */ };

/* The last index of each table is the dtype: float32, float64. */
struct hdk_optim {
    void (*step[HDK_STEPS][2])(const hdk_step *s, int64_t begin, int64_t end);

    /* Adds the sum of |x|^p over [begin, end) to *sum; for p = 0, adds the number of nonzero
     * elements. For p = INFINITY sets *sum to the largest |x| so far, and for -INFINITY to the
     * smallest |x|. Unless p is 0, a NaN in x makes *sum NaN. */
    void (*norm[2])(const void *x, int64_t begin, int64_t end, double p, double *sum);
    /* Applies HDK_SCALE or HDK_CLAMP_BOTH, with the number a, to the elements [begin, end) of x. */
    void (*change[2][2])(void *x, int64_t begin, int64_t end, double a);
};
HDK_FAMILY_AVX2(hdk_optim, baseline)

#endif
