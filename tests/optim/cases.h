/* cases.h - makes optimizers and schedules from the cases of the golden files. */
#ifndef HEED_TESTS_OPTIM_CASES_H
#define HEED_TESTS_OPTIM_CASES_H

#include "optimizers_made.h"
#include "support/golden_reader.h"
#include "suites.h"

#define OPTIONS_FIELD(kind, ...) hd_##kind##_options kind;
typedef union any_options {
    OPTIMIZERS(OPTIONS_FIELD)
} any_options;

/* `o` with the options that the case has under `prefix`: "" or "second/". */
any_options case_options(const golden_case *c, const char *prefix, any_options o);
any_options case_defaults(const golden_case *c);
hd_optim *case_optim(const golden_case *c, const hd_list *parameters);
/* The second group, with the options that come from `second/`. */
void case_second_group(const golden_case *c, hd_optim *o, hd_tensor *second);
/* The step before which this group joins; -1: before the schedule is made. */
int64_t case_joins(const golden_case *c);
hd_schedule *case_schedule(const golden_case *c, hd_optim *o);
/* Step k of a schedule. */
bool case_schedule_step(const golden_case *c, hd_schedule *s, int64_t k);

/* (2, 3): the record's values from index `from` on */
hd_tensor *case_tensor(const golden_record *r, int64_t from);
/* x with other strides: the transpose of a copy of its transpose */
hd_tensor *restrided(hd_tensor *x);

/* The initial values and the gradients for a case of this type. */
const golden_case *case_gradients(const golden_file *f, golden_type type);

#endif
