/* errors.h - what a test says about the thread's error; base's tests need no more than this. */
#ifndef HEED_TESTS_ERRORS_H
#define HEED_TESTS_ERRORS_H

#include <check.h>

#include "heed/base.h"

/* The standing error is this one, word for word; clears it. */
#define ck_error(code, message)                                                                    \
    do {                                                                                           \
        ck_assert_str_eq(hd_error_message(), (message));                                           \
        ck_assert_int_eq(hd_error_code(), (code));                                                 \
        hd_error_clear();                                                                          \
    } while (0)

#define ck_no_error() ck_assert_str_eq(hd_error_message(), "")

#endif
