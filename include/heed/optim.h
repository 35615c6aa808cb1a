/* optim.h - optimizers, schedules of the learning rate and clipping, as torch.optim defines them.
 *
 * An optimizer retains its parameters. A step uses each parameter's .grad (none: it is left alone)
 * and writes the parameter in place, outside the graph. While an error stands, or when a gradient
 * does not fit, a step changes nothing and returns false.
 *
 *   hd_adamw_options a = hd_adamw_defaults();
 *   hd_optim *o = hd_adamw_new(hd_module_parameters(model), &a);
 *   hd_schedule *s = hd_step_lr_new(o, 1000, 0.5);
 *   for each step:
 *       hd_optim_zero_grad(o);
 *       hd_backward(loss);                                 adds to .grad
 *       hd_clip_grad_norm_(parameters, 1.0, 2.0, false);
 *       hd_optim_step(o);
 *       hd_schedule_step(s);
 *
 * Gradients accumulate: hd_backward of n losses, each divided by n, between zero_grad and step is
 * one step on their mean. A checkpoint between them needs the gradients too:
 * hd_module_save_grads. */
#ifndef HEED_OPTIM_H
#define HEED_OPTIM_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- optimizers */

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

/* g += wd p;  v = momentum v + (1 - dampening) g (first step: g);
 * p -= lr v  (nesterov: p -= lr (g + momentum v))
 * pytorch.org/docs: torch.optim.SGD */
HD_API hd_sgd_options hd_sgd_defaults(void);
HD_API hd_optim *hd_sgd_new(const hd_list *parameters,
                            const hd_sgd_options *o); /* o NULL: defaults */

typedef struct hd_adamw_options {
    size_t size;
    double lr;           /* 1e-3 */
    double beta1, beta2; /* 0.9, 0.999 */
    double eps;          /* 1e-8 */
    double weight_decay; /* 1e-2: taken off the parameter, not added to the gradient */
    bool amsgrad;        /* false: with it v is the largest so far */
    bool maximize;       /* false */
} hd_adamw_options;

/* p -= lr wd p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
 * p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 * Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization" */
HD_API hd_adamw_options hd_adamw_defaults(void);
HD_API hd_optim *hd_adamw_new(const hd_list *parameters, const hd_adamw_options *o);

/* The same options; weight_decay 0: added to the gradient. Then as AdamW, without its first line.
 * Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization" */
typedef hd_adamw_options hd_adam_options;
HD_API hd_adam_options hd_adam_defaults(void);
HD_API hd_optim *hd_adam_new(const hd_list *parameters, const hd_adam_options *o);

typedef struct hd_rmsprop_options {
    size_t size;
    double lr;           /* 1e-2 */
    double alpha;        /* 0.99 */
    double eps;          /* 1e-8 */
    double weight_decay; /* 0: added to the gradient */
    double momentum;     /* 0 */
    bool centered;       /* false: with it s - m^2 stands for s */
    bool maximize;       /* false */
} hd_rmsprop_options;

/* g += wd p;  s = alpha s + (1 - alpha) g^2;  m = alpha m + (1 - alpha) g;
 * v = momentum v + g / (sqrt(s) + eps);  p -= lr v
 * pytorch.org/docs: torch.optim.RMSprop */
HD_API hd_rmsprop_options hd_rmsprop_defaults(void);
HD_API hd_optim *hd_rmsprop_new(const hd_list *parameters, const hd_rmsprop_options *o);

typedef struct hd_adagrad_options {
    size_t size;
    double lr;                        /* 1e-2 */
    double lr_decay;                  /* 0 */
    double weight_decay;              /* 0: added to the gradient */
    double initial_accumulator_value; /* 0: what s begins with */
    double eps;                       /* 1e-10 */
    bool maximize;                    /* false */
} hd_adagrad_options;

/* g += wd p;  s += g^2;  p -= lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)
 * Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and Stochastic
 * Optimization" */
HD_API hd_adagrad_options hd_adagrad_defaults(void);
HD_API hd_optim *hd_adagrad_new(const hd_list *parameters, const hd_adagrad_options *o);

HD_API void hd_optim_free(hd_optim *o); /* takes NULL */
HD_API bool hd_optim_step(hd_optim *o);
HD_API bool hd_optim_zero_grad(hd_optim *o);         /* drops the gradients, as set_to_none */
HD_API double hd_optim_lr(const hd_optim *o);        /* of the first group; NaN on error */
HD_API bool hd_optim_set_lr(hd_optim *o, double lr); /* of all groups */

/* ---------------------------------------------------------------- parameter groups */

/* More parameters, none of which o has yet, under options of their own: those of o's kind (an
 * hd_sgd_options * for SGD), or NULL: as the first group's were given. */
HD_API bool hd_optim_add_group(hd_optim *o, const hd_list *parameters, const void *options);
HD_API int64_t hd_optim_group_count(const hd_optim *o);            /* 1 or more; -1 on error */
HD_API double hd_optim_group_lr(const hd_optim *o, int64_t group); /* NaN on error */
HD_API bool hd_optim_group_set_lr(hd_optim *o, int64_t group, double lr);

/* ---------------------------------------------------------------- state */

/* Writes o's state into d under PyTorch's names behind prefix ("": none) and a dot: type,
 * param_groups.0.lr, state.0.step, state.0.exp_avg ... The tensors share o's memory, which the next
 * step changes: write them, or clone them, before it. Nothing is written while an error stands. */
HD_API bool hd_optim_save(const hd_optim *o, hd_dict *d, const char *prefix);

/* Copies the state from d: from there on o steps as the saved one would, to the bit. The kind, the
 * groups and their options (but lr, which is loaded) must be equal, tensors of the parameters'
 * shapes and dtypes: else the error names what differs, and nothing is changed. */
HD_API bool hd_optim_load(hd_optim *o, const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- schedules */

/* Sets the lr of every group of o, as it is made and at each hd_schedule_step, from the group's lr
 * at its making (`base`) and the number of steps so far (`t`). o outlives it. A step that fails, or
 * while an error stands, changes nothing. Formulas: torch.optim.lr_scheduler. */
typedef struct hd_schedule hd_schedule;

/* base factor while t < total_iters, then base; factor in [0, 1]. (1, 0): the lr stays. */
HD_API hd_schedule *hd_constant_lr_new(hd_optim *o, double factor, int64_t total_iters);
/* base gamma^floor(t / step_size) */
HD_API hd_schedule *hd_step_lr_new(hd_optim *o, int64_t step_size, double gamma);
/* base (start + (end - start) min(t, total_iters) / total_iters): a warm-up with end 1; start in
 * (0, 1], end in [0, 1] */
HD_API hd_schedule *hd_linear_lr_new(hd_optim *o, double start_factor, double end_factor,
                                     int64_t total_iters);

typedef struct hd_cosine_warmup_options {
    size_t size;
    int64_t warmup_steps; /* 0 */
    int64_t total_steps;  /* must be set, above warmup_steps; min_lr from there on */
    double initial_lr;    /* 0 */
    double min_lr;        /* 0 */
} hd_cosine_warmup_options;

/* t < warmup: initial_lr + t (base - initial_lr) / warmup;  else
 * min_lr + (base - min_lr) (1 + cos(pi (t - warmup) / (total - warmup))) / 2
 * Raschka, "Build a Large Language Model (From Scratch)", appendix D */
HD_API hd_cosine_warmup_options hd_cosine_warmup_defaults(void);
HD_API hd_schedule *hd_cosine_warmup_new(hd_optim *o, const hd_cosine_warmup_options *options);

typedef enum hd_anneal { HD_ANNEAL_COS = 0, HD_ANNEAL_LINEAR = 1 } hd_anneal;

typedef struct hd_one_cycle_options {
    size_t size;
    int64_t total_steps;     /* must be set: 1 or more; a step beyond it is an error */
    double max_lr;           /* 0: each group's base */
    double pct_start;        /* 0.3: the share of the steps that the lr rises in */
    hd_anneal anneal;        /* HD_ANNEAL_COS */
    bool cycle_momentum;     /* true: momentum (beta1) falls while the lr rises; not of Adagrad */
    double base_momentum;    /* 0.85 */
    double max_momentum;     /* 0.95 */
    double div_factor;       /* 25: the lr begins at max_lr / div_factor */
    double final_div_factor; /* 1e4: and ends at that / final_div_factor */
    bool three_phase;        /* false: with it, down to the beginning first, as long as up */
} hd_one_cycle_options;

/* Smith and Topin 2018, "Super-Convergence: Very Fast Training of Neural Networks Using Large
 * Learning Rates"; torch.optim.lr_scheduler.OneCycleLR */
HD_API hd_one_cycle_options hd_one_cycle_defaults(void);
HD_API hd_schedule *hd_one_cycle_new(hd_optim *o, const hd_one_cycle_options *options);

HD_API void hd_schedule_free(hd_schedule *s); /* takes NULL; leaves the optimizer as it is */
HD_API bool hd_schedule_step(hd_schedule *s); /* after hd_optim_step */
HD_API int64_t hd_schedule_steps(const hd_schedule *s); /* t; -1 on error */

/* As hd_optim_save and _load: type, step, base_lr.0 ... and the options, which must be equal.
 * Loading sets the groups' lr (and momentum); an lr that hd_optim_set_lr changed since comes back
 * with hd_optim_load after it. */
HD_API bool hd_schedule_save(const hd_schedule *s, hd_dict *d, const char *prefix);
HD_API bool hd_schedule_load(hd_schedule *s, const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- clipping */

/* Multiplies the gradients of all parameters, in place, by min(1, max_norm / (norm + 1e-6)), and
 * returns norm: the norm_type-norm (2, INFINITY, ...) of the norms of the gradients; 0 when there
 * are none. error_if_nonfinite: a norm that is inf or NaN is HD_VALUE and changes nothing, else it
 * makes zeros or NaN of them. NaN with an error standing: nothing was changed. */
HD_API double hd_clip_grad_norm_(const hd_list *parameters, double max_norm, double norm_type,
                                 bool error_if_nonfinite);
/* Every element of every gradient into [-clip_value, clip_value], in place; NaN stays. */
HD_API bool hd_clip_grad_value_(const hd_list *parameters, double clip_value);

#ifdef __cplusplus
}
#endif
#endif
