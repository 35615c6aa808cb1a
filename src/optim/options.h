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
    HD__POSITIVE,      /* double: above 0 */
    HD__BELOW_ONE,     /* double: 0 or more, and below 1 */
    HD__FROM_0_TO_1,   /* double: from 0 to 1, both included */
    HD__ABOVE_0_TO_1,  /* double: above 0, and at most 1 */
    HD__ANY_NUMBER,    /* double: any number but NaN */
    HD__FLAG,          /* bool */
    HD__CHOICE,        /* an enum whose values are 0 and 1 */
    HD__COUNT,         /* int64: 0 or more */
    HD__POSITIVE_COUNT /* int64: 1 or more */
} hd__optim_range;

typedef struct hd__optim_option {
    const char *name;
    size_t offset; /* the offset of the option's field in the struct of options */
    hd__optim_range range;
} hd__optim_option;

/* A table of options ends with a row of zeros, so it has fewer than HD__OPTIONS options. */
enum { HD__OPTIONS = 11 };
#define HD__OPTION(type, field, limits)                                                            \
    {                                                                                              \
        .name = #field, .offset = offsetof(type, field), .range = limits                           \
    }

/* Returns the address of an option's field, which is a double, in a struct of options. */
double *hd__optim_option_double(const hd__optim_option *option, const void *options);

/* Checks that v is in the range. Otherwise returns false with HD_VALUE: "hd_sgd_new: lr -1:
 * expected 0 or more". */
bool hd__optim_number_ok(const char *name, hd__optim_range range, double v);
/* Checks that every option of a table is in its range. Otherwise returns false with HD_VALUE. */
bool hd__optim_options_ok(const hd__optim_option *table, const void *options);

/* Checks that no error is set. Otherwise returns false with HD_STATE. */
bool hd__optim_may_step(void);

/* ---------------------------------------------------------------- saved state */

/* The functions below save or load state, and return false with an error if that fails. They write
 * a value to `to`. If `to` is NULL, most compare the value with that in `from`, and fail if the two
 * differ: "hd_optim_load: 'o.params' is 2: expected 3". hd__text_key makes the name of a value from
 * s->prefix, list, i and name. */
typedef struct hd__optim_saved {
    hd_dict *to;
    const hd_dict *from;
    const char *prefix;
    hd__text key; /* the name of the value that was saved or loaded last */
} hd__optim_saved;

bool hd__optim_saved_text(hd__optim_saved *s, const char *name, const char *want);
bool hd__optim_saved_int(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                         int64_t want);
bool hd__optim_saved_options(hd__optim_saved *s, const char *list, int64_t i,
                             const hd__optim_option *table, const void *options);
/* Writes *x to s->to. If s->to is NULL, sets *x to the number in s->from instead. Returns false
 * with an error if that fails, or if the loaded number is not in the range. */
bool hd__optim_saved_number(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                            hd__optim_range range, double *x);

#endif
