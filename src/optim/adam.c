/* adam.c - Adam and AdamW, as in torch.optim. Adam adds weight decay to the gradient, AdamW takes
 * it off the parameter. Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization";
 * Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization". */
#include "optim/optim_internal.h"

#include <math.h>

static const hd__option options[] = {
    HD__OPTION(hd_adam_options, lr, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adam_options, eps, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adam_options, beta1, HD__BELOW_ONE),
    HD__OPTION(hd_adam_options, beta2, HD__BELOW_ONE),
    HD__OPTION(hd_adam_options, weight_decay, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adam_options, amsgrad, HD__FLAG),
    HD__OPTION(hd_adam_options, maximize, HD__FLAG),
    {0},
};

static unsigned adam_uses(const hd__optim_options *o)
{
    return o->adam.amsgrad ? 7 : 3;
}

/* The bias corrections are computed in double, as in Python. decay is 1 - lr weight_decay, or 1. */
static void run_kernel(const hd_adam_options *a, double decay, double weight_decay,
                       const hd__slot *slot, const hdk_step *run, int64_t n, hd_dtype d)
{
    double t = (double)slot->steps;
    hdk_adam k = {.decay = decay,
                  .weight_decay = weight_decay,
                  .one_minus_beta1 = 1 - a->beta1,
                  .beta2 = a->beta2,
                  .one_minus_beta2 = 1 - a->beta2,
                  .eps = a->eps,
                  .step_size = a->lr / (1 - pow(a->beta1, t)),
                  .correction2 = sqrt(1 - pow(a->beta2, t)),
                  .maximize = a->maximize};
    hdk_optim()->adam[d](run, n, &k);
}

static void update_adam(const hd__optim_options *o, const hd__slot *slot, const hdk_step *run,
                        int64_t n, hd_dtype d)
{
    run_kernel(&o->adam, 1, o->adam.weight_decay, slot, run, n, d);
}

static void update_adamw(const hd__optim_options *o, const hd__slot *slot, const hdk_step *run,
                         int64_t n, hd_dtype d)
{
    const hd_adam_options *a = &o->adam;
    double decay = a->weight_decay != 0 ? 1 - a->lr * a->weight_decay : 1;
    run_kernel(a, decay, 0, slot, run, n, d);
}

hd_adam_options hd_adam_defaults(void)
{
    return (hd_adam_options){
        .size = sizeof(hd_adam_options), .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
}

hd_adamw_options hd_adamw_defaults(void)
{
    hd_adamw_options o = hd_adam_defaults();
    o.weight_decay = 1e-2;
    return o;
}

#define ADAM(class, kind)                                                                          \
    {                                                                                              \
        .name = class, .defaults = "hd_" #kind "_defaults()",                                      \
        .options_size = sizeof(hd_adam_options), .options = options, .momentum = &options[2],      \
        .states = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}, .uses = adam_uses,                  \
        .update = update_##kind                                                                    \
    }

static const hd__optim_type adam_type = ADAM("Adam", adam), adamw_type = ADAM("AdamW", adamw);

hd_optim *hd_adam_new(const hd_list *parameters, const hd_adam_options *o)
{
    HD__CALL("hd_adam_new");
    hd_adam_options defaults = hd_adam_defaults();
    return hd__optim_new(&adam_type, parameters, o ? o : &defaults);
}

hd_optim *hd_adamw_new(const hd_list *parameters, const hd_adamw_options *o)
{
    HD__CALL("hd_adamw_new");
    hd_adamw_options defaults = hd_adamw_defaults();
    return hd__optim_new(&adamw_type, parameters, o ? o : &defaults);
}
