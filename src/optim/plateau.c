/* plateau.c - ReduceLROnPlateau, which lowers the learning rate when a metric stops improving. */
#include "optim/schedule.h"

#include <math.h>

/* ---------------------------------------------------------------- stepping */

static bool is_better(const hd_reduce_on_plateau_options *p, double metric, double best)
{
    double sign = p->mode == HD_PLATEAU_MIN ? -1 : 1, by = sign * p->threshold;
    double bound = p->threshold_mode == HD_THRESHOLD_REL ? best * (1 + by) : best + by;
    return sign * metric > sign * bound;
}

static void reduce_lr(hd_optim *o, const hd_reduce_on_plateau_options *p)
{
    for (int64_t i = 0; i < o->n_groups; i++) {
        double *lr = hd__optim_lr(o, i), reduced = fmax(*lr * p->factor, p->min_lr);
        if (*lr - reduced > p->eps) {
            *lr = reduced;
        }
    }
}

bool hd_schedule_step_metric(hd_schedule *s, double metric)
{
    HD__CALL("hd_schedule_step_metric");
    if (!hd__schedule_may_step(s, true)) {
        return false;
    }
    const hd_reduce_on_plateau_options *p = &s->options.plateau;
    bool better = is_better(p, metric, s->best), waits = s->cooldown > 0;
    s->t++;
    s->best = better ? metric : s->best;
    s->bad = better || waits ? 0 : s->bad + 1;
    s->cooldown -= waits;
    if (s->bad > p->patience) {
        reduce_lr(s->o, p);
        s->cooldown = p->cooldown;
        s->bad = 0;
    }
    return true;
}

/* ---------------------------------------------------------------- making */

static double unchanged(const hd__schedule_options *o, double base, double now, int64_t t)
{
    (void)o, (void)base, (void)t;
    return now;
}

static const hd__schedule_type plateau_type = {
    .name = "ReduceLROnPlateau",
    .table = {HD__OPTION(hd_reduce_on_plateau_options, mode, HD__CHOICE),
              HD__OPTION(hd_reduce_on_plateau_options, factor, HD__BELOW_ONE),
              HD__OPTION(hd_reduce_on_plateau_options, patience, HD__COUNT),
              HD__OPTION(hd_reduce_on_plateau_options, threshold, HD__ANY_NUMBER),
              HD__OPTION(hd_reduce_on_plateau_options, threshold_mode, HD__CHOICE),
              HD__OPTION(hd_reduce_on_plateau_options, cooldown, HD__COUNT),
              HD__OPTION(hd_reduce_on_plateau_options, min_lr, HD__NOT_NEGATIVE),
              HD__OPTION(hd_reduce_on_plateau_options, eps, HD__NOT_NEGATIVE)},
    .lr = unchanged,
    .takes_metric = true,
};

hd_reduce_on_plateau_options hd_reduce_on_plateau_defaults(void)
{
    return (hd_reduce_on_plateau_options){.size = sizeof(hd_reduce_on_plateau_options),
                                          .factor = 0.1,
                                          .patience = 10,
                                          .threshold = 1e-4,
                                          .eps = 1e-8};
}

hd_schedule *hd_reduce_on_plateau_new(hd_optim *o, const hd_reduce_on_plateau_options *p)
{
    HD__CALL("hd_reduce_on_plateau_new");
    hd_reduce_on_plateau_options defaults = hd_reduce_on_plateau_defaults();
    p = p ? p : &defaults;
    if (!hd__object("o", o) ||
        !hd__arg_size_ok("options", p->size, sizeof *p, "hd_reduce_on_plateau_defaults()")) {
        return NULL;
    }
    hd_schedule *s = hd__schedule_new(&plateau_type, o, &(hd__schedule_options){.plateau = *p});
    if (s) {
        s->best = p->mode == HD_PLATEAU_MIN ? INFINITY : -INFINITY;
    }
    return s;
}
