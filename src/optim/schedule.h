/* schedule.h - a schedule and its type, for schedule.c, schedules.c and plateau.c. */
#ifndef HEED_OPTIM_SCHEDULE_H
#define HEED_OPTIM_SCHEDULE_H

#include "optim/optim.h"

/* The options of ConstantLR, StepLR and LinearLR. Each type reads only its own fields. */
typedef struct hd__schedule_plain_lr {
    double factor, gamma, start_factor, end_factor;
    int64_t total_iters, step_size;
} hd__schedule_plain_lr;

typedef union hd__schedule_options {
    hd__schedule_plain_lr plain;
    hd_cosine_annealing_options annealing;
    hd_cosine_warmup_options cosine;
    hd_one_cycle_options cycle;
    hd_reduce_on_plateau_options plateau;
} hd__schedule_options;

typedef struct hd__schedule_type {
    const char *name; /* "StepLR" */
    hd__optim_option table[HD__OPTIONS];
    /* Checks that step t is possible; otherwise returns false with an error. NULL: every step is
     * possible. */
    bool (*step_ok)(const hd__schedule_options *o, int64_t t);
    int64_t (*last)(const hd__schedule_options *o); /* returns the last step; NULL: there is none */
    /* Returns the lr of step t, from a group's base lr and its present lr, `now`. */
    double (*lr)(const hd__schedule_options *o, double base, double now, int64_t t);
    /* True if step t needs a base lr for every group. NULL: no step needs one. */
    bool (*needs_base)(const hd__schedule_options *o, int64_t t);
    /* Returns the momentum of step t, or NaN to leave it unchanged. NULL: it never changes. */
    double (*momentum)(const hd__schedule_options *o, int64_t t);
    bool takes_metric;
} hd__schedule_type;

struct hd_schedule {
    const hd__schedule_type *type;
    hd_optim *o; /* the optimizer, not retained */
    hd__schedule_options options;
    int64_t t; /* the number of steps so far */
    int64_t n; /* the number of groups that the optimizer had when the schedule was made */
    /* the lr that each of these n groups had when the schedule was made; the base lr of a newer
     * group is its present lr */
    double *base_lr;
    double best; /* ReduceLROnPlateau: the best metric so far */
    /* ReduceLROnPlateau: the number of steps without a better metric, and the number of steps that
     * are left of the cooldown */
    int64_t bad, cooldown;
};

/* Returns a new schedule, and sets o's learning rates and momentum to those of step 0. Returns NULL
 * with an error if o is not an optimizer, if an option is out of its range, if step 0 is not
 * possible, or if memory runs out. */
hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options);

/* Checks that s may step now, and that its type takes a metric if and only if `with_metric`.
 * Otherwise returns false with an error. */
bool hd__schedule_may_step(const hd_schedule *s, bool with_metric);

#endif
