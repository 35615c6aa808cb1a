/* suites.h - the suites of the optim layer, one a topic; main.c runs them all. Each test begins and
 * ends with the same number of live bytes and tensors, or fails. */
#ifndef HEED_TESTS_OPTIM_SUITES_H
#define HEED_TESTS_OPTIM_SUITES_H

#include "support/leak_checked.h"
#include "heed/optim.h"

Suite *suite_golden(void);
Suite *suite_step(void);
Suite *suite_options(void);
Suite *suite_groups(void);
Suite *suite_resume(void);
Suite *suite_clip(void);

#endif
