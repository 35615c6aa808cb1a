/* schedule.c - what all schedules do: making, stepping, saving. A schedule is a formula (in
 * schedules.c) of the steps so far and of the learning rates that the optimizer had when the
 * schedule was made. */
#include "optim/schedule.h"

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------- applying */

/* Sets the lr and the momentum of each group to those of step t. */
static bool schedule_apply(hd_schedule *s, const double *base_lr, int64_t t)
{
    hd_optim *o = s->o;
    if (o->n_groups != s->n) {
        return hd__fail(HD_STATE,
                        "the optimizer has %" PRId64 " groups: expected %" PRId64
                        ", as when the schedule was made",
                        o->n_groups, s->n);
    }
    if (s->type->step_ok && !s->type->step_ok(&s->options, t)) {
        return false;
    }
    double momentum = s->type->momentum ? s->type->momentum(&s->options, t) : NAN;
    for (int64_t i = 0; i < s->n; i++) {
        *hd__lr(o, i) = s->type->lr(&s->options, base_lr[i], t);
        if (!isnan(momentum)) {
            *hd__option_double(&o->type->options[o->type->momentum], &o->groups[i].now) = momentum;
        }
    }
    s->t = t;
    return true;
}

/* ---------------------------------------------------------------- making and freeing */

hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options)
{
    if (!hd__object("o", o) || !hd__options_ok(type->table, options)) {
        return NULL;
    }
    hd_schedule *s = hd__object_new(HD__SCHEDULE, sizeof *s);
    double *base_lr = hd__alloc_items(o->n_groups, sizeof *base_lr);
    if (!s || !base_lr) {
        hd_free(s);
        hd_free(base_lr);
        return NULL;
    }
    for (int64_t i = 0; i < o->n_groups; i++) {
        base_lr[i] = *hd__lr(o, i);
    }
    *s = (hd_schedule){type, o, *options, 0, o->n_groups, base_lr};
    if (!schedule_apply(s, base_lr, 0)) {
        hd_schedule_free(s);
        return NULL;
    }
    o->scheduled = true;
    return s;
}

void hd_schedule_free(hd_schedule *s)
{
    HD__CALL("hd_schedule_free");
    if (hd__may_free("s", s, HD_NONE)) {
        hd_free(s->base_lr);
        hd__retire_object(s, hd__call);
    }
}

/* ---------------------------------------------------------------- stepping */

bool hd_schedule_step(hd_schedule *s)
{
    HD__CALL("hd_schedule_step");
    if (!hd__object("s", s) || !hd__object("the optimizer of s", s->o) || !hd__may_step()) {
        return false;
    }
    if (s->t == 0 && !s->o->stepped && hd__warns()) {
        hd_warn("the optimizer has not stepped since its schedule was made, so that its first "
                "learning rate, %s, is not used: call hd_optim_step before hd_schedule_step",
                HD__FLOAT(hd_optim_lr(s->o)));
    }
    return schedule_apply(s, s->base_lr, s->t + 1);
}

int64_t hd_schedule_steps(const hd_schedule *s)
{
    HD__CALL("hd_schedule_steps");
    return hd__object("s", s) ? s->t : -1;
}

/* ---------------------------------------------------------------- saved state */

/* The steps and the rates are written, or read. All else must be equal. */
static bool schedule_visit(hd__saved *v, const hd_schedule *s, int64_t *steps, double *base_lr)
{
    int64_t last = s->type->last ? s->type->last(&s->options) : HD__MOST_SAVED;
    bool ok = hd__saved_text(v, "type", s->type->name) &&
              hd__saved_options(v, NULL, 0, s->type->table, &s->options);
    const char *key = hd__key(&v->key, v->prefix, NULL, 0, "step");
    ok = ok &&
         (v->to ? hd_dict_set_int(v->to, key, *steps)
                : hd__int_within(v->from, key, 0, last, steps)) &&
         hd__saved_int(v, NULL, 0, "groups", s->n);
    for (int64_t i = 0; i < s->n && ok; i++) {
        ok = hd__saved_lr(v, "base_lr", i, HD__NOT_NEGATIVE, &base_lr[i]);
    }
    hd_free(v->key.s);
    return ok;
}

static bool schedule_write(const void *object, hd_dict *d, const char *prefix)
{
    const hd_schedule *s = object;
    int64_t steps = s->t;
    return schedule_visit(&(hd__saved){.to = d, .prefix = prefix}, s, &steps, s->base_lr);
}

bool hd_schedule_save(const hd_schedule *s, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_schedule_save");
    return hd__state_save("s", s, d, prefix, schedule_write);
}

bool hd_schedule_load(hd_schedule *s, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_schedule_load");
    if (!hd__state_given("s", s, d, prefix)) {
        return false;
    }
    HD__SCOPE_OR(false);
    int64_t steps;
    hd__saved v = {.from = d, .prefix = prefix};
    double *base_lr = hd__alloc_items(s->n, sizeof *base_lr);
    bool ok =
        base_lr && schedule_visit(&v, s, &steps, base_lr) && schedule_apply(s, base_lr, steps);
    hd_free(ok ? s->base_lr : base_lr);
    s->base_lr = ok ? base_lr : s->base_lr;
    return ok;
}
