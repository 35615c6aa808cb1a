/* schedule.h - a schedule and its type, for schedule.c, schedules.c and plateau.c. */
#ifndef HEED_OPTIM_SCHEDULE_H
#define HEED_OPTIM_SCHEDULE_H

#include "optim/optim.h"

/* The options of ConstantLR, StepLR and LinearLR. Each reads its own fields. */
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
    /* True if step t is possible; otherwise fails. NULL: every step is. */
    bool (*step_ok)(const hd__schedule_options *o, int64_t t);
    int64_t (*last)(const hd__schedule_options *o); /* the last step; NULL: there is none */
    /* The lr of step t, from the base lr and the present lr */
    double (*lr)(const hd__schedule_options *o, double base, double now, int64_t t);
    /* True if step t needs a base lr for every group. NULL: no step does. */
    bool (*needs_base)(const hd__schedule_options *o, int64_t t);
    /* The momentum of step t. NaN leaves it unchanged, and so does NULL. */
    double (*momentum)(const hd__schedule_options *o, int64_t t);
    bool takes_metric;
} hd__schedule_type;

struct hd_schedule {
    const hd__schedule_type *type;
    hd_optim *o; /* not retained */
    hd__schedule_options options;
    int64_t t;       /* steps so far */
    int64_t n;       /* number of the optimizer's groups when the schedule was made */
    double *base_lr; /* the lr of these n groups then; a newer group's base is its present lr */
    double best;     /* ReduceLROnPlateau: the best metric so far */
    int64_t bad, cooldown; /* ReduceLROnPlateau: steps without a better one; steps still to wait */
};

/* A new schedule, which has set o's learning rates for step 0; NULL on error. */
hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options);

/* True if s may step now, with a metric or without one; otherwise fails. */
bool hd__schedule_may_step(const hd_schedule *s, bool with_metric);

#endif
