/* sgd.c - stochastic gradient descent with momentum, as torch.optim.SGD. */
#include "optim/optim_internal.h"

#include <math.h>

hd_sgd_options hd_sgd_defaults(void)
{
    return (hd_sgd_options){.size = sizeof(hd_sgd_options), .lr = 1e-3};
}

static int n_states(const hd_optim *o)
{
    return o->options.sgd.momentum != 0;
}

static void update(const hd_optim *o, const hd__slot *slot, const hdk_step *run, int64_t n,
                   hd_dtype d)
{
    const hd_sgd_options *s = &o->options.sgd;
    hdk_sgd k = {.lr = o->lr,
                 .momentum = s->momentum,
                 .dampening = s->dampening,
                 .weight_decay = s->weight_decay,
                 .nesterov = s->nesterov,
                 .maximize = s->maximize,
                 .first = slot->steps == 1};
    (d == HD_FLOAT32 ? hdk_optim()->sgd_f32 : hdk_optim()->sgd_f64)(run, n, &k);
}

static const hd__optim_type type = {n_states, update};

static bool options_ok(const char *function, const hd_sgd_options *o)
{
    if (!hd__options_size(function, o->size, sizeof *o, "hd_sgd_defaults") ||
        !hd__not_negative(function, "lr", o->lr) ||
        !hd__not_negative(function, "momentum", o->momentum) ||
        !hd__not_negative(function, "weight_decay", o->weight_decay)) {
        return false;
    }
    if (isnan(o->dampening)) {
        hd_error_set(HD_VALUE, "%s: dampening nan: expected a number", function);
        return false;
    }
    if (o->nesterov && (o->momentum == 0 || o->dampening != 0)) {
        hd_error_set(HD_VALUE,
                     "%s: nesterov with momentum %g, dampening %g: expected a momentum and no "
                     "dampening",
                     function, o->momentum, o->dampening);
        return false;
    }
    return true;
}

hd_optim *hd_sgd_new(const hd_list *parameters, const hd_sgd_options *options)
{
    hd_sgd_options s = options ? *options : hd_sgd_defaults();
    if (!options_ok("hd_sgd_new", &s)) {
        return NULL;
    }
    hd_optim *o = hd__optim_new("hd_sgd_new", &type, parameters, s.lr);
    if (o) {
        o->options.sgd = s;
    }
    return o;
}
