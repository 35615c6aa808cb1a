/* lion.c - Lion, which steps along the sign of a momentum. PyTorch has no such optimizer. Chen et
 * al. 2023, "Symbolic Discovery of Optimization Algorithms", arXiv 2302.06675. */
#include "optim/optim.h"

static hdk_numbers lion_numbers(const void *options, int64_t step)
{
    (void)step;
    const hd_lion_options *l = options;
    return (hdk_numbers){.lr = l->lr,
                         .decay = 1 - l->lr * l->weight_decay,
                         .beta1 = l->beta1,
                         .beta2 = l->beta2,
                         .w2 = 1 - l->beta2,
                         .maximize = l->maximize};
}

static const hd_lion_options lion_defaults = {
    .size = sizeof lion_defaults, .lr = 1e-4, .beta1 = 0.9, .beta2 = 0.99};

hd_lion_options hd_lion_defaults(void)
{
    return lion_defaults;
}

static const hd__optim_type lion_type = {
    .name = "Lion",
    .giver = "hd_lion_defaults()",
    .defaults = &lion_defaults,
    .options = {HD__OPTION(hd_lion_options, lr, HD__NOT_NEGATIVE),
                HD__OPTION(hd_lion_options, beta1, HD__BELOW_ONE),
                HD__OPTION(hd_lion_options, beta2, HD__BELOW_ONE),
                HD__OPTION(hd_lion_options, weight_decay, HD__NOT_NEGATIVE),
                HD__OPTION(hd_lion_options, maximize, HD__FLAG)},
    .momentum = 1,
    .states = {{"exp_avg", 0}},
    .numbers = lion_numbers,
    .kernel = HDK_LION,
};

hd_optim *hd_lion_new(const hd_list *parameters, const hd_lion_options *o)
{
    HD__CALL("hd_lion_new");
    return hd__optim_new(&lion_type, parameters, o);
}
