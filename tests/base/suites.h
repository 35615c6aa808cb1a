/* suites.h - the suites of the base layer, one a topic. */
#ifndef TESTS_BASE_SUITES_H
#define TESTS_BASE_SUITES_H

#include "base/parts.h"

#include <check.h>
#include <stdlib.h>

Suite *start_suite(void);
Suite *error_suite(void);
Suite *alloc_suite(void);
Suite *json_suite(void);
Suite *threads_suite(void);
Suite *rng_suite(void);

/* The standing error is this one; then it is cleared. */
#define ck_error(code, message)                                                                    \
    do {                                                                                           \
        ck_assert_str_eq(hd_error_message(), message);                                             \
        ck_assert_int_eq(hd_error_code(), code);                                                   \
        hd_error_clear();                                                                          \
    } while (0)

#endif
