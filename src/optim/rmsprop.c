/* rmsprop.c - gradients divided by the root of their running mean square, as torch.optim.RMSprop.
 * Tieleman and Hinton 2012, lecture 6.5; centered: Graves 2013, "Generating Sequences With
 * Recurrent Neural Networks". */
#include "optim/optim_internal.h"

static const hd__option options[] = {
    HD__OPTION(hd_rmsprop_options, lr, HD__NOT_NEGATIVE),
    HD__OPTION(hd_rmsprop_options, eps, HD__NOT_NEGATIVE),
    HD__OPTION(hd_rmsprop_options, momentum, HD__NOT_NEGATIVE),
    HD__OPTION(hd_rmsprop_options, weight_decay, HD__NOT_NEGATIVE),
    HD__OPTION(hd_rmsprop_options, alpha, HD__NOT_NEGATIVE),
    HD__OPTION(hd_rmsprop_options, centered, HD__FLAG),
    HD__OPTION(hd_rmsprop_options, maximize, HD__FLAG),
    {0},
};

static unsigned rmsprop_uses(const hd__optim_options *o)
{
    return 1u | (o->rmsprop.momentum > 0) << 1 | o->rmsprop.centered << 2;
}

static void rmsprop_update(const hd__optim_options *o, const hd__slot *slot, const hdk_step *run,
                           int64_t n, hd_dtype d)
{
    (void)slot;
    const hd_rmsprop_options *r = &o->rmsprop;
    hdk_rmsprop k = {.lr = r->lr,
                     .alpha = r->alpha,
                     .one_minus_alpha = 1 - r->alpha,
                     .eps = r->eps,
                     .weight_decay = r->weight_decay,
                     .momentum = r->momentum,
                     .maximize = r->maximize};
    hdk_optim()->rmsprop[d](run, n, &k);
}

hd_rmsprop_options hd_rmsprop_defaults(void)
{
    return (hd_rmsprop_options){
        .size = sizeof(hd_rmsprop_options), .lr = 1e-2, .alpha = 0.99, .eps = 1e-8};
}

static const hd__optim_type type = {
    .name = "RMSprop",
    .defaults = "hd_rmsprop_defaults()",
    .options_size = sizeof(hd_rmsprop_options),
    .options = options,
    .momentum = &options[2],
    .states = {"square_avg", "momentum_buffer", "grad_avg"},
    .uses = rmsprop_uses,
    .update = rmsprop_update,
};

hd_optim *hd_rmsprop_new(const hd_list *parameters, const hd_rmsprop_options *o)
{
    HD__CALL("hd_rmsprop_new");
    hd_rmsprop_options defaults = hd_rmsprop_defaults();
    return hd__optim_new(&type, parameters, o ? o : &defaults);
}
