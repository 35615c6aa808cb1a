/* optim.h - optimizers, as torch.optim defines them.
 *
 * An optimizer retains its parameters. A step uses each parameter's .grad (none: it is left alone)
 * and writes the parameter in place, outside the graph. While an error stands, or when a gradient
 * does not fit, a step changes nothing and returns false. */
#ifndef HEED_OPTIM_H
#define HEED_OPTIM_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_optim hd_optim;

typedef struct hd_sgd_options {
    size_t size;
    double lr;           /* 1e-3 */
    double momentum;     /* 0 */
    double dampening;    /* 0 */
    double weight_decay; /* 0: added to the gradient */
    bool nesterov;       /* false; needs momentum and no dampening */
    bool maximize;       /* false */
} hd_sgd_options;

/* g += wd p;  v = momentum v + (1 - dampening) g (first step: g);  p -= lr v  (nesterov: g + momentum v)
 * pytorch.org/docs: torch.optim.SGD */
HD_API hd_sgd_options hd_sgd_defaults(void);
HD_API hd_optim *hd_sgd_new(const hd_list *parameters, const hd_sgd_options *o); /* o NULL: defaults */

typedef struct hd_adamw_options {
    size_t size;
    double lr;           /* 1e-3 */
    double beta1, beta2; /* 0.9, 0.999 */
    double eps;          /* 1e-8 */
    double weight_decay; /* 1e-2: taken off the parameter, not added to the gradient */
    bool amsgrad;        /* false */
    bool maximize;       /* false */
} hd_adamw_options;

/* p -= lr wd p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
 * p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 * Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization" */
HD_API hd_adamw_options hd_adamw_defaults(void);
HD_API hd_optim *hd_adamw_new(const hd_list *parameters, const hd_adamw_options *o);

HD_API void hd_optim_free(hd_optim *o);      /* takes NULL */
HD_API bool hd_optim_step(hd_optim *o);
HD_API bool hd_optim_zero_grad(hd_optim *o); /* drops the gradients, as set_to_none */
HD_API double hd_optim_lr(const hd_optim *o); /* NaN on error */
HD_API bool hd_optim_set_lr(hd_optim *o, double lr);

#ifdef __cplusplus
}
#endif
#endif
