/* options.h - the options of optimizers and schedules, and their saved state (options.c).
 *
 * Tables describe the options, so one function checks them all, and one saves or compares them. */
#ifndef HEED_OPTIM_OPTIONS_H
#define HEED_OPTIM_OPTIONS_H

#include "base/text/number.h"
#include "heed/optim.h"
#include "tensor/for_nn_and_optim.h"

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

/* A table of options ends with a row of zeros, so it has fewer than HD__OPTIONS options. */
enum { HD__OPTIONS = 11 };
#define HD__OPTION(type, field, limits)                                                            \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, field), .range = limits                           \
    }

/* An option's field, a double, in a struct of options */
double *hd__optim_option_double(const hd__optim_option *option, const void *options);

/* True if v is in the range; otherwise fails: "hd_sgd_new: lr -1: expected 0 or more". */
bool hd__optim_number_ok(const char *name, hd__optim_range range, double v);
/* The same for all options of a table. */
bool hd__optim_options_ok(const hd__optim_option *table, const void *options);

/* True if no error stands; otherwise fails with HD_STATE. */
bool hd__optim_may_step(void);

/* ---------------------------------------------------------------- saved state */

/* The functions below write state to `to` or, if it is NULL, compare it with `from`, and fail if an
 * entry differs: "hd_optim_load: 'o.params' is 2: expected 3". hd__text_key makes the names. */
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
/* Writes *x, or reads *x, which must be in the range. */
bool hd__optim_saved_number(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                            hd__optim_range range, double *x);

#endif
