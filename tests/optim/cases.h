/* cases.h - optimizers and schedules made from the golden files' cases. */
#ifndef HEED_TESTS_OPTIM_CASES_H
#define HEED_TESTS_OPTIM_CASES_H

#include "support/golden_reader.h"
#include "suites.h"

typedef union any_options {
    hd_sgd_options sgd;
    hd_adam_options adam;
    hd_rmsprop_options rmsprop;
    hd_adagrad_options adagrad;
} any_options;

/* The options of the case's class: those under prefix ("", "second/") where there are some. */
any_options case_options(const golden_case *c, const char *prefix, any_options o);
any_options case_defaults(const golden_case *c);
hd_optim *case_optim(const golden_case *c, const hd_list *parameters);
/* Two groups of one parameter each, the second's options from `second/`. */
hd_optim *case_two_groups(const golden_case *c, hd_tensor *first, hd_tensor *second);
hd_schedule *case_schedule(const golden_case *c, hd_optim *o);

/* (2, 3) of the record's values from `from` on */
hd_tensor *case_tensor(const golden_record *r, int64_t from);
/* x by other strides: the transposed of a copy of its transposed */
hd_tensor *restrided(hd_tensor *x);

/* The start and the gradients that belong to a case of this type. */
const golden_case *case_gradients(const golden_file *f, golden_type type);

#endif
