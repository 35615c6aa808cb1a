/* test_error.c - tests of errors: the thread's current error, the count of failures, the handler,
 * names and values. */
#include "suites.h"
#include "base/error/error.h"
#include "base/events.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "support/child.h"
#include "support/warnings.h"

START_TEST(first_stands)
{
    ck_assert_int_eq(hd_error_code(), HD_OK);
    ck_assert_str_eq(hd_error_message(), "");
    uint64_t before = hd_error_count();
    ck_assert_ptr_null(hd_error_set(HD_SHAPE, "first: %d", 1));
    ck_assert_ptr_null(hd_error_set(HD_INDEX, "second: %d", 2));
    ck_assert_ptr_null(hd__arg_null_arg("b"));
    ck_assert_ptr_null(hd__error_no_memory(100));
    ck_assert_uint_eq(hd_error_count(), before + 4);
    ck_error(HD_SHAPE, "first: 1");
    ck_assert_uint_eq(hd_error_count(), before + 4);
    ck_assert_str_eq(hd_error_message(), "");
    hd_error_set(HD_IO, "third");
    ck_error(HD_IO, "third");
}
END_TEST

START_TEST(ready_messages)
{
    {
        HD__CALL("hd_add");
        hd__arg_null_arg("b");
    }
    ck_error(HD_NULL_ARG, "hd_add: b is NULL");
    {
        HD__CALL("hd_zeros");
        hd__error_no_memory(123456);
    }
    ck_error(HD_MEMORY, "hd_zeros: 123456 bytes: out of memory");
    hd_error_set(HD_VALUE, NULL);
    ck_error(HD_NULL_ARG, "hd_error_set: format is NULL");
}
END_TEST

static void inner(void)
{
    HD_CALL("inner");
    hd_fail(HD_VALUE, "n is %d", 3);
}

START_TEST(calls_of_the_program)
{
    char name[200] = "outer";
    inner();
    ck_error(HD_VALUE, "inner: n is 3");
    {
        HD_CALL(name);
        strcpy(name, "a name that is copied");
        hd_fail(HD_VALUE, "no");
        ck_error(HD_VALUE, "outer: no");
        inner();
        ck_error(HD_VALUE, "outer: n is 3");
        hd_set_num_threads(0);
        ck_error(HD_VALUE, "outer: hd_set_num_threads: n is 0: expected 1 to 1024");
        hd_error_set(HD_VALUE, "as it is given");
        ck_error(HD_VALUE, "as it is given");
    }
    hd_fail(HD_VALUE, "no");
    ck_error(HD_VALUE, "no");
    hd_fail(HD_VALUE, NULL);
    ck_error(HD_NULL_ARG, "hd_fail: format is NULL");
    memset(name, 'n', sizeof name - 1);
    HD_CALL(name);
    hd_fail(HD_VALUE, "no");
    ck_assert_uint_eq(strlen(hd_error_message()), 100 + strlen(": no"));
    hd_error_clear();
}
END_TEST

START_TEST(codes)
{
    static const char *const names[] = {"OK",     "NULL_ARG", "SHAPE", "DTYPE", "INDEX",  "VALUE",
                                        "MEMORY", "GRAD",     "STATE", "IO",    "FORMAT", "USER"};
    for (int i = 0; i < 12; i++) {
        ck_assert_str_eq(hd_code_name((hd_code)i), names[i]);
    }
    ck_assert_str_eq(hd_code_name((hd_code)12), "?");
    ck_assert_str_eq(hd_code_name((hd_code)-1), "?");
    ck_assert_int_eq(HD_USER, 11);
    hd_error_set(HD_OK, "no code");
    ck_error(HD_USER, "no code");
    hd_error_set((hd_code)12, "unknown code");
    ck_error(HD_USER, "unknown code");
}
END_TEST

START_TEST(long_messages)
{
    char text[600];
    memset(text, 'x', sizeof text);
    text[599] = '\0';
    hd_error_set(HD_USER, "%s", text + 599 - 511);
    ck_assert_str_eq(hd_error_message(), text + 599 - 511);
    hd_error_clear();
    hd_error_set(HD_USER, "%s", text + 599 - 512);
    ck_assert_uint_eq(strlen(hd_error_message()), 511);
    ck_assert_str_eq(hd_error_message() + 507, "x...");
    hd_error_clear();
    for (int i = 0; i < 598; i += 2) { /* an e with an acute accent, where the text is cut */
        memcpy(text + i, "\xc3\xa9", 2);
    }
    hd_error_set(HD_USER, "-%s", text);
    ck_assert_uint_eq(strlen(hd_error_message()), 510);
    ck_assert_str_eq(hd_error_message() + 505, "\xc3\xa9...");
    hd_error_clear();
}
END_TEST

START_TEST(wrapped_message)
{
    hd_error_set(HD_IO, "inner: %d", 5);
    const char *inner = hd_error_message();
    hd_error_clear();
    hd_error_set(HD_USER, "outer: %s", inner);
    hd_error_clear();
    hd_error_set(HD_USER, "again: %s", inner);
    ck_error(HD_USER, "again: outer: inner: 5");
}
END_TEST

START_TEST(decimal_point)
{
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    for (int i = 0; i < 4 && !setlocale(LC_ALL, comma[i]); i++) {
        ;
    }
    char printed[8], expected[8];
    snprintf(expected, sizeof expected, "%g", 1.5);
    hd_error_set(HD_VALUE, "p = %g", 1.5);
    ck_error(HD_VALUE, "p = 1.5");
    snprintf(printed, sizeof printed, "%g", 1.5);
    ck_assert_str_eq(printed, expected); /* the program's own locale is as before */
    setlocale(LC_ALL, "C");
}
END_TEST

static void *fail_elsewhere(void *arg)
{
    uint64_t *count = arg;
    if (hd_error_code() == HD_OK && hd_error_count() == 0) {
        hd_error_set(HD_GRAD, "there");
    }
    *count = hd_error_count();
    return NULL;
}

START_TEST(per_thread)
{
    pthread_t t;
    uint64_t count = 0, before = hd_error_count();
    hd_error_set(HD_STATE, "here");
    ck_assert_int_eq(pthread_create(&t, NULL, fail_elsewhere, &count), 0);
    pthread_join(t, NULL);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(hd_error_count(), before + 1);
    ck_error(HD_STATE, "here");
}
END_TEST

typedef struct handled {
    int calls;
    hd_code code;
    char message[64], standing[64];
} handled;

static void handle(hd_code code, const char *message, void *user)
{
    handled *h = user;
    h->calls++;
    h->code = code;
    snprintf(h->message, sizeof h->message, "%s", message);
    snprintf(h->standing, sizeof h->standing, "%s", hd_error_message());
    hd_error_set(HD_USER, "inside the handler");
}

START_TEST(handler)
{
    handled h = {0};
    uint64_t before = hd_error_count();
    hd_on_error(handle, &h);
    hd_error_set(HD_SHAPE, "one");
    ck_assert_int_eq(h.calls, 1);
    ck_assert_int_eq(h.code, HD_SHAPE);
    ck_assert_str_eq(h.message, "one");
    ck_assert_str_eq(h.standing, "one");
    hd__arg_null_arg("a"); /* a later failure is handed over with its own message */
    ck_assert_int_eq(h.calls, 2);
    ck_assert_int_eq(h.code, HD_NULL_ARG);
    ck_assert_str_eq(h.message, "a is NULL");
    ck_assert_str_eq(h.standing, "one");
    hd_on_error(NULL, NULL);
    hd_error_set(HD_SHAPE, "three");
    ck_assert_int_eq(h.calls, 2);
    ck_assert_uint_eq(hd_error_count(), before + 5);
    ck_error(HD_SHAPE, "one");
}
END_TEST

static void fail_and_abort(void)
{
    hd_on_error(hd_error_abort, NULL);
    hd_error_set(HD_VALUE, "p = %d", 2);
}

START_TEST(abort_handler)
{
    char printed[64];
    int status = child_prints(fail_and_abort, false, printed, sizeof printed);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_str_eq(printed, "VALUE: p = 2\n");
}
END_TEST

static void print_and_abort(void)
{
    printf("step %d\n", 7);
    fail_and_abort();
}

/* What the program printed is not lost. */
START_TEST(abort_writes_stdout)
{
    char printed[64];
    int status = child_prints(print_and_abort, true, printed, sizeof printed);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_str_eq(printed, "step 7\nVALUE: p = 2\n");
}
END_TEST

static void print_and_fail(void)
{
    printf("step %d\n", 7);
    hd_on_error(hd_error_print, NULL);
    hd_error_set(HD_VALUE, "p = %d", 2);
    hd_error_set(HD_NULL_ARG, "f: x is NULL"); /* because of the first one */
    hd_error_set(HD_SHAPE, "q = %d", 3);
    hd_error_clear();
    hd_error_set(HD_NULL_ARG, "f: x is NULL");
}

/* A chain of calls prints its first failure, and the next one after a clear. */
START_TEST(print_handler)
{
    char printed[128];
    int status = child_prints(print_and_fail, true, printed, sizeof printed);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_str_eq(printed, "step 7\nVALUE: p = 2\nSHAPE: q = 3\nNULL_ARG: f: x is NULL\n");
}
END_TEST

static void tell_failure(hd_code code, const char *message, void *user)
{
    (void)user;
    fprintf(stderr, "heard %s: %s\n", hd_code_name(code), message);
}

static void tell_warning(const char *message, void *user)
{
    (void)user;
    fprintf(stderr, "heard %s\n", message);
}

/* The first failure comes before anything else of heed. */
static void fail_and_warn(void)
{
    hd_error_set(HD_VALUE, "p = %d", 2);
    hd_error_set(HD_NULL_ARG, "f: x is NULL"); /* because of the first one */
    hd_warn("w = %d", 3);
    hd_on_error(tell_failure, NULL);
    hd_on_warning(tell_warning, NULL);
    hd_error_set(HD_SHAPE, "q = %d", 4);
    hd_warn("w = %d", 5);
    hd_on_error(NULL, NULL);
    hd_on_warning(NULL, NULL);
    hd_error_set(HD_SHAPE, "q = %d", 6);
    hd_warn("w = %d", 7);
}

static void debug_fail_and_warn(void)
{
    setenv("HEED_DEBUG", "1", 1);
    fail_and_warn();
}

static void warn_and_fail_in_debug(void)
{
    setenv("HEED_DEBUG", "1", 1);
    hd_warn("w = %d", 1);
    hd_error_set(HD_VALUE, "p = %d", 2);
}

static void silent_fail_and_warn(void)
{
    setenv("HEED_DEBUG", "0", 1);
    fail_and_warn();
}

START_TEST(printed_where_there_is_no_handler)
{
    static const struct {
        void (*f)(void);
        const char *expected;
    } runs[] = {
        {debug_fail_and_warn, "VALUE: p = 2\nwarning: w = 3\nheard SHAPE: q = 4\nheard w = 5\n"
                              "SHAPE: q = 6\nwarning: w = 7\n"},
        {warn_and_fail_in_debug, "warning: w = 1\nVALUE: p = 2\n"},
        {silent_fail_and_warn, "heard SHAPE: q = 4\nheard w = 5\n"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char printed[256];
        hd_on_warning(NULL, NULL);
        int status = child_prints(runs[i].f, false, printed, sizeof printed);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        ck_assert_str_eq(printed, runs[i].expected);
    }
}
END_TEST

static const char *place_of_test(int *line)
{
    *line = 7;
    return "folder/a.c";
}

static const char *long_place(int *line)
{
    static char file[301];
    memset(file, 'f', sizeof file - 1);
    memcpy(file + 200, "/a", 2);
    *line = 7;
    return file;
}

static const char *korean_place(int *line)
{
    static char file[301];
    for (int i = 0; i < 300; i += 3) {
        memcpy(file + i, "\xED\x95\x9C", 3);
    }
    *line = 7;
    return file;
}

#define PLACE "; in the scope opened at folder/a.c:7"

START_TEST(ends_with_the_place_in_debug_mode)
{
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    hd__error_on_message(place_of_test);
    hd_error_set(HD_VALUE, "p = %d", 2);
    ck_error(HD_VALUE, "p = 2");
    atomic_fetch_or(&hd__debug, HD__DEBUG_WATCHES);
    hd_error_set(HD_VALUE, "p = %d", 2);
    ck_assert_str_eq(hd_error_message(), "p = 2" PLACE);
    snprintf(text + 500, 90, "%s", hd_error_message());
    hd_error_clear();
    hd_error_set(HD_USER, "%s", text + 500); /* passed on: told once */
    ck_error(HD_USER, "p = 2" PLACE);
    ck_warning(hd_warn("w"), "w" PLACE);
    memset(text + 500, 'x', 90);
    hd_error_set(HD_VALUE, "%s", text); /* cut before the place */
    ck_assert_uint_eq(strlen(hd_error_message()), 511);
    ck_assert_str_eq(hd_error_message() + 511 - strlen("xx..." PLACE), "xx..." PLACE);
    hd_error_clear();
    hd__error_on_message(long_place);
    hd_error_set(HD_VALUE, "p");
    ck_assert_uint_eq(strlen(hd_error_message()), 1 + strlen("; in the scope opened at :7") + 100);
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "opened at /af"));
    hd_error_clear();
    hd__error_on_message(korean_place); /* no character is cut */
    hd_error_set(HD_VALUE, "p");
    ck_assert_uint_eq(strlen(hd_error_message()), 1 + strlen("; in the scope opened at :7") + 99);
    ck_assert_ptr_nonnull(strstr(hd_error_message(), "opened at \xED\x95\x9C\xED"));
    hd_error_clear();
    atomic_fetch_and(&hd__debug, ~(unsigned int)HD__DEBUG_WATCHES);
    hd__error_on_message(NULL);
}
END_TEST

/* A format that the C library cannot print stands for itself: in the C locale there is no such
 * character. */
START_TEST(unprintable_message)
{
    hd_error_set(HD_USER, "a letter: %lc", (wint_t)0x10ffff);
    ck_error(HD_USER, "a letter: %lc");
}
END_TEST

Suite *suite_error(void)
{
    const TTest *const tests[] = {
        first_stands,
        ready_messages,
        calls_of_the_program,
        codes,
        long_messages,
        wrapped_message,
        decimal_point,
        per_thread,
        handler,
        abort_handler,
        abort_writes_stdout,
        print_handler,
        unprintable_message,
        printed_where_there_is_no_handler,
        ends_with_the_place_in_debug_mode,
    };
    return SUITE_OF("error", tests);
}
