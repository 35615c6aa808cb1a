/* errors.h - assertions about the thread's error. The tests of base include only this header; the
 * other tests get it through support.h. */
#ifndef HEED_TESTS_ERRORS_H
#define HEED_TESTS_ERRORS_H

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

#include "heed/base.h"

/* Formats a message with the sizes of structs, which differ between machines. Valid until the next
 * call. */
static inline const char *sized(const char *format, ...)
{
    static char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

/* Asserts the code and the whole message of the standing error, and clears it. */
#define ck_error(code, message)                                                                    \
    do {                                                                                           \
        ck_assert_str_eq(hd_error_message(), (message));                                           \
        ck_assert_int_eq(hd_error_code(), (code));                                                 \
        hd_error_clear();                                                                          \
    } while (0)

#define ck_no_error() ck_assert_str_eq(hd_error_message(), "")

#endif
