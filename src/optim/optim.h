/* optim.h - an optimizer: optim.c makes it, step.c runs its steps, and state.c saves it.
 *
 * It has a slot for each parameter, which holds the parameter's state. Each slot belongs to a
 * group, and each group has its own options. */
#ifndef HEED_OPTIM_OPTIM_H
#define HEED_OPTIM_OPTIM_H

#include "optim/options.h"
#include "tensor/kernels/optim.h"

enum { HD__STATES = 3 };

typedef struct hd__optim_slot {
    hd_tensor *p;                 /* retained */
    int64_t group;                /* the number of its group */
    hd_tensor *state[HD__STATES]; /* dense, of p's shape and dtype, retained; NULL until needed */
    int64_t steps;
} hd__optim_slot;

/* The options of any optimizer. After `size` they have fewer than HD__OPTIONS fields, none larger
 * than a double. */
typedef union hd__optim_options {
    size_t size;
    _Alignas(double) char bytes[HD__OPTIONS * sizeof(double)];
} hd__optim_options;

typedef struct hd__optim_group {
    hd__optim_options given;
    hd__optim_options now; /* `given`, with the lr and momentum that were set later */
} hd__optim_group;

typedef struct hd__optim_state_type {
    const char *name; /* PyTorch's name */
    int when;         /* the state is needed if this option is not 0; 0: always needed */
} hd__optim_state_type;

typedef struct hd__optim_type {
    const char *name;                      /* "AdamW" */
    const char *giver;                     /* "hd_adamw_defaults()", for messages */
    const void *defaults;                  /* the options that it returns */
    hd__optim_option options[HD__OPTIONS]; /* the first one is lr */
    int momentum;                          /* the option that a one-cycle schedule sets; 0: none */
    bool (*options_ok)(const void *options); /* further checks, or NULL */
    hd__optim_state_type states[HD__STATES];
    int start; /* the option that fills a new state; 0: zeros fill it */
    /* The numbers for the kernel in step `step`, counted from 1 */
    hdk_numbers (*numbers)(const void *options, int64_t step);
    int kernel; /* HDK_ADAM */
} hd__optim_type;

struct hd_optim {
    const hd__optim_type *type;
    int64_t n, room;
    hd__optim_slot *slots;
    int64_t n_groups, groups_room;
    hd__optim_group *groups;
    unsigned int dtypes; /* hd__tensor_taken_over when states last had their parameters' dtypes */
    bool scheduled;      /* a schedule was made for it */
    bool stepped;        /* it has stepped since its first schedule was made */
    /* For warnings (stale_gradients.c in src/diagnose). */
    uint64_t number; /* from 1; each optimizer has its own */
    bool told_used;  /* the warning of stale gradients was given */
    int freed;       /* steps in a row without a gradient, because those of a backward were freed */
    int frozen;      /* steps in a row without a gradient, because no parameter requires grad */
};

extern atomic_int hd__optim_alive; /* the number of optimizers that exist */

/* A new optimizer with one group. options NULL: the defaults. Fails if the list does not hold
 * distinct parameters, or if an option is out of its range. */
hd_optim *hd__optim_new(const hd__optim_type *type, const hd_list *parameters, const void *options);

static inline double *hd__optim_lr(const hd_optim *o, int64_t group)
{
    return hd__optim_option_double(&o->type->options[0], &o->groups[group].now);
}

/* True if an optimizer with these options needs state k (options.c). */
bool hd__optim_uses(const hd__optim_type *type, const hd__optim_options *o, int k);

/* Parameter i of a list; NULL with an error if it is HD_NONE. */
hd_tensor *hd__optim_parameter_at(const hd_list *list, int64_t i);

#endif
