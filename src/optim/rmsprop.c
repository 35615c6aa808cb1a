/* rmsprop.c - RMSprop, which divides gradients by the root of their running mean square, as in
 * torch.optim. Tieleman and Hinton 2012, lecture 6.5; centered: Graves 2013, "Generating Sequences
 * With Recurrent Neural Networks". */
#include "optim/optim.h"

static hdk_numbers rmsprop_numbers(const void *options, int64_t step)
{
    (void)step;
    const hd_rmsprop_options *r = options;
    return (hdk_numbers){.lr = r->lr,
                         .beta2 = r->alpha,
                         .w2 = 1 - r->alpha,
                         .eps = r->eps,
                         .weight_decay = r->weight_decay,
                         .momentum = r->momentum,
                         .maximize = r->maximize};
}

static const hd_rmsprop_options rmsprop_defaults = {
    .size = sizeof rmsprop_defaults, .lr = 1e-2, .alpha = 0.99, .eps = 1e-8};

hd_rmsprop_options hd_rmsprop_defaults(void)
{
    return rmsprop_defaults;
}

static const hd__optim_type rmsprop_type = {
    .name = "RMSprop",
    .giver = "hd_rmsprop_defaults()",
    .defaults = &rmsprop_defaults,
    .options = {HD__OPTION(hd_rmsprop_options, lr, HD__NOT_NEGATIVE),
                HD__OPTION(hd_rmsprop_options, eps, HD__NOT_NEGATIVE),
                HD__OPTION(hd_rmsprop_options, momentum, HD__NOT_NEGATIVE),
                HD__OPTION(hd_rmsprop_options, weight_decay, HD__NOT_NEGATIVE),
                HD__OPTION(hd_rmsprop_options, alpha, HD__NOT_NEGATIVE),
                HD__OPTION(hd_rmsprop_options, centered, HD__FLAG),
                HD__OPTION(hd_rmsprop_options, maximize, HD__FLAG)},
    .momentum = 2,
    .states = {{"square_avg", 0}, {"momentum_buffer", 2}, {"grad_avg", 5}},
    .numbers = rmsprop_numbers,
    .kernel = HDK_RMSPROP,
};

hd_optim *hd_rmsprop_new(const hd_list *parameters, const hd_rmsprop_options *o)
{
    HD__CALL("hd_rmsprop_new");
    return hd__optim_new(&rmsprop_type, parameters, o);
}
