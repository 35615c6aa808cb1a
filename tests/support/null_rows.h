/* null_rows.h - runs the rows of a null_table.h: each calls a function with NULL, or HD_NONE, for
 * one of its pointers. tests/whole/null_table.h lists the kinds of rows. The function that includes
 * the table has two variables: `error` is the error before every call, or NULL, and `bad` is the
 * wrong argument. `wrong` counts the rows that fail. */
#ifndef HEED_TESTS_NULL_ROWS_H
#define HEED_TESTS_NULL_ROWS_H

#include <stdio.h>

#include "leak_checked.h"

/* ---------------------------------------------------------------- one call */

static inline bool no_pointer(const void *p)
{
    return !p;
}

static inline bool no_truth(bool b)
{
    return !b;
}

static inline bool no_count(int64_t n)
{
    return n == -1 || n == INT64_MIN || n == 0; /* 0: a generator's output, an enumeration */
}

static inline bool no_number(double d)
{
    return isnan(d);
}

/* True if y is the value that a failed call of its type returns. */
#define gives_nothing(y)                                                                           \
    _Generic((y), bool                                                                             \
             : no_truth, double                                                                    \
             : no_number, int                                                                      \
             : no_count, unsigned                                                                  \
             : no_count, int64_t                                                                   \
             : no_count, uint64_t                                                                  \
             : no_count, default                                                                   \
             : no_pointer)(y)

static inline bool null_text(const char *text)
{
    return text && strcmp(text, "NULL") == 0;
}

/* The length of the name that a user writes for a function: hd_view for hd_view_n, and hd_cat for
 * hd_cat_list. */
static inline size_t written_length(const char *function)
{
    static const char *const ends[] = {"_n", "_list", "_checked"};
    size_t length = strlen(function);
    for (int i = 0; i < 3; i++) {
        size_t end = strlen(ends[i]);
        if (length > end && strcmp(function + length - end, ends[i]) == 0) {
            return length - end;
        }
    }
    return length;
}

/* True if the message is the function's name, as declared or as a user writes it, followed by
 * `rest`. */
static inline bool names(const char *message, const char *function, const char *rest)
{
    size_t length = strcspn(message, ":");
    bool list = strcmp(function, "hd_list_n") == 0 && strncmp(message, "hd_list_of", length) == 0;
    bool whole = strncmp(message, function, length) == 0 &&
                 (length == strlen(function) || length == written_length(function));
    return (list || whole) && strncmp(message + length, rest, strlen(rest)) == 0;
}

static inline bool names_both(const char *message, const char *function, const char *parameter,
                              const char *what)
{
    char rest[120];
    snprintf(rest, sizeof rest, ": %s is %s", parameter, what);
    return names(message, function, rest);
}

static int wrong; /* number of failing rows; all are printed before the test fails */

static inline void tell(const char *function, const char *parameter, const char *what)
{
    fprintf(stderr, "%s(%s): %s\n", function, parameter, what);
    wrong++;
}

static inline void refused(const char *function, const char *parameter, bool nothing,
                           const char *what, uint64_t failures)
{
    if (!nothing) {
        tell(function, parameter, "gives a result");
    }
    if (failures != 1) {
        tell(function, parameter, "is not counted as one failure");
    }
    if (!names_both(hd_error_message(), function, parameter, what) ||
        hd_error_code() != HD_NULL_ARG) {
        tell(function, parameter, hd_error_message());
    }
    hd_error_clear();
}

static inline void passed_over(const char *function, const char *parameter, uint64_t failures)
{
    char refusal[80];
    snprintf(refusal, sizeof refusal, ": %s is NULL", parameter);
    if (failures && strstr(hd_error_message(), refusal)) {
        tell(function, parameter, hd_error_message());
    }
    hd_error_clear();
}

static inline void none_passes(const char *function, const char *parameter, bool passes)
{
    if (!passes) {
        tell(function, parameter, "refuses HD_NONE");
    }
}

static inline void error_stands(const char *function, const char *parameter, const char *error)
{
    if (strcmp(hd_error_message(), error) != 0) {
        tell(function, parameter, hd_error_message());
    }
    hd_error_clear();
}

/* ---------------------------------------------------------------- rows */

#define BEFORE                                                                                     \
    if (error) {                                                                                   \
        hd_error_set(HD_USER, "%s", error);                                                        \
    }                                                                                              \
    uint64_t count = hd_error_count()
#define AFTER(function, parameter, check)                                                          \
    if (error) {                                                                                   \
        error_stands(#function, #parameter, error);                                                \
    } else {                                                                                       \
        check;                                                                                     \
    }
#define REFUSED_AS(is_nothing, function, parameter, call, what)                                    \
    do {                                                                                           \
        BEFORE;                                                                                    \
        bool nothing = is_nothing(call);                                                           \
        uint64_t failures = hd_error_count() - count;                                              \
        AFTER(function, parameter, refused(#function, #parameter, nothing, what, failures));       \
    } while (0);
#define REFUSED(function, parameter, call, what)                                                   \
    REFUSED_AS(gives_nothing, function, parameter, call, what)
#define POINTER(function, parameter, call) REFUSED(function, parameter, call, "NULL")
#define TENSOR(function, parameter, call)                                                          \
    bad = NULL;                                                                                    \
    REFUSED(function, parameter, call, "NULL")                                                     \
    bad = HD_NONE;                                                                                 \
    REFUSED(function, parameter, call, "HD_NONE")
#define TEXT(function, parameter, call) REFUSED_AS(null_text, function, parameter, call, "NULL")
#define TEXTS(function, parameter, call)                                                           \
    bad = NULL;                                                                                    \
    TEXT(function, parameter, call)                                                                \
    bad = HD_NONE;                                                                                 \
    REFUSED_AS(null_text, function, parameter, call, "HD_NONE")
#define NONE(function, parameter, call)                                                            \
    do {                                                                                           \
        BEFORE;                                                                                    \
        bool nothing = gives_nothing(call) || hd_error_count() != count;                           \
        AFTER(function, parameter, none_passes(#function, #parameter, !nothing));                  \
    } while (0);
#define MAYBE(function, parameter, call)                                                           \
    do {                                                                                           \
        BEFORE;                                                                                    \
        call;                                                                                      \
        uint64_t failures = hd_error_count() - count;                                              \
        AFTER(function, parameter, passed_over(#function, #parameter, failures));                  \
    } while (0);
#define SKIP(function, parameter)

/* ---------------------------------------------------------------- tests */

/* The two tests of a function `run_table(error)`, which includes a table, and their suite. */
#define NULL_SUITE                                                                                 \
    START_TEST(null_is_refused_by_name)                                                            \
    {                                                                                              \
        run_table(NULL);                                                                           \
    }                                                                                              \
    END_TEST                                                                                       \
    START_TEST(the_first_error_stands)                                                             \
    {                                                                                              \
        run_table("hd_first: it stands");                                                          \
    }                                                                                              \
    END_TEST                                                                                       \
    Suite *suite_null(void)                                                                        \
    {                                                                                              \
        const TTest *const tests[] = {null_is_refused_by_name, the_first_error_stands};            \
        return SUITE("null", tests);                                                               \
    }

#endif
