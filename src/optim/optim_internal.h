/* optim_internal.h - what every optimizer has in common.
 *
 * A slot is one parameter with its state: named tensors and a count of steps. The options are the
 * type's own. */
#ifndef HEED_OPTIM_INTERNAL_H
#define HEED_OPTIM_INTERNAL_H

#include "base/base_internal.h"
#include "heed/optim.h"
#include "tensor/kernels/optim.h"

enum { HD__STATES = 3 };

typedef struct hd__slot {
    hd_tensor *p; /* held */
    hd_tensor
        *state[HD__STATES]; /* dense, of p's shape and dtype, held; NULL until the first step */
    int64_t steps;
} hd__slot;

typedef struct hd__optim_type {
    int (*n_states)(const hd_optim *o);
    /* Updates run's n elements; slot->steps counts this step already. Called for parts of a
     * parameter, on any thread. */
    void (*update)(const hd_optim *o, const hd__slot *slot, const hdk_step *run, int64_t n,
                   hd_dtype d);
} hd__optim_type;

struct hd_optim {
    const hd__optim_type *type;
    double lr;
    union {
        hd_sgd_options sgd;
        hd_adamw_options adamw;
    } options;
    int64_t n;
    hd__slot *slots;
};

/* An optimizer of type without options, or NULL when the list is not one of distinct parameters. */
hd_optim *hd__optim_new(const char *function, const hd__optim_type *type, const hd_list *parameters,
                        double lr);

/* value in [0, ...): "hd_sgd_new: lr -1: expected 0 or more" */
bool hd__not_negative(const char *function, const char *option, double value);
bool hd__options_size(const char *function, size_t size, size_t want, const char *defaults);

#endif
