/* optim_internal.h - what the files of optim share.
 *
 * An optimizer is a row of slots, one a parameter with its state, and of groups, which own the
 * slots in turn and have options each. Options are described by tables, so that checking, saving
 * and comparing them is written once. */
#ifndef HEED_OPTIM_INTERNAL_H
#define HEED_OPTIM_INTERNAL_H

#include "base/base_internal.h"
#include "heed/optim.h"
#include "tensor/kernels/optim.h"

/* ---------------------------------------------------------------- options */

typedef enum hd__range {
    HD__NOT_NEGATIVE,  /* double: 0 or more */
    HD__POSITIVE,      /* above 0 */
    HD__BELOW_ONE,     /* 0 or more, below 1 */
    HD__FROM_0_TO_1,   /* with both ends */
    HD__ABOVE_0_TO_1,  /* without 0 */
    HD__NUMBER,        /* not NaN */
    HD__FLAG,          /* bool */
    HD__CHOICE,        /* an enum of 0 and 1 */
    HD__COUNT,         /* int64: 0 or more */
    HD__POSITIVE_COUNT /* 1 or more */
} hd__range;

typedef struct hd__option {
    const char *name;
    size_t offset; /* in the options' struct */
    hd__range range;
} hd__option;

/* A table of options ends with a row of zeros. */
#define HD__OPTION(type, field, limits)                                                            \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, field), .range = limits                           \
    }

/* The option's field in an options struct. */
double *hd__option_double(const hd__option *option, const void *options);

/* "hd_sgd_new: lr -1: expected 0 or more" */
bool hd__option_ok(const char *function, const hd__option *option, const void *options);
bool hd__options_ok(const char *function, const hd__option *table, const void *options);

/* The options of a table, under hd__key(..., prefix, list, i, their names): writes them to d, or
 * compares them with d's. */
bool hd__options_save(hd_dict *d, const char *prefix, const char *list, int64_t i,
                      const hd__option *table, const void *options);
bool hd__options_equal(const char *function, const hd_dict *d, const char *prefix, const char *list,
                       int64_t i, const hd__option *table, const void *options);
/* Is what d has under key the expected number or text, or a number of at least `least`? Else false
 * and the error "hd_optim_load: 'o.params' is 2: expected 3". key NULL: false. */
bool hd__int_equal(const char *function, const hd_dict *d, const char *key, int64_t want);
bool hd__int_from(const char *function, const hd_dict *d, const char *key, int64_t least,
                  int64_t *v);
bool hd__string_equal(const char *function, const hd_dict *d, const char *key, const char *want);

/* Does no error stand? A step fails with HD_STATE while one does. */
bool hd__may_step(const char *function);

/* ---------------------------------------------------------------- optimizers */

enum { HD__STATES = 3 };

typedef struct hd__slot {
    hd_tensor *p;                 /* held */
    int64_t group;                /* the number of its group */
    hd_tensor *state[HD__STATES]; /* dense, of p's shape and dtype, held; NULL until needed */
    bool fresh;                   /* a state was made for the coming step */
    int64_t steps;
} hd__slot;

typedef union hd__optim_options {
    size_t size;
    hd_sgd_options sgd;
    hd_adam_options adam; /* and AdamW */
    hd_rmsprop_options rmsprop;
    hd_adagrad_options adagrad;
} hd__optim_options;

typedef struct hd__group {
    hd__optim_options given;
    hd__optim_options now; /* given, with the lr and momentum that were set since */
} hd__group;

typedef struct hd__optim_type {
    const char *name;     /* "AdamW" */
    const char *function; /* "hd_adamw_new" */
    const char *defaults; /* "hd_adamw_defaults()" */
    size_t options_size;
    const hd__option *options;  /* lr is the first */
    const hd__option *momentum; /* what a one-cycle schedule moves; NULL: nothing */
    bool (*options_ok)(const char *function, const hd__optim_options *o); /* or NULL */
    const char *states[HD__STATES];                                       /* PyTorch's names */
    unsigned (*uses)(const hd__optim_options *o); /* bit k: state k is needed */
    double (*start)(const hd__optim_options *o);  /* what a state begins with; NULL: 0 */
    /* Updates run's n elements; slot->steps counts this step already. Called for parts of a
     * parameter, on any thread. */
    void (*update)(const hd__optim_options *o, const hd__slot *slot, const hdk_step *run, int64_t n,
                   hd_dtype d);
} hd__optim_type;

struct hd_optim {
    const hd__optim_type *type;
    int64_t n, room;
    hd__slot *slots;
    int64_t n_groups, groups_room;
    hd__group *groups;
};

/* An optimizer with one group, or NULL when the list is not one of distinct parameters or an option
 * is out of its range. */
hd_optim *hd__optim_new(const hd__optim_type *type, const hd_list *parameters, const void *options);

static inline double *hd__lr(const hd_optim *o, int64_t group)
{
    return hd__option_double(&o->type->options[0], &o->groups[group].now);
}

/* Do several of x's elements share memory? */
bool hd__is_expanded(const hd_tensor *x);

/* ---------------------------------------------------------------- walking elements */

enum { HD__GRAIN = 32768 };

/* n elements in a row, from the `element`-th (row-major) on: those of tensor k begin at at[k] and
 * are strides[k] apart, counted in elements. */
typedef void (*hd__run)(const int64_t at[2], const int64_t strides[2], int64_t element, int64_t n,
                        void *arg);

/* The elements of one or two (b NULL) tensors of a shape. */
typedef struct hd__walk {
    const hd_tensor *a, *b;
    void *arg;
    int64_t end; /* hd__walk_all's own: the grains so far */
} hd__walk;

/* Calls run for all elements of all walks, with each one's arg, spread over the threads: a tensor
 * in runs that begin at multiples of HD__GRAIN where a and b are contiguous; else row by row, on
 * one thread. */
void hd__walk_all(hd__walk *walks, int64_t n, hd__run run);

#endif
