/* schedule.h - what a schedule is, for schedule.c, schedules.c and plateau.c. */
#ifndef HEED_OPTIM_SCHEDULE_H
#define HEED_OPTIM_SCHEDULE_H

#include "optim/optim.h"

/* What ConstantLR, StepLR and LinearLR are given. Each reads its own part. */
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
    /* Is step t possible? If not, sets the error. NULL: every step is. */
    bool (*step_ok)(const hd__schedule_options *o, int64_t t);
    int64_t (*last)(const hd__schedule_options *o); /* the last step; NULL: there is none */
    /* The lr of step t, from the base and from the lr of now. */
    double (*lr)(const hd__schedule_options *o, double base, double now, int64_t t);
    /* Does step t need a base that was there when the schedule was made? NULL: no step does. */
    bool (*needs_base)(const hd__schedule_options *o, int64_t t);
    double (*momentum)(const hd__schedule_options *o,
                       int64_t t); /* NaN, or NULL: does not set it */
    bool takes_metric;
} hd__schedule_type;

struct hd_schedule {
    const hd__schedule_type *type;
    hd_optim *o; /* not retained */
    hd__schedule_options options;
    int64_t t;       /* steps so far */
    int64_t n;       /* how many groups the optimizer had when the schedule was made */
    double *base_lr; /* of each of these; the base of a later group is its lr of now */
    /* Of one that takes a metric: the best so far, the steps since, and those to wait. */
    double best;
    int64_t bad, cooldown;
};

/* A schedule that has set o to its step 0; NULL on error. */
hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options);

/* Can s step now, with a metric or without? */
bool hd__schedule_may_step(const hd_schedule *s, bool with_metric);

#endif
