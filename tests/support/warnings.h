/* warnings.h - assertions about the warnings of a call. */
#ifndef HEED_TESTS_WARNINGS_H
#define HEED_TESTS_WARNINGS_H

#include <stdio.h>

#include "support/errors.h"

typedef struct warnings_heard {
    int count;
    char last[512];
} warnings_heard;

static inline void hear_warning(const char *message, void *user)
{
    warnings_heard *heard = user;
    heard->count++;
    snprintf(heard->last, sizeof heard->last, "%s", message);
}

/* The handler of every test (run_suites.h): whoever expects a warning says so by ck_warning, and
 * whoever expects many by warnings_expected. */
static inline void warning_unexpected(const char *message, void *user)
{
    (void)user;
    ck_abort_msg("a warning that the test does not expect: %s", message);
}

/* Drops all warnings from here to the end of the test. */
static inline void warnings_expected(void)
{
    hd_on_warning(NULL, NULL);
}

/* Runs the statement and asserts how many warnings it gives, and that no call in it fails. */
#define CK_WARNINGS(statement, warnings, message)                                                  \
    do {                                                                                           \
        warnings_heard heard = {0, ""};                                                            \
        uint64_t failures = hd_error_count();                                                      \
        hd_on_warning(hear_warning, &heard);                                                       \
        statement;                                                                                 \
        hd_on_warning(warning_unexpected, NULL);                                                   \
        ck_assert_str_eq(heard.last, (message));                                                   \
        ck_assert_int_eq(heard.count, (warnings));                                                 \
        ck_assert_uint_eq(hd_error_count(), failures);                                             \
    } while (0)

/* The statement gives one warning, whose whole text this is. */
#define ck_warning(statement, message) CK_WARNINGS(statement, 1, message)
#define ck_no_warning(statement) CK_WARNINGS(statement, 0, "")

#endif
