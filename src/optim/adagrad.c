/* adagrad.c - gradients divided by the root of the sum of their squares, as torch.optim.Adagrad.
 * Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and Stochastic
 * Optimization". */
#include "optim/optim_internal.h"

static const hd__option options[] = {
    HD__OPTION(hd_adagrad_options, lr, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adagrad_options, lr_decay, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adagrad_options, weight_decay, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adagrad_options, initial_accumulator_value, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adagrad_options, eps, HD__NOT_NEGATIVE),
    HD__OPTION(hd_adagrad_options, maximize, HD__FLAG),
    {0},
};

static unsigned adagrad_uses(const hd__optim_options *o)
{
    (void)o;
    return 1;
}

static double adagrad_start(const hd__optim_options *o)
{
    return o->adagrad.initial_accumulator_value;
}

static void adagrad_update(const hd__optim_options *o, const hd__slot *slot, const hdk_step *run,
                           int64_t n, hd_dtype d)
{
    const hd_adagrad_options *a = &o->adagrad;
    hdk_adagrad k = {.lr = a->lr / (1 + (double)(slot->steps - 1) * a->lr_decay),
                     .eps = a->eps,
                     .weight_decay = a->weight_decay,
                     .maximize = a->maximize};
    hdk_optim()->adagrad[d](run, n, &k);
}

hd_adagrad_options hd_adagrad_defaults(void)
{
    return (hd_adagrad_options){.size = sizeof(hd_adagrad_options), .lr = 1e-2, .eps = 1e-10};
}

static const hd__optim_type type = {
    .name = "Adagrad",
    .defaults = "hd_adagrad_defaults()",
    .options_size = sizeof(hd_adagrad_options),
    .options = options,
    .states = {"sum"},
    .uses = adagrad_uses,
    .start = adagrad_start,
    .update = adagrad_update,
};

hd_optim *hd_adagrad_new(const hd_list *parameters, const hd_adagrad_options *o)
{
    HD__CALL("hd_adagrad_new");
    hd_adagrad_options defaults = hd_adagrad_defaults();
    return hd__optim_new(&type, parameters, o ? o : &defaults);
}
