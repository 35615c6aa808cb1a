/* optim_internal.h - what the files of optim share.
 *
 * An optimizer has a slot for each parameter, which holds its state, and groups of slots. Each
 * group has options of its own. Tables describe the options, so that checking, saving and comparing
 * them is written once. */
#ifndef HEED_OPTIM_INTERNAL_H
#define HEED_OPTIM_INTERNAL_H

#include "heed/optim.h"
#include "tensor/for_nn_and_optim.h"
#include "tensor/kernels/optim.h"

/* ---------------------------------------------------------------- options */

typedef enum hd__optim_range {
    HD__NOT_NEGATIVE,  /* double: 0 or more */
    HD__POSITIVE,      /* above 0 */
    HD__BELOW_ONE,     /* 0 or more, below 1 */
    HD__FROM_0_TO_1,   /* 0 and 1 included */
    HD__ABOVE_0_TO_1,  /* above 0, up to 1 included */
    HD__ANY_NUMBER,    /* not NaN */
    HD__FLAG,          /* bool */
    HD__CHOICE,        /* an enum whose values are 0 and 1 */
    HD__COUNT,         /* int64: 0 or more */
    HD__POSITIVE_COUNT /* 1 or more */
} hd__optim_range;

typedef struct hd__optim_option {
    const char *name;
    size_t offset; /* of the field in the options' struct */
    hd__optim_range range;
} hd__optim_option;

/* A table of options ends with a row of zeros, so it has fewer than these. */
enum { HD__OPTIONS = 11 };
#define HD__OPTION(type, field, limits)                                                            \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, field), .range = limits                           \
    }

/* The option's field in a struct of options. */
double *hd__optim_option_double(const hd__optim_option *option, const void *options);

/* Is a number in its range? Are all options of a table? "hd_sgd_new: lr -1: expected 0 or more" */
bool hd__optim_number_ok(const char *name, hd__optim_range range, double v);
bool hd__optim_options_ok(const hd__optim_option *table, const void *options);

/* Does no error stand? If one does, a step fails with HD_STATE. */
bool hd__optim_may_step(void);

/* ---------------------------------------------------------------- saved state (options.c) */

/* State on its way to a dictionary, or from one. The functions below write to `to`. If it is NULL,
 * they look at what `from` has under the name that hd__text_key makes, and fail if it is not what
 * is wanted: "hd_optim_load: 'o.params' is 2: expected 3". */
typedef struct hd__optim_saved {
    hd_dict *to;
    const hd_dict *from;
    const char *prefix;
    hd__text key; /* the last name */
} hd__optim_saved;

bool hd__optim_saved_text(hd__optim_saved *s, const char *name, const char *want);
bool hd__optim_saved_int(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                         int64_t want);
bool hd__optim_saved_options(hd__optim_saved *s, const char *list, int64_t i,
                             const hd__optim_option *table, const void *options);
/* Writes *x, or reads it, which must be in this range. */
bool hd__optim_saved_number(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                            hd__optim_range range, double *x);

/* ---------------------------------------------------------------- optimizers */

enum { HD__STATES = 3 };

typedef struct hd__optim_slot {
    hd_tensor *p;                 /* retained */
    int64_t group;                /* the number of its group */
    hd_tensor *state[HD__STATES]; /* dense, of p's shape and dtype, retained; NULL until needed */
    int64_t steps;
} hd__optim_slot;

/* The options of any optimizer: fewer fields than HD__OPTIONS after their size, none of them larger
 * than a double. */
typedef union hd__optim_options {
    size_t size;
    _Alignas(double) char bytes[HD__OPTIONS * sizeof(double)];
} hd__optim_options;

typedef struct hd__optim_group {
    hd__optim_options given;
    hd__optim_options now; /* `given`, with the lr and momentum that were set since */
} hd__optim_group;

typedef struct hd__optim_state_type {
    const char *name; /* PyTorch's */
    int when;         /* the option that is not 0 where it is needed; 0: always */
} hd__optim_state_type;

typedef struct hd__optim_type {
    const char *name;                      /* "AdamW" */
    const char *giver;                     /* "hd_adamw_defaults()", and */
    const void *defaults;                  /* what it gives */
    hd__optim_option options[HD__OPTIONS]; /* lr is the first of them */
    int momentum;                          /* the option that a one-cycle schedule moves; 0: none */
    bool (*options_ok)(const void *options); /* or NULL */
    hd__optim_state_type states[HD__STATES];
    int start; /* the option that a state begins with; 0: it is 0 then */
    /* The numbers of step `step`, which counts from 1. */
    hdk_numbers (*numbers)(const void *options, int64_t step);
    int kernel; /* HDK_ADAM */
} hd__optim_type;

struct hd_optim {
    const hd__optim_type *type;
    int64_t n, room;
    hd__optim_slot *slots;
    int64_t n_groups, groups_room;
    hd__optim_group *groups;
    unsigned int
        dtypes;     /* hd__tensor_taken_over when the states had the dtypes of their parameters */
    bool scheduled; /* a schedule was made for it */
    bool stepped;   /* it has stepped since its first schedule was made */
    /* For warnings (stale_gradients.c in src/diagnose). */
    uint64_t number; /* from 1; no two optimizers have the same */
    bool told_used;  /* the warning was given */
    /* Steps in a row that found no gradient, because those of a backward were freed, or because no
     * parameter requires grad. */
    int freed, frozen;
};

extern atomic_int hd__optim_alive; /* how many optimizers there are */

/* An optimizer with one group; options NULL: the defaults. NULL with an error if the list does not
 * hold distinct parameters or an option is out of its range. */
hd_optim *hd__optim_new(const hd__optim_type *type, const hd_list *parameters, const void *options);

static inline double *hd__optim_lr(const hd_optim *o, int64_t group)
{
    return hd__optim_option_double(&o->type->options[0], &o->groups[group].now);
}

/* Do these options need state k? */
bool hd__optim_uses(const hd__optim_type *type, const hd__optim_options *o, int k);

/* Parameter i of a list; NULL with an error if it is HD_NONE. */
hd_tensor *hd__optim_parameter_at(const hd_list *list, int64_t i);

/* ---------------------------------------------------------------- walking elements */

enum { HD__GRAIN = 32768 };

typedef struct hd__optim_walk {
    int64_t n;
    hd_tensor **x, **dense; /* dense: x[i], or a copy of it if it is not contiguous */
} hd__optim_walk;

/* Makes room for so many tensors, which hd__optim_walk_add takes. Ends with hd_free(w->x). */
bool hd__optim_walk_begin(hd__optim_walk *w, int64_t most);
bool hd__optim_walk_add(hd__optim_walk *w, hd_tensor *x);

/* Called for the elements of dense[i] from `begin` to end - 1. They are grain number `grain` of
 * all. */
typedef void (*hd__optim_run)(int64_t i, int64_t grain, int64_t begin, int64_t end, void *arg);

/* Calls run for all elements, spread over the threads. A grain has HD__GRAIN elements, or those
 * that are left, or all of a tensor that is not contiguous. If the runs write, what they write to
 * such a copy goes to the tensor, too; there the grain has no number. */
void hd__optim_walk_all(const hd__optim_walk *w, bool writes, hd__optim_run run, void *arg);
int64_t hd__optim_grains(const hd_tensor *x); /* how many x has */

#endif
