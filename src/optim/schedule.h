/* schedule.h - a schedule, for the two files that it is made of. */
#ifndef HEED_OPTIM_SCHEDULE_H
#define HEED_OPTIM_SCHEDULE_H

#include "optim/optim_internal.h"

typedef struct hd__constant_lr {
    double factor;
    int64_t total_iters;
} hd__constant_lr;

typedef struct hd__step_lr {
    int64_t step_size;
    double gamma;
} hd__step_lr;

typedef struct hd__linear_lr {
    double start_factor, end_factor;
    int64_t total_iters;
} hd__linear_lr;

typedef union hd__schedule_options {
    hd__constant_lr constant;
    hd__step_lr step;
    hd__linear_lr linear;
    hd_cosine_warmup_options cosine;
    hd_one_cycle_options cycle;
} hd__schedule_options;

typedef struct hd__schedule_type {
    const char *name;     /* "StepLR" */
    const char *function; /* "hd_step_lr_new" */
    const hd__option *table;
    /* May step t be? Sets the error; NULL: every one may. */
    bool (*step_ok)(const char *function, const hd__schedule_options *o, int64_t t);
    double (*lr)(const hd__schedule_options *o, double base, int64_t t);
    double (*momentum)(const hd__schedule_options *o, int64_t t); /* NaN, or NULL: leaves it */
} hd__schedule_type;

struct hd_schedule {
    const hd__schedule_type *type;
    hd_optim *o; /* not held */
    hd__schedule_options options;
    int64_t t;       /* steps so far */
    int64_t n;       /* the optimizer's groups */
    double *base_lr; /* of each */
};

/* In force on o from step 0, or NULL. */
hd_schedule *hd__schedule_new(const hd__schedule_type *type, hd_optim *o,
                              const hd__schedule_options *options);

#endif
