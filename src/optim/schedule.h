/* schedule.h - what a schedule is, for schedule.c and schedules.c. */
#ifndef HEED_OPTIM_SCHEDULE_H
#define HEED_OPTIM_SCHEDULE_H

#include "optim/optim_internal.h"

/* What ConstantLR, StepLR and LinearLR are given. Each reads its own part. */
typedef struct hd__plain_lr {
    double factor, gamma, start_factor, end_factor;
    int64_t total_iters, step_size;
} hd__plain_lr;

typedef union hd__schedule_options {
    hd__plain_lr plain;
    hd_cosine_warmup_options cosine;
    hd_one_cycle_options cycle;
} hd__schedule_options;

typedef struct hd__schedule_type {
    const char *name; /* "StepLR" */
    hd__option table[HD__OPTIONS];
    /* Is step t possible? If not, sets the error. NULL: every step is. */
    bool (*step_ok)(const hd__schedule_options *o, int64_t t);
    int64_t (*last)(const hd__schedule_options *o); /* the last step; NULL: there is none */
    double (*lr)(const hd__schedule_options *o, double base, int64_t t);
    double (*momentum)(const hd__schedule_options *o,
                       int64_t t); /* NaN, or NULL: does not set it */
} hd__schedule_type;

struct hd_schedule {
    const hd__schedule_type *type;
    hd_optim *o; /* not retained */
    hd__schedule_options options;
    int64_t t;       /* steps so far */
    int64_t n;       /* how many groups the optimizer has */
    double *base_lr; /* of each group */
};

/* A schedule that has set o to its step 0; NULL on error. */
hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options);

#endif
