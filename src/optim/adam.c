/* adam.c - Adam and AdamW, as in torch.optim. Adam adds the weight decay to the gradient; AdamW
 * subtracts it from the parameter. Kingma and Ba 2015, "Adam: A Method for Stochastic
 * Optimization"; Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization". */
#include "optim/optim.h"

#include <math.h>

/* The bias corrections are computed in double, as in Python. */
static hdk_numbers adam_numbers(const void *options, int64_t step)
{
    const hd_adam_options *a = options;
    double t = (double)step;
    return (hdk_numbers){.lr = a->lr / (1 - pow(a->beta1, t)),
                         .decay = 1,
                         .weight_decay = a->weight_decay,
                         .beta1 = a->beta1,
                         .beta2 = a->beta2,
                         .w2 = 1 - a->beta2,
                         .correction2 = sqrt(1 - pow(a->beta2, t)),
                         .eps = a->eps,
                         .maximize = a->maximize};
}

static hdk_numbers adamw_numbers(const void *options, int64_t step)
{
    const hd_adamw_options *a = options;
    hdk_numbers n = adam_numbers(a, step);
    n.decay = n.weight_decay != 0 ? 1 - a->lr * n.weight_decay : 1;
    n.weight_decay = 0;
    return n;
}

#define DEFAULTS                                                                                   \
    .size = sizeof(hd_adam_options), .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8

static const hd_adam_options adam_defaults = {DEFAULTS};
static const hd_adamw_options adamw_defaults = {DEFAULTS, .weight_decay = 1e-2};

hd_adam_options hd_adam_defaults(void)
{
    return adam_defaults;
}

hd_adamw_options hd_adamw_defaults(void)
{
    return adamw_defaults;
}

#define ADAM(class, kind)                                                                          \
    {                                                                                              \
        .name = class, .giver = "hd_" #kind "_defaults()", .defaults = &kind##_defaults,           \
        .options = {HD__OPTION(hd_adam_options, lr, HD__NOT_NEGATIVE),                             \
                    HD__OPTION(hd_adam_options, eps, HD__NOT_NEGATIVE),                            \
                    HD__OPTION(hd_adam_options, beta1, HD__BELOW_ONE),                             \
                    HD__OPTION(hd_adam_options, beta2, HD__BELOW_ONE),                             \
                    HD__OPTION(hd_adam_options, weight_decay, HD__NOT_NEGATIVE),                   \
                    HD__OPTION(hd_adam_options, amsgrad, HD__FLAG),                                \
                    HD__OPTION(hd_adam_options, maximize, HD__FLAG)},                              \
        .momentum = 2, .states = {{"exp_avg", 0}, {"exp_avg_sq", 0}, {"max_exp_avg_sq", 5}},       \
        .numbers = kind##_numbers, .kernel = HDK_ADAM                                              \
    }

static const hd__optim_type adam_type = ADAM("Adam", adam), adamw_type = ADAM("AdamW", adamw);

hd_optim *hd_adam_new(const hd_list *parameters, const hd_adam_options *o)
{
    HD__CALL("hd_adam_new");
    return hd__optim_new(&adam_type, parameters, o);
}

hd_optim *hd_adamw_new(const hd_list *parameters, const hd_adamw_options *o)
{
    HD__CALL("hd_adamw_new");
    return hd__optim_new(&adamw_type, parameters, o);
}
