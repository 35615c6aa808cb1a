/* optim.h - optimizers, schedules of the learning rate and clipping, as torch.optim defines them.
 *
 * An optimizer retains its parameters. A step reads each parameter's .grad and changes the
 * parameter in place, outside the graph. A parameter without a gradient does not change. A step
 * that fails, or a step while an error is set, changes nothing and returns false.
 *
 *   hd_adamw_options a = hd_adamw_defaults();
 *   const hd_list *parameters = hd_module_parameters(model);
 *   hd_optim *o = hd_adamw_new(parameters, &a);
 *   hd_schedule *s = hd_step_lr_new(o, 1000, 0.5);
 *   for (int step = 0; step < steps; step++) {
 *       HD_SCOPE;
 *       hd_tensor *loss = hd_cross_entropy(hd_forward(model, x), y);
 *       hd_optim_zero_grad(o);
 *       hd_backward(loss); // adds to .grad
 *       hd_clip_grad_norm_(parameters, 1.0, 2.0, false);
 *       hd_optim_step(o);
 *       hd_schedule_step(s);
 *   }
 *
 * Gradients add up: if a program divides each of n losses by n, and calls hd_backward for all of
 * them between hd_optim_zero_grad and hd_optim_step, the step uses the mean of their gradients. A
 * checkpoint between these backwards must include the gradients; see hd_module_save_grads in
 * nn.h. */
#ifndef HEED_OPTIM_H
#define HEED_OPTIM_H

#include "heed/autograd.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- optimizers */

typedef struct hd_optim hd_optim; /* an optimizer; free it with hd_optim_free */

/* In the formulas of the optimizers, p is a parameter, g its gradient, wd is weight_decay, b1 and
 * b2 are beta1 and beta2, and t is the number of the step, counted from 1. The state m, v and s is
 * 0 before the first step, unless noted. With maximize, -g takes the place of g. The functions
 * hd_..._new make an optimizer with the options o; o NULL: the defaults. */

typedef struct hd_sgd_options {
    size_t size;
    double lr;           /* default 1e-3; the learning rate */
    double momentum;     /* default 0; the factor of the old v in the formula below */
    double dampening;    /* default 0; the factor of g in v is 1 - dampening */
    double weight_decay; /* default 0; wd for short: wd * p is added to the gradient */
    bool nesterov;       /* default false; true requires momentum > 0 and dampening 0 */
    bool maximize;       /* default false; if true, -g takes the place of g */
} hd_sgd_options;

/* SGD:
 *   g += wd * p
 *   v = momentum * v + (1 - dampening) * g (first step: v = g)
 *   p -= lr * v (with nesterov: p -= lr * (g + momentum * v))
 *
 * pytorch.org/docs: torch.optim.SGD */
HD_API hd_sgd_options hd_sgd_defaults(void);
HD_API hd_optim *hd_sgd_new(const hd_list *parameters, const hd_sgd_options *o);

typedef struct hd_adamw_options {
    size_t size;
    double lr;           /* default 1e-3; the learning rate */
    double beta1, beta2; /* default 0.9, 0.999; b1 and b2, the factors of the old m and v */
    double eps;          /* default 1e-8; added to the divisor */
    /* default 1e-2; wd for short: lr * wd * p is subtracted from p, not added to g */
    double weight_decay;
    bool amsgrad;  /* default false; if true, the last line below uses the largest v of all steps */
    bool maximize; /* default false; if true, -g takes the place of g */
} hd_adamw_options;

/* AdamW:
 *   p -= lr * wd * p
 *   m = b1 * m + (1 - b1) * g
 *   v = b2 * v + (1 - b2) * g^2
 *   p -= lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *
 * Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization" */
HD_API hd_adamw_options hd_adamw_defaults(void);
HD_API hd_optim *hd_adamw_new(const hd_list *parameters, const hd_adamw_options *o);

/* Adam, which is AdamW with g += wd * p in place of p -= lr * wd * p. The options are the same, but
 * weight_decay is 0 by default.
 *
 * Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization" */
typedef hd_adamw_options hd_adam_options;
HD_API hd_adam_options hd_adam_defaults(void);
HD_API hd_optim *hd_adam_new(const hd_list *parameters, const hd_adam_options *o);

typedef struct hd_rmsprop_options {
    size_t size;
    double lr;           /* default 1e-2; the learning rate */
    double alpha;        /* default 0.99; the factor of the old s and m in the formulas below */
    double eps;          /* default 1e-8; added to the divisor */
    double weight_decay; /* default 0; wd for short: wd * p is added to the gradient */
    double momentum;     /* default 0; the factor of the old v in the formula below */
    bool centered;       /* default false; if true, s - m^2 takes the place of s under the root */
    bool maximize;       /* default false; if true, -g takes the place of g */
} hd_rmsprop_options;

/* RMSprop:
 *   g += wd * p
 *   s = alpha * s + (1 - alpha) * g^2
 *   m = alpha * m + (1 - alpha) * g
 *   v = momentum * v + g / (sqrt(s) + eps)
 *   p -= lr * v
 *
 * pytorch.org/docs: torch.optim.RMSprop */
HD_API hd_rmsprop_options hd_rmsprop_defaults(void);
HD_API hd_optim *hd_rmsprop_new(const hd_list *parameters, const hd_rmsprop_options *o);

typedef struct hd_adagrad_options {
    size_t size;
    double lr;           /* default 1e-2; the learning rate */
    double lr_decay;     /* default 0; in step t, lr is divided by 1 + (t - 1) * lr_decay */
    double weight_decay; /* default 0; wd for short: wd * p is added to the gradient */
    double initial_accumulator_value; /* default 0; s before the first step */
    double eps;                       /* default 1e-10; added to the divisor */
    bool maximize;                    /* default false; if true, -g takes the place of g */
} hd_adagrad_options;

/* Adagrad:
 *   g += wd * p
 *   s += g^2
 *   p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps)
 *
 * Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and Stochastic
 * Optimization" */
HD_API hd_adagrad_options hd_adagrad_defaults(void);
HD_API hd_optim *hd_adagrad_new(const hd_list *parameters, const hd_adagrad_options *o);

typedef struct hd_lion_options {
    size_t size;
    double lr;           /* default 1e-4; the learning rate */
    double beta1, beta2; /* default 0.9, 0.99; b1 and b2, the factors of m in the two lines below */
    /* default 0; wd for short: lr * wd * p is subtracted from p, not added to g */
    double weight_decay;
    bool maximize; /* default false; if true, -g takes the place of g */
} hd_lion_options;

/* Lion, which PyTorch does not have; the sign of 0 is 0:
 *   p -= lr * (wd * p + sign(b1 * m + (1 - b1) * g))
 *   m = b2 * m + (1 - b2) * g
 *
 * Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", arXiv 2302.06675 */
HD_API hd_lion_options hd_lion_defaults(void);
HD_API hd_optim *hd_lion_new(const hd_list *parameters, const hd_lion_options *o);

HD_API void hd_optim_free(hd_optim *o);              /* frees o, not its parameters; takes NULL */
HD_API bool hd_optim_step(hd_optim *o);              /* makes one step of every group */
HD_API bool hd_optim_zero_grad(hd_optim *o);         /* removes its parameters' gradients */
HD_API double hd_optim_lr(const hd_optim *o);        /* the lr of the first group; NaN on error */
HD_API bool hd_optim_set_lr(hd_optim *o, double lr); /* sets the lr of all groups */

/* ---------------------------------------------------------------- parameter groups */

/* Adds a group of parameters with their own options. options points to the options struct of o's
 * kind, such as hd_sgd_options for SGD. NULL: the options that the first group got when o was made.
 * HD_VALUE: o already has one of these parameters. */
HD_API bool hd_optim_add_group(hd_optim *o, const hd_list *parameters, const void *options);
/* the number of groups, 1 or more; -1 on error */
HD_API int64_t hd_optim_group_count(const hd_optim *o);
/* the lr of a group, counted from 0; NaN on error */
HD_API double hd_optim_group_lr(const hd_optim *o, int64_t group);
/* sets the lr of a group, counted from 0 */
HD_API bool hd_optim_group_set_lr(hd_optim *o, int64_t group, double lr);

/* ---------------------------------------------------------------- state */

/* Adds o's state to d under PyTorch's names: prefix.type, prefix.param_groups.0.lr,
 * prefix.state.0.step, prefix.state.0.exp_avg and so on. With prefix "", the names have no prefix
 * and no dot before them. The tensors share o's memory, which the next step changes: save or clone
 * them before. While an error is set, d does not change. */
HD_API bool hd_optim_save(const hd_optim *o, hd_dict *d, const char *prefix);

/* Sets o's state to a copy of the one in d. From then on the steps of o have the same bits as those
 * of the saved optimizer. The saved optimizer must have had o's kind, groups and options, except
 * lr, which is loaded; and its tensors must have the parameters' shapes and dtypes. Otherwise the
 * call fails, the message names the difference, and nothing changes. */
HD_API bool hd_optim_load(hd_optim *o, const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- schedules */

/* A schedule of the learning rates of an optimizer o. It sets the lr of every group of o when it is
 * made and at each hd_schedule_step. The formulas are those of torch.optim.lr_scheduler. In them,
 * `base` is the group's lr at the time when the schedule is made, and `t` is the number of
 * hd_schedule_step calls so far. o must outlive its schedule. A step that fails, or a step while an
 * error is set, changes nothing.
 *
 * As in PyTorch, a step of ConstantLR, StepLR, LinearLR and CosineAnnealingLR multiplies the
 * current lr by the ratio of the formula's values at t and t - 1; CosineAnnealingLR changes only
 * the part of the lr above eta_min. So hd_optim_set_lr has a lasting effect, two schedules of one
 * optimizer multiply, and a group that hd_optim_add_group adds later starts from its own lr. With
 * the other schedules, a step fails with HD_STATE if such a group was added. */
typedef struct hd_schedule hd_schedule;

/* Makes a ConstantLR: base * factor while t < total_iters, then base. factor is in [0, 1]. With
 * factor 1 and total_iters 0, the lr is constant. */
HD_API hd_schedule *hd_constant_lr_new(hd_optim *o, double factor, int64_t total_iters);
/* Makes a StepLR: base * gamma^floor(t / step_size). */
HD_API hd_schedule *hd_step_lr_new(hd_optim *o, int64_t step_size, double gamma);
/* Makes a LinearLR: base * (start + (end - start) * min(t, total_iters) / total_iters), where start
 * is start_factor, in (0, 1], and end is end_factor, in [0, 1]. With end_factor 1 it is a
 * warm-up. */
HD_API hd_schedule *hd_linear_lr_new(hd_optim *o, double start_factor, double end_factor,
                                     int64_t total_iters);

typedef struct hd_cosine_annealing_options {
    size_t size;
    int64_t T_max;  /* must be set: 1 or more; at step T_max the lr is eta_min */
    double eta_min; /* default 0; the lr at step T_max */
} hd_cosine_annealing_options;

/* Makes a CosineAnnealingLR: eta_min + (base - eta_min) * (1 + cos(pi * t / T_max)) / 2. After step
 * T_max the lr rises again, to base at step 2 * T_max. The first step of a rise needs the base of
 * every group, so it fails with HD_STATE if a group was added after the schedule was made.
 *
 * Loshchilov and Hutter 2017, "SGDR: Stochastic Gradient Descent with Warm Restarts", without the
 * restarts */
HD_API hd_cosine_annealing_options hd_cosine_annealing_defaults(void);
HD_API hd_schedule *hd_cosine_annealing_new(hd_optim *o,
                                            const hd_cosine_annealing_options *options);

typedef struct hd_cosine_warmup_options {
    size_t size;
    int64_t warmup_steps; /* default 0; the number of steps in which the lr rises */
    int64_t total_steps;  /* must be set: above warmup_steps; from this step on the lr is min_lr */
    double initial_lr;    /* default 0; the lr at step 0, if warmup_steps is above 0 */
    double min_lr;        /* default 0; the lr from step total_steps on */
} hd_cosine_warmup_options;

/* Makes a schedule: a warm-up, then half a period of a cosine. warmup is warmup_steps, and total is
 * total_steps:
 *   t < warmup: initial_lr + t * (base - initial_lr) / warmup
 *   else: min_lr + (base - min_lr) * (1 + cos(pi * (t - warmup) / (total - warmup))) / 2
 *
 * Raschka, "Build a Large Language Model (From Scratch)", appendix D */
HD_API hd_cosine_warmup_options hd_cosine_warmup_defaults(void);
HD_API hd_schedule *hd_cosine_warmup_new(hd_optim *o, const hd_cosine_warmup_options *options);

/* The curve from one lr to the next: half a period of a cosine, or a line. */
typedef enum hd_anneal { HD_ANNEAL_COS = 0, HD_ANNEAL_LINEAR = 1 } hd_anneal;

typedef struct hd_one_cycle_options {
    size_t size;
    int64_t total_steps; /* must be set: 1 or more; a step beyond this number is an error */
    double max_lr; /* default 0: the highest lr is the lr before this schedule; else it is max_lr */
    double pct_start; /* default 0.3; the fraction of the steps in which the lr rises */
    hd_anneal anneal; /* default HD_ANNEAL_COS; the curve of the lr */
    /* default true: momentum, or beta1, falls while the lr rises; must be false for Adagrad */
    bool cycle_momentum;
    double base_momentum;    /* default 0.85; the lowest momentum, or beta1 */
    double max_momentum;     /* default 0.95; the highest momentum, or beta1 */
    double div_factor;       /* default 25; the lr begins at the highest lr / div_factor */
    double final_div_factor; /* default 1e4; the lr ends at its first value / final_div_factor */
    /* default false; if true, the lr falls to its first value in as many steps as it rose, and
     * in the remaining steps to its last value */
    bool three_phase;
} hd_one_cycle_options;

/* Makes a OneCycleLR: the lr rises from max_lr / div_factor to max_lr, then falls far below its
 * first value.
 *
 * Smith and Topin 2018, "Super-Convergence: Very Fast Training of Neural Networks Using Large
 * Learning Rates"; torch.optim.lr_scheduler.OneCycleLR */
HD_API hd_one_cycle_options hd_one_cycle_defaults(void);
HD_API hd_schedule *hd_one_cycle_new(hd_optim *o, const hd_one_cycle_options *options);

/* The metric that counts as better: the lower one, as for a loss, or the higher one. */
typedef enum hd_plateau_mode { HD_PLATEAU_MIN = 0, HD_PLATEAU_MAX = 1 } hd_plateau_mode;
/* The meaning of `threshold`: a fraction of the best metric, or a difference from it. */
typedef enum hd_threshold_mode { HD_THRESHOLD_REL = 0, HD_THRESHOLD_ABS = 1 } hd_threshold_mode;

typedef struct hd_reduce_on_plateau_options {
    size_t size;
    hd_plateau_mode mode; /* default HD_PLATEAU_MIN: a lower metric is better */
    double factor;        /* default 0.1; the lr is multiplied by it; in [0, 1) */
    int64_t patience;     /* default 10; this many steps in a row may bring no better metric */
    double threshold;     /* default 1e-4; an improvement must be larger than this to count */
    hd_threshold_mode threshold_mode; /* default HD_THRESHOLD_REL: threshold is a fraction */
    int64_t cooldown; /* default 0; patience skips this many steps after a reduction */
    double min_lr;    /* default 0; the lowest lr */
    double eps;       /* default 1e-8; a reduction by this much or less is left out */
} hd_reduce_on_plateau_options;

/* Makes a ReduceLROnPlateau, which multiplies the lr of every group by factor if the metric, such
 * as the validation loss, has not improved for more than `patience` steps. A program steps this
 * schedule with hd_schedule_step_metric. Making it changes no lr.
 *
 * pytorch.org/docs: torch.optim.lr_scheduler.ReduceLROnPlateau */
HD_API hd_reduce_on_plateau_options hd_reduce_on_plateau_defaults(void);
HD_API hd_schedule *hd_reduce_on_plateau_new(hd_optim *o,
                                             const hd_reduce_on_plateau_options *options);

HD_API void hd_schedule_free(hd_schedule *s); /* frees s, not its optimizer; takes NULL */
/* sets the lr of the next step; call it after hd_optim_step */
HD_API bool hd_schedule_step(hd_schedule *s);
/* makes one step of a ReduceLROnPlateau with this metric; NaN is never better */
HD_API bool hd_schedule_step_metric(hd_schedule *s, double metric);
/* the number of steps so far, t; -1 on error */
HD_API int64_t hd_schedule_steps(const hd_schedule *s);

/* Save or load the state of a schedule, as hd_optim_save and hd_optim_load do for an optimizer. The
 * entries of d have names such as prefix.type, prefix.step, prefix.groups, prefix.base_lr.0 and
 * prefix.last_lr.0; the options are among them. The saved schedule must have had s's number of
 * groups and options. Loading sets the lr, and the momentum, of the groups to the saved values. */
HD_API bool hd_schedule_save(const hd_schedule *s, hd_dict *d, const char *prefix);
HD_API bool hd_schedule_load(hd_schedule *s, const hd_dict *d, const char *prefix);

/* ---------------------------------------------------------------- clipping */

/* Multiplies the gradients of all parameters, in place, by min(1, max_norm / (norm + 1e-6)), and
 * returns norm. norm is the norm of all gradients together, of the order norm_type (2, INFINITY,
 * ...), or 0 if there are no gradients. If norm is infinite or NaN and error_if_nonfinite is true,
 * the call fails with HD_VALUE and changes nothing. If error_if_nonfinite is false, the gradients
 * then become zeros or NaN. On failure the call returns NaN, sets an error, and changes nothing. */
HD_API double hd_clip_grad_norm_(const hd_list *parameters, double max_norm, double norm_type,
                                 bool error_if_nonfinite);
/* Clamps every element of every gradient to [-clip_value, clip_value], in place; NaN stays NaN. */
HD_API bool hd_clip_grad_value_(const hd_list *parameters, double clip_value);

#ifdef __cplusplus
}
#endif
#endif
