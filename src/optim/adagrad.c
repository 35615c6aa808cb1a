/* adagrad.c - Adagrad, which divides gradients by the root of the sum of their squares, as in
 * torch.optim. Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods for Online Learning and
 * Stochastic Optimization". */
#include "optim/optim.h"

static hdk_numbers adagrad_numbers(const void *options, int64_t step)
{
    const hd_adagrad_options *a = options;
    return (hdk_numbers){.lr = a->lr / (1 + (double)(step - 1) * a->lr_decay),
                         .beta2 = 1,
                         .w2 = 1,
                         .eps = a->eps,
                         .weight_decay = a->weight_decay,
                         .maximize = a->maximize};
}

static const hd_adagrad_options adagrad_defaults = {
    .size = sizeof adagrad_defaults, .lr = 1e-2, .eps = 1e-10};

hd_adagrad_options hd_adagrad_defaults(void)
{
    return adagrad_defaults;
}

static const hd__optim_type adagrad_type = {
    .name = "Adagrad",
    .giver = "hd_adagrad_defaults()",
    .defaults = &adagrad_defaults,
    .options = {HD__OPTION(hd_adagrad_options, lr, HD__NOT_NEGATIVE),
                HD__OPTION(hd_adagrad_options, lr_decay, HD__NOT_NEGATIVE),
                HD__OPTION(hd_adagrad_options, weight_decay, HD__NOT_NEGATIVE),
                HD__OPTION(hd_adagrad_options, initial_accumulator_value, HD__NOT_NEGATIVE),
                HD__OPTION(hd_adagrad_options, eps, HD__NOT_NEGATIVE),
                HD__OPTION(hd_adagrad_options, maximize, HD__FLAG)},
    .states = {{"sum", 0}},
    .start = 3,
    .numbers = adagrad_numbers,
    .kernel = HDK_RMSPROP,
};

hd_optim *hd_adagrad_new(const hd_list *parameters, const hd_adagrad_options *o)
{
    HD__CALL("hd_adagrad_new");
    return hd__optim_new(&adagrad_type, parameters, o);
}
