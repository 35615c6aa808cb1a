/* sgd.c - stochastic gradient descent with momentum, as torch.optim.SGD. */
#include "optim/optim.h"

static bool sgd_options_ok(const void *options)
{
    const hd_sgd_options *s = options;
    return !s->nesterov || (s->momentum != 0 && s->dampening == 0) ||
           hd_fail(
               HD_VALUE,
               "nesterov with momentum %g, dampening %g: expected momentum above 0, dampening 0",
               s->momentum, s->dampening);
}

static hdk_numbers sgd_numbers(const void *options, int64_t step)
{
    (void)step;
    const hd_sgd_options *s = options;
    return (hdk_numbers){.lr = s->lr,
                         .momentum = s->momentum,
                         .dampening = s->dampening,
                         .weight_decay = s->weight_decay,
                         .nesterov = s->nesterov,
                         .maximize = s->maximize};
}

static const hd_sgd_options sgd_defaults = {.size = sizeof sgd_defaults, .lr = 1e-3};

hd_sgd_options hd_sgd_defaults(void)
{
    return sgd_defaults;
}

static const hd__optim_type sgd_type = {
    .name = "SGD",
    .giver = "hd_sgd_defaults()",
    .defaults = &sgd_defaults,
    .options = {HD__OPTION(hd_sgd_options, lr, HD__NOT_NEGATIVE),
                HD__OPTION(hd_sgd_options, momentum, HD__NOT_NEGATIVE),
                HD__OPTION(hd_sgd_options, dampening, HD__ANY_NUMBER),
                HD__OPTION(hd_sgd_options, weight_decay, HD__NOT_NEGATIVE),
                HD__OPTION(hd_sgd_options, nesterov, HD__FLAG),
                HD__OPTION(hd_sgd_options, maximize, HD__FLAG)},
    .momentum = 1,
    .options_ok = sgd_options_ok,
    .states = {{"momentum_buffer", 1}},
    .numbers = sgd_numbers,
    .kernel = HDK_SGD,
};

hd_optim *hd_sgd_new(const hd_list *parameters, const hd_sgd_options *o)
{
    HD__CALL("hd_sgd_new");
    return hd__optim_new(&sgd_type, parameters, o);
}
