/* adamw.c - Adam with decoupled weight decay, as torch.optim.AdamW.
 * Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization". */
#include "optim/optim_internal.h"

#include <math.h>

hd_adamw_options hd_adamw_defaults(void)
{
    return (hd_adamw_options){.size = sizeof(hd_adamw_options),
                              .lr = 1e-3,
                              .beta1 = 0.9,
                              .beta2 = 0.999,
                              .eps = 1e-8,
                              .weight_decay = 1e-2};
}

static int n_states(const hd_optim *o)
{
    return o->options.adamw.amsgrad ? 3 : 2;
}

/* The corrections are computed in double, as Python does. */
static void update(const hd_optim *o, const hd__slot *slot, const hdk_step *run, int64_t n,
                   hd_dtype d)
{
    const hd_adamw_options *a = &o->options.adamw;
    double t = (double)slot->steps;
    hdk_adamw k = {.decay = a->weight_decay != 0 ? 1 - o->lr * a->weight_decay : 1,
                   .one_minus_beta1 = 1 - a->beta1,
                   .beta2 = a->beta2,
                   .one_minus_beta2 = 1 - a->beta2,
                   .eps = a->eps,
                   .step_size = o->lr / (1 - pow(a->beta1, t)),
                   .correction2 = sqrt(1 - pow(a->beta2, t)),
                   .amsgrad = a->amsgrad,
                   .maximize = a->maximize};
    (d == HD_FLOAT32 ? hdk_optim()->adamw_f32 : hdk_optim()->adamw_f64)(run, n, &k);
}

static const hd__optim_type type = {n_states, update};

static bool beta_ok(const char *function, const char *option, double beta)
{
    if (beta >= 0 && beta < 1) { /* NaN is not */
        return true;
    }
    hd_error_set(HD_VALUE, "%s: %s %g: expected 0 or more, below 1", function, option, beta);
    return false;
}

static bool options_ok(const char *function, const hd_adamw_options *o)
{
    return hd__options_size(function, o->size, sizeof *o, "hd_adamw_defaults") &&
           hd__not_negative(function, "lr", o->lr) && hd__not_negative(function, "eps", o->eps) &&
           beta_ok(function, "beta1", o->beta1) && beta_ok(function, "beta2", o->beta2) &&
           hd__not_negative(function, "weight_decay", o->weight_decay);
}

hd_optim *hd_adamw_new(const hd_list *parameters, const hd_adamw_options *options)
{
    hd_adamw_options a = options ? *options : hd_adamw_defaults();
    if (!options_ok("hd_adamw_new", &a)) {
        return NULL;
    }
    hd_optim *o = hd__optim_new("hd_adamw_new", &type, parameters, a.lr);
    if (o) {
        o->options.adamw = a;
    }
    return o;
}
