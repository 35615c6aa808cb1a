/* errors.h - assertions about the thread's error. The tests of base include this alone; support.h
 * has it for the others. */
#ifndef HEED_TESTS_ERRORS_H
#define HEED_TESTS_ERRORS_H

#include <check.h>

#include "heed/base.h"

/* Asserts the code and the whole message of the standing error, and clears it. */
#define ck_error(code, message)                                                                    \
    do {                                                                                           \
        ck_assert_str_eq(hd_error_message(), (message));                                           \
        ck_assert_int_eq(hd_error_code(), (code));                                                 \
        hd_error_clear();                                                                          \
    } while (0)

#define ck_no_error() ck_assert_str_eq(hd_error_message(), "")

#endif
