/* schedules.c - the formulas of the schedules: those of torch.optim.lr_scheduler, and the cosine
 * with warm-up of "Build a Large Language Model (From Scratch)". As in PyTorch, constant, step,
 * linear and cosine annealing compute the next lr from the present one; the others compute it from
 * the base lr. All compute in double. */
#include "optim/schedule.h"

#include <inttypes.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

/* ---------------------------------------------------------------- constant */

static double constant(const hd__schedule_options *o, double base, double now, int64_t t)
{
    double factor = o->plain.factor;
    if (t == 0) {
        return o->plain.total_iters > 0 ? now * factor : now;
    }
    if (t != o->plain.total_iters) {
        return now;
    }
    return factor > 0 ? now * (1 / factor) : base;
}

static const hd__schedule_type constant_type = {
    "ConstantLR",
    {HD__OPTION(hd__schedule_plain_lr, factor, HD__FROM_0_TO_1),
     HD__OPTION(hd__schedule_plain_lr, total_iters, HD__COUNT)},
    .lr = constant};

hd_schedule *hd_constant_lr_new(hd_optim *o, double factor, int64_t total_iters)
{
    HD__CALL("hd_constant_lr_new");
    hd__schedule_options options = {.plain = {.factor = factor, .total_iters = total_iters}};
    return hd__schedule_new(&constant_type, o, &options);
}

/* ---------------------------------------------------------------- step */

static double step_lr(const hd__schedule_options *o, double base, double now, int64_t t)
{
    (void)base;
    return t > 0 && t % o->plain.step_size == 0 ? now * o->plain.gamma : now;
}

static const hd__schedule_type step_type = {
    "StepLR",
    {HD__OPTION(hd__schedule_plain_lr, step_size, HD__POSITIVE_COUNT),
     HD__OPTION(hd__schedule_plain_lr, gamma, HD__NOT_NEGATIVE)},
    .lr = step_lr};

hd_schedule *hd_step_lr_new(hd_optim *o, int64_t step_size, double gamma)
{
    HD__CALL("hd_step_lr_new");
    hd__schedule_options options = {.plain = {.step_size = step_size, .gamma = gamma}};
    return hd__schedule_new(&step_type, o, &options);
}

/* ---------------------------------------------------------------- linear */

static double linear_lr(const hd__schedule_options *o, double base, double now, int64_t t)
{
    (void)base;
    const hd__schedule_plain_lr *l = &o->plain;
    double rise = l->end_factor - l->start_factor;
    if (t == 0) {
        return now * l->start_factor;
    }
    return t > l->total_iters ? now
                              : now * (1 + rise / ((double)l->total_iters * l->start_factor +
                                                   (double)(t - 1) * rise));
}

static const hd__schedule_type linear_type = {
    "LinearLR",
    {HD__OPTION(hd__schedule_plain_lr, start_factor, HD__ABOVE_0_TO_1),
     HD__OPTION(hd__schedule_plain_lr, end_factor, HD__FROM_0_TO_1),
     HD__OPTION(hd__schedule_plain_lr, total_iters, HD__POSITIVE_COUNT)},
    .lr = linear_lr};

hd_schedule *hd_linear_lr_new(hd_optim *o, double start_factor, double end_factor,
                              int64_t total_iters)
{
    HD__CALL("hd_linear_lr_new");
    return hd__schedule_new(&linear_type, o,
                            &(hd__schedule_options){.plain = {.start_factor = start_factor,
                                                              .end_factor = end_factor,
                                                              .total_iters = total_iters}});
}

/* ---------------------------------------------------------------- cosine annealing */

/* True if the lr was eta_min at step t - 1, so that it rises at step t. */
static bool annealing_rises(const hd__schedule_options *o, int64_t t)
{
    int64_t last = t - 1, cycle = o->annealing.T_max;
    return last % cycle == 0 && last / cycle % 2 == 1;
}

static double annealing(const hd__schedule_options *o, double base, double now, int64_t t)
{
    const hd_cosine_annealing_options *c = &o->annealing;
    double cycle = (double)c->T_max;
    if (t == 0) {
        return now;
    }
    if (annealing_rises(o, t)) { /* now - eta_min is 0, so the product below would stay 0 */
        return now + (base - c->eta_min) * (1 - cos(PI / cycle)) / 2;
    }
    return (1 + cos(PI * (double)t / cycle)) / (1 + cos(PI * (double)(t - 1) / cycle)) *
               (now - c->eta_min) +
           c->eta_min;
}

static const hd__schedule_type annealing_type = {
    "CosineAnnealingLR",
    {HD__OPTION(hd_cosine_annealing_options, T_max, HD__POSITIVE_COUNT),
     HD__OPTION(hd_cosine_annealing_options, eta_min, HD__NOT_NEGATIVE)},
    .lr = annealing,
    .needs_base = annealing_rises};

hd_cosine_annealing_options hd_cosine_annealing_defaults(void)
{
    return (hd_cosine_annealing_options){.size = sizeof(hd_cosine_annealing_options)};
}

hd_schedule *hd_cosine_annealing_new(hd_optim *o, const hd_cosine_annealing_options *c)
{
    HD__CALL("hd_cosine_annealing_new");
    hd_cosine_annealing_options defaults = hd_cosine_annealing_defaults();
    c = c ? c : &defaults;
    if (!hd__object("o", o) ||
        !hd__arg_size_ok("options", c->size, sizeof *c, "hd_cosine_annealing_defaults()")) {
        return NULL;
    }
    return hd__schedule_new(&annealing_type, o, &(hd__schedule_options){.annealing = *c});
}

/* ---------------------------------------------------------------- cosine with warm-up */

static bool always(const hd__schedule_options *o, int64_t t)
{
    (void)o, (void)t;
    return true;
}

/* Returns a value between `from` and `to` on half a cosine: `from` if share is 0, and `to` if share
 * is 1. */
static double by_cosine(double from, double to, double share)
{
    return to + (from - to) / 2 * (cos(PI * share) + 1);
}

static double cosine(const hd__schedule_options *o, double base, double now, int64_t t)
{
    (void)now;
    const hd_cosine_warmup_options *c = &o->cosine;
    if (t < c->warmup_steps) {
        return c->initial_lr + (double)t * ((base - c->initial_lr) / (double)c->warmup_steps);
    }
    if (t >= c->total_steps) {
        return c->min_lr;
    }
    return by_cosine(base, c->min_lr,
                     (double)(t - c->warmup_steps) / (double)(c->total_steps - c->warmup_steps));
}

static const hd__schedule_type cosine_type = {
    "CosineWarmup",
    {HD__OPTION(hd_cosine_warmup_options, warmup_steps, HD__COUNT),
     HD__OPTION(hd_cosine_warmup_options, total_steps, HD__POSITIVE_COUNT),
     HD__OPTION(hd_cosine_warmup_options, initial_lr, HD__NOT_NEGATIVE),
     HD__OPTION(hd_cosine_warmup_options, min_lr, HD__NOT_NEGATIVE)},
    .lr = cosine,
    .needs_base = always};

hd_cosine_warmup_options hd_cosine_warmup_defaults(void)
{
    return (hd_cosine_warmup_options){.size = sizeof(hd_cosine_warmup_options)};
}

hd_schedule *hd_cosine_warmup_new(hd_optim *o, const hd_cosine_warmup_options *c)
{
    HD__CALL("hd_cosine_warmup_new");
    hd_cosine_warmup_options defaults = hd_cosine_warmup_defaults();
    c = c ? c : &defaults;
    if (!hd__object("o", o) ||
        !hd__arg_size_ok("options", c->size, sizeof *c, "hd_cosine_warmup_defaults()")) {
        return NULL;
    }
    if (c->total_steps >= 1 && c->warmup_steps >= c->total_steps) {
        return hd_fail(HD_VALUE,
                       "warmup_steps %" PRId64 ", total_steps %" PRId64
                       ": expected warmup_steps below total_steps",
                       c->warmup_steps, c->total_steps);
    }
    return hd__schedule_new(&cosine_type, o, &(hd__schedule_options){.cosine = *c});
}

/* ---------------------------------------------------------------- one cycle */

/* The lr of a cycle has three values: LOW, its first; HIGH, its maximum; and LOWEST, its last. In
 * each phase of the cycle, the lr goes from one of these values to another. */
typedef enum height { LOW, HIGH, LOWEST } height;
typedef struct phase {
    height from, to;
    double start, end; /* the steps at which the phase starts and ends, perhaps fractions */
} phase;

static phase phase_at(const hd_one_cycle_options *c, int64_t t)
{
    double risen = c->pct_start * (double)c->total_steps - 1, last = (double)(c->total_steps - 1);
    double fallen = 2 * c->pct_start * (double)c->total_steps - 2;
    if ((double)t <= risen) {
        return (phase){LOW, HIGH, 0, risen};
    }
    if (!c->three_phase) {
        return (phase){HIGH, LOWEST, risen, last};
    }
    return (double)t <= fallen ? (phase){HIGH, LOW, risen, fallen}
                               : (phase){LOW, LOWEST, fallen, last};
}

static double cycle_between(const hd_one_cycle_options *c, const double at[3], int64_t t)
{
    phase p = phase_at(c, t);
    double share = ((double)t - p.start) / (p.end - p.start);
    return c->anneal == HD_ANNEAL_COS ? by_cosine(at[p.from], at[p.to], share)
                                      : (at[p.to] - at[p.from]) * share + at[p.from];
}

static double cycle_lr(const hd__schedule_options *o, double base, double now, int64_t t)
{
    (void)now;
    const hd_one_cycle_options *c = &o->cycle;
    double max = c->max_lr > 0 ? c->max_lr : base, low = max / c->div_factor;
    return cycle_between(c, (double[]){low, max, low / c->final_div_factor}, t);
}

static double cycle_momentum(const hd__schedule_options *o, int64_t t)
{
    const hd_one_cycle_options *c = &o->cycle;
    double low = c->max_momentum; /* the momentum while the lr is low */
    return c->cycle_momentum ? cycle_between(c, (double[]){low, c->base_momentum, low}, t) : NAN;
}

static int64_t cycle_last(const hd__schedule_options *o)
{
    return o->cycle.total_steps;
}

static bool cycle_step_ok(const hd__schedule_options *o, int64_t t)
{
    const hd_one_cycle_options *c = &o->cycle;
    phase p = phase_at(c, t);
    if (t > c->total_steps) {
        return hd_fail(HD_STATE, "step %" PRId64 ": expected at most total_steps %" PRId64, t,
                       c->total_steps);
    }
    return p.end != p.start ||
           hd_fail(HD_VALUE,
                   "pct_start %s, total_steps %" PRId64
                   ": a phase of the cycle has no length: it begins and ends at step %g. Choose "
                   "another pct_start or total_steps",
                   HD__FLOAT(c->pct_start), c->total_steps, p.end);
}

static const hd__schedule_type cycle_type = {
    .name = "OneCycleLR",
    .table = {HD__OPTION(hd_one_cycle_options, total_steps, HD__POSITIVE_COUNT),
              HD__OPTION(hd_one_cycle_options, max_lr, HD__NOT_NEGATIVE),
              HD__OPTION(hd_one_cycle_options, pct_start, HD__FROM_0_TO_1),
              HD__OPTION(hd_one_cycle_options, anneal, HD__CHOICE),
              HD__OPTION(hd_one_cycle_options, cycle_momentum, HD__FLAG),
              HD__OPTION(hd_one_cycle_options, base_momentum, HD__BELOW_ONE),
              HD__OPTION(hd_one_cycle_options, max_momentum, HD__BELOW_ONE),
              HD__OPTION(hd_one_cycle_options, div_factor, HD__POSITIVE),
              HD__OPTION(hd_one_cycle_options, final_div_factor, HD__POSITIVE),
              HD__OPTION(hd_one_cycle_options, three_phase, HD__FLAG)},
    .step_ok = cycle_step_ok,
    .last = cycle_last,
    .lr = cycle_lr,
    .needs_base = always,
    .momentum = cycle_momentum,
};

hd_one_cycle_options hd_one_cycle_defaults(void)
{
    return (hd_one_cycle_options){.size = sizeof(hd_one_cycle_options),
                                  .pct_start = 0.3,
                                  .cycle_momentum = true,
                                  .base_momentum = 0.85,
                                  .max_momentum = 0.95,
                                  .div_factor = 25,
                                  .final_div_factor = 1e4};
}

hd_schedule *hd_one_cycle_new(hd_optim *o, const hd_one_cycle_options *c)
{
    HD__CALL("hd_one_cycle_new");
    hd_one_cycle_options defaults = hd_one_cycle_defaults();
    c = c ? c : &defaults;
    if (!hd__object("o", o) ||
        !hd__arg_size_ok("options", c->size, sizeof *c, "hd_one_cycle_defaults()")) {
        return NULL;
    }
    if (c->cycle_momentum && !o->type->momentum) {
        return hd_fail(
            HD_VALUE,
            "cycle_momentum true: expected false, because %s has neither momentum nor beta1",
            o->type->name);
    }
    return hd__schedule_new(&cycle_type, o, &(hd__schedule_options){.cycle = *c});
}
