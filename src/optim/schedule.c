/* schedule.c - makes, steps, saves and loads schedules of any type. A type is a formula
 * (schedules.c). It computes a group's lr from the number of steps so far, the present lr and the
 * base lr. The base lr is the group's lr when the schedule was made. */
#include "optim/schedule.h"

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------- applying */

static bool needs_base(const hd_schedule *s, int64_t t)
{
    return s->type->needs_base && s->type->needs_base(&s->options, t);
}

static bool schedule_step_ok(const hd_schedule *s, int64_t t)
{
    const hd__schedule_type *type = s->type;
    if (s->o->n_groups > s->n && needs_base(s, t)) {
        return hd_fail(HD_STATE,
                       "the optimizer has %" PRId64 " groups, but had %" PRId64
                       " when this %s was made. Make a new schedule after hd_optim_add_group",
                       s->o->n_groups, s->n, type->name);
    }
    return !type->step_ok || type->step_ok(&s->options, t);
}

/* Sets the momentum of each group to that of step s->t, if schedules of this type change it. */
static void set_momentum(const hd_schedule *s)
{
    hd_optim *o = s->o;
    double momentum = s->type->momentum ? s->type->momentum(&s->options, s->t) : NAN;
    for (int64_t i = 0; i < o->n_groups && !isnan(momentum); i++) {
        *hd__optim_option_double(&o->type->options[o->type->momentum], &o->groups[i].now) =
            momentum;
    }
}

/* Sets the lr and the momentum of each group to those of step t. Returns false with an error if
 * this step is not possible. */
static bool schedule_apply(hd_schedule *s, int64_t t)
{
    if (!schedule_step_ok(s, t)) {
        return false;
    }
    for (int64_t i = 0; i < s->o->n_groups; i++) {
        double *lr = hd__optim_lr(s->o, i);
        *lr = s->type->lr(&s->options, i < s->n ? s->base_lr[i] : *lr, *lr, t);
    }
    s->t = t;
    set_momentum(s);
    return true;
}

/* ---------------------------------------------------------------- making and freeing */

hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options)
{
    if (!hd__object("o", o) || !hd__optim_options_ok(type->table, options)) {
        return NULL;
    }
    hd_schedule *s = hd__object_new(HD__SCHEDULE, sizeof *s);
    double *base_lr = hd__arg_alloc_items(o->n_groups, sizeof *base_lr);
    if (!s || !base_lr) {
        hd_free(s);
        hd_free(base_lr);
        return NULL;
    }
    for (int64_t i = 0; i < o->n_groups; i++) {
        base_lr[i] = *hd__optim_lr(o, i);
    }
    *s = (hd_schedule){
        .type = type, .o = o, .options = *options, .n = o->n_groups, .base_lr = base_lr};
    if (!schedule_apply(s, 0)) {
        hd_schedule_free(s);
        return NULL;
    }
    o->scheduled = true;
    return s;
}

void hd_schedule_free(hd_schedule *s)
{
    HD__CALL("hd_schedule_free");
    if (hd__object_may_free("s", s, HD_NONE)) {
        hd_free(s->base_lr);
        hd__mem_retire_object(s, hd__call_kept());
    }
}

/* ---------------------------------------------------------------- stepping */

bool hd__schedule_may_step(const hd_schedule *s, bool with_metric)
{
    if (!hd__object("s", s) || !hd__object("the optimizer of s", s->o) || !hd__optim_may_step()) {
        return false;
    }
    return s->type->takes_metric == with_metric ||
           hd_fail(HD_STATE, "%s %s", s->type->name,
                   with_metric ? "takes no metric. Call hd_schedule_step"
                               : "needs a metric. Call hd_schedule_step_metric");
}

bool hd_schedule_step(hd_schedule *s)
{
    HD__CALL("hd_schedule_step");
    if (!hd__schedule_may_step(s, false)) {
        return false;
    }
    if (s->t == 0 && !s->o->stepped && hd__error_warns()) {
        hd_warn("the optimizer has not stepped since its schedule was made, so its first learning "
                "rate, %s, is not used. Call hd_optim_step before hd_schedule_step",
                HD__FLOAT(hd_optim_lr(s->o)));
    }
    return schedule_apply(s, s->t + 1);
}

int64_t hd_schedule_steps(const hd_schedule *s)
{
    HD__CALL("hd_schedule_steps");
    return hd__object("s", s) ? s->t : -1;
}

/* ---------------------------------------------------------------- saved state */

static bool saved_count(hd__optim_saved *v, const char *name, int64_t least, int64_t most,
                        int64_t *n)
{
    const char *key = hd__text_key(&v->key, v->prefix, NULL, 0, name);
    return v->to ? hd_dict_set_int(v->to, key, *n)
                 : hd__dict_int_within(v->from, key, least, most, n);
}

static bool saved_metric(hd__optim_saved *v, hd_schedule *s)
{
    const hd_reduce_on_plateau_options *p = &s->options.plateau;
    return hd__optim_saved_number(v, NULL, 0, "best", HD__ANY_NUMBER, &s->best) &&
           saved_count(v, "num_bad_epochs", 0, p->patience, &s->bad) &&
           saved_count(v, "cooldown_counter", 0, p->cooldown, &s->cooldown);
}

/* Writes the state of s to v->to. If v->to is NULL, reads v->from instead: the lr of each group
 * into lr, and all other values into *s. Returns false with an error if that fails, or if a value
 * that no step changes differs from that of s. */
static bool schedule_visit(hd__optim_saved *v, hd_schedule *s, double *lr)
{
    const hd__schedule_type *type = s->type;
    int64_t last = type->last ? type->last(&s->options) : HD__MOST_SAVED, n = s->o->n_groups;
    bool ok = hd__optim_saved_text(v, "type", type->name) &&
              hd__optim_saved_options(v, NULL, 0, type->table, &s->options) &&
              saved_count(v, "step", 0, last, &s->t) &&
              hd__optim_saved_int(v, NULL, 0, "groups", n) &&
              saved_count(v, "first_groups", needs_base(s, s->t) ? n : 1, n, &s->n) &&
              (!type->takes_metric || saved_metric(v, s));
    for (int64_t i = 0; i < s->n && ok; i++) {
        ok = hd__optim_saved_number(v, "base_lr", i, "lr", HD__NOT_NEGATIVE, &s->base_lr[i]);
    }
    for (int64_t i = 0; i < n && ok; i++) {
        ok = hd__optim_saved_number(v, "last_lr", i, "lr", HD__ANY_NUMBER,
                                    lr ? &lr[i] : hd__optim_lr(s->o, i));
    }
    hd_free(v->key.s);
    return ok;
}

static bool schedule_write(const void *object, hd_dict *d, const char *prefix)
{
    hd_schedule s = *(const hd_schedule *)object;
    return hd__object("the optimizer of s", s.o) &&
           schedule_visit(&(hd__optim_saved){.to = d, .prefix = prefix}, &s, NULL);
}

bool hd_schedule_save(const hd_schedule *s, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_schedule_save");
    return hd__tensor_state_save("s", s, d, prefix, schedule_write);
}

/* Moves *read and lr into s and its optimizer; read->base_lr gets the old base_lr, which the caller
 * frees. */
static void schedule_take_over(hd_schedule *s, hd_schedule *read, const double *lr)
{
    hd_schedule old = *s;
    *s = *read;
    read->base_lr = old.base_lr;
    for (int64_t i = 0; i < s->o->n_groups; i++) {
        *hd__optim_lr(s->o, i) = lr[i];
    }
    set_momentum(s);
}

bool hd_schedule_load(hd_schedule *s, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_schedule_load");
    if (!hd__tensor_state_given("s", s, d, prefix) || !hd__object("the optimizer of s", s->o)) {
        return false;
    }
    HD__SCOPE_OR(false);
    hd_schedule read = *s;
    double *lr = hd__arg_alloc_items(s->o->n_groups, sizeof *lr);
    read.base_lr = hd__arg_alloc_items(s->o->n_groups, sizeof *lr);
    bool ok = lr && read.base_lr &&
              schedule_visit(&(hd__optim_saved){.from = d, .prefix = prefix}, &read, lr) &&
              schedule_step_ok(&read, read.t);
    if (ok) {
        schedule_take_over(s, &read, lr);
    }
    hd_free(read.base_lr);
    hd_free(lr);
    return ok;
}
