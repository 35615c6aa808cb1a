/* suites.h - the suites of what spans layers, one a topic; main.c runs them all. */
#ifndef TESTS_WHOLE_SUITES_H
#define TESTS_WHOLE_SUITES_H

#include <stdlib.h>

#include "support/support.h"
#include "heed/heed.h"

Suite *suite_accumulation(void);
Suite *suite_attention_golden(void);
Suite *suite_gpt(void);
Suite *suite_notebook_classes(void);
Suite *suite_null(void);
Suite *suite_memory(void);
Suite *suite_sdpa_golden(void);
Suite *suite_threads(void);

#endif
