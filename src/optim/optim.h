/* optim.h - an optimizer: optim.c makes it, step.c runs its steps, and state.c saves it.
 *
 * An optimizer has a slot for each parameter, which holds the parameter's state. Each slot belongs
 * to a group, and each group has its own options. */
#ifndef HEED_OPTIM_OPTIM_H
#define HEED_OPTIM_OPTIM_H

#include "optim/options.h"
#include "tensor/kernels/optim.h"

enum { HD__STATES = 3 };

typedef struct hd__optim_slot {
    hd_tensor *p;  /* the parameter, retained */
    int64_t group; /* index of the parameter's group */
    /* the parameter's states: contiguous tensors of p's shape and dtype, retained; NULL until
     * needed */
    hd_tensor *state[HD__STATES];
    int64_t steps; /* number of steps of this parameter */
} hd__optim_slot;

/* The options of any optimizer. Every struct of options begins with `size`. Fewer than HD__OPTIONS
 * fields follow, and each is at most as large as a double. */
typedef union hd__optim_options {
    size_t size;
    _Alignas(double) char bytes[HD__OPTIONS * sizeof(double)];
} hd__optim_options;

typedef struct hd__optim_group {
    hd__optim_options given;
    hd__optim_options now; /* `given`, with the lr and momentum that were set later */
} hd__optim_group;

typedef struct hd__optim_state_type {
    const char *name; /* PyTorch's name of the state, such as "exp_avg" */
    /* 0: an optimizer always needs this state. Otherwise the index of an option; an optimizer needs
     * the state only if this option is not 0. */
    int when;
} hd__optim_state_type;

typedef struct hd__optim_type {
    const char *name;  /* "AdamW" */
    const char *giver; /* the call that returns the defaults, for messages: "hd_adamw_defaults()" */
    const void *defaults;                  /* the default options */
    hd__optim_option options[HD__OPTIONS]; /* the first one is lr */
    /* index of the option that a one-cycle schedule sets as the momentum; 0 if there is none */
    int momentum;
    /* Checks the options that depend on each other. Returns false with an error if they do not fit
     * together. NULL: every combination is valid. */
    bool (*options_ok)(const void *options);
    hd__optim_state_type states[HD__STATES];
    int start; /* index of the option whose value fills a new state; 0: zeros fill it */
    /* Returns the numbers for the kernel in step number `step`, counted from 1. */
    hdk_numbers (*numbers)(const void *options, int64_t step);
    int kernel; /* the kernel's index, such as HDK_ADAM */
} hd__optim_type;

struct hd_optim {
    const hd__optim_type *type;
    int64_t n, room;
    hd__optim_slot *slots;
    int64_t n_groups, groups_room;
    hd__optim_group *groups;
    /* the value of hd__tensor_taken_over (it counts conversions of parameters) when the states were
     * last converted to the dtypes of their parameters */
    unsigned int dtypes;
    bool scheduled; /* a schedule was made for this optimizer */
    bool stepped;   /* the optimizer has stepped since its first schedule was made */
    /* For warnings (stale_gradients.c in src/diagnose). */
    uint64_t number; /* the optimizer's number, from 1 on; no two share one */
    bool told_used;  /* the warning of stale gradients was given */
    /* number of successive steps that found no gradient, because the program had freed those that
     * hd_backward had written */
    int freed;
    /* number of successive steps that found no gradient, because no parameter requires grad */
    int frozen;
};

extern atomic_int hd__optim_alive; /* the number of optimizers that exist */

/* Returns a new optimizer with one group, which has the default options if `options` is NULL. The
 * parameters must be distinct leaves of a floating-point dtype that are not expanded. Returns NULL
 * with an error if a parameter is not, if the list is empty, if the options are wrong, or if memory
 * runs out. */
hd_optim *hd__optim_new(const hd__optim_type *type, const hd_list *parameters, const void *options);

static inline double *hd__optim_lr(const hd_optim *o, int64_t group)
{
    return hd__optim_option_double(&o->type->options[0], &o->groups[group].now);
}

/* True if an optimizer with these options needs state k (options.c). */
bool hd__optim_uses(const hd__optim_type *type, const hd__optim_options *o, int k);

/* Returns parameter i of a list. Returns NULL with an error if the parameter is HD_NONE, or if the
 * list cannot be read. */
hd_tensor *hd__optim_parameter_at(const hd_list *list, int64_t i);

#endif
