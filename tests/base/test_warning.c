/* test_warning.c - tests of the warning handler: when it is called, what a handler may do,
 * threads. */
#include "suites.h"
#include "base/error/error.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/child.h"
#include "support/comma_locale.h"
#include "support/warnings.h"

START_TEST(silent_without_a_handler)
{
    warnings_expected();
    ck_assert(!hd__error_warns());
    hd_warn("%s", "nobody hears it");
    ck_no_error();
}
END_TEST

START_TEST(every_time)
{
    warnings_heard heard = {0, ""};
    hd_on_warning(hear_warning, &heard);
    ck_assert(hd__error_warns());
    for (int i = 1; i <= 3; i++) {
        hd_warn("hd_add: %d", i);
        ck_assert_int_eq(heard.count, i);
    }
    ck_assert_str_eq(heard.last, "hd_add: 3");
    hd_on_warning(NULL, NULL);
    ck_assert(!hd__error_warns());
    hd_warn("hd_add: 4");
    ck_assert_int_eq(heard.count, 3);
}
END_TEST

START_TEST(leaves_the_error)
{
    uint64_t before = hd_error_count();
    ck_warning(hd_warn("one"), "one");
    ck_assert_uint_eq(hd_error_count(), before);
    hd_error_set(HD_SHAPE, "hd_add: it stands");
    ck_warning(hd_warn("two"), "two");
    ck_assert_uint_eq(hd_error_count(), before + 1);
    ck_error(HD_SHAPE, "hd_add: it stands");
    errno = EDOM;
    ck_warning(hd_warn("three"), "three");
    ck_assert_int_eq(errno, EDOM);
}
END_TEST

START_TEST(long_text)
{
    char text[600];
    memset(text, 'x', sizeof text);
    text[599] = '\0';
    warnings_heard heard = {0, ""};
    hd_on_warning(hear_warning, &heard);
    hd_warn("%s", text);
    hd_on_warning(NULL, NULL);
    ck_assert_uint_eq(strlen(heard.last), 511);
    ck_assert_str_eq(heard.last + 507, "x...");
}
END_TEST

START_TEST(warning_decimal_point)
{
    comma_locale();
    ck_warning(hd_warn("p = %g", 1.5), "p = 1.5");
    setlocale(LC_ALL, "C");
}
END_TEST

/* ---------------------------------------------------------------- handlers that call heed */

typedef struct nesting {
    int calls, after; /* after: what the handler that it sets counts */
} nesting;

static void warns_and_fails(const char *message, void *user)
{
    nesting *n = user;
    n->calls++;
    errno = ERANGE;
    hd_warn("inside");
    hd_error_set(HD_USER, "%s", message);
}

START_TEST(handler_may_warn_and_fail)
{
    nesting n = {0, 0};
    hd_on_warning(warns_and_fails, &n);
    errno = 0;
    hd_warn("hd_add: %s", "as an error");
    ck_assert_int_eq(errno, 0);
    ck_assert_int_eq(n.calls, 1);
    ck_error(HD_USER, "hd_add: as an error");
    hd_warn("again");
    ck_assert_int_eq(n.calls, 2);
    hd_on_warning(NULL, NULL);
    hd_error_clear();
}
END_TEST

static void count_after(const char *message, void *user)
{
    (void)message;
    ((nesting *)user)->after++;
}

static void once(const char *message, void *user)
{
    (void)message;
    ((nesting *)user)->calls++;
    hd_on_warning(count_after, user);
    hd_warn("dropped");
}

START_TEST(handler_may_set_another)
{
    nesting n = {0, 0};
    hd_on_warning(once, &n);
    hd_warn("one");
    ck_assert_int_eq(n.calls, 1);
    ck_assert_int_eq(n.after, 0);
    hd_warn("two");
    hd_on_warning(NULL, NULL);
    ck_assert_int_eq(n.calls, 1);
    ck_assert_int_eq(n.after, 1);
}
END_TEST

static void warns_from_error(hd_code code, const char *message, void *user)
{
    (void)code, (void)message, (void)user;
    hd_warn("from the handler of errors");
}

/* Each handler may lead to the other one: neither is called twice. */
START_TEST(error_handler_warns)
{
    nesting n = {0, 0};
    hd_on_error(warns_from_error, NULL);
    hd_on_warning(warns_and_fails, &n);
    hd_error_set(HD_SHAPE, "hd_add: one");
    ck_assert_int_eq(n.calls, 1);
    hd_error_clear();
    hd_warn("hd_add: two");
    ck_assert_int_eq(n.calls, 2);
    hd_on_error(NULL, NULL);
    hd_on_warning(NULL, NULL);
    hd_error_clear();
}
END_TEST

/* ---------------------------------------------------------------- threads */

typedef struct on_thread {
    pthread_t warned;
    bool own; /* the handler ran on the thread that warned, and its user was its own */
} on_thread;

static void note_thread(const char *message, void *user)
{
    on_thread *t = user;
    if (strcmp(message, "there") == 0) {
        t->own = pthread_equal(pthread_self(), t->warned) != 0;
    }
}

static void *warn_there(void *arg)
{
    on_thread *t = arg;
    t->warned = pthread_self();
    hd_warn("there");
    return NULL;
}

START_TEST(on_the_calling_thread)
{
    pthread_t thread;
    on_thread t = {pthread_self(), false};
    hd_on_warning(note_thread, &t);
    ck_assert_int_eq(pthread_create(&thread, NULL, warn_there, &t), 0);
    pthread_join(thread, NULL);
    hd_on_warning(NULL, NULL);
    ck_assert(t.own);
}
END_TEST

typedef struct paired {
    atomic_int calls, wrong;
    int which; /* the handler that belongs to it */
} paired;

static void first_handler(const char *message, void *user)
{
    (void)message;
    paired *p = user;
    atomic_fetch_add(&p->calls, 1);
    atomic_fetch_add(&p->wrong, p->which != 1);
}

static void second_handler(const char *message, void *user)
{
    (void)message;
    paired *p = user;
    atomic_fetch_add(&p->calls, 1);
    atomic_fetch_add(&p->wrong, p->which != 2);
}

static void *warn_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2000; i++) {
        hd_warn("%d", i);
    }
    return NULL;
}

/* Threads warn while the handler changes: a handler never gets the user data of the other one. */
START_TEST(changed_while_threads_warn)
{
    static paired one = {.which = 1}, two = {.which = 2};
    pthread_t threads[3];
    hd_on_warning(first_handler, &one);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, warn_often, NULL), 0);
    }
    for (int i = 0; i < 2000; i++) {
        hd_on_warning(i % 2 ? first_handler : second_handler, i % 2 ? &one : &two);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    hd_on_warning(NULL, NULL);
    ck_assert_int_eq(atomic_load(&one.calls) + atomic_load(&two.calls), 6000);
    ck_assert_int_eq(atomic_load(&one.wrong) + atomic_load(&two.wrong), 0);
}
END_TEST

static void print_warnings(void)
{
    hd_on_warning(hd_warning_print, NULL);
    printf("before\n");
    hd_warn("hd_add: %d", 1);
    hd_warn("hd_add: %d", 1); /* printed once */
    hd_warn("hd_add: %d", 2);
    hd_warn("hd_add: %d", 1);
    hd_on_warning(hd_warning_print, NULL);
    hd_warn("hd_add: %d", 1);
    hd_warning_print("x", NULL);
    hd_on_warning(hd_warning_print, NULL);
    hd_warning_print("x", NULL); /* one character, and printed again */
    hd_warning_print(NULL, NULL);
}

START_TEST(printing_handler)
{
    char printed[256];
    int status = child_prints(print_warnings, true, printed, sizeof printed);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_str_eq(printed, "before\nwarning: hd_add: 1\nwarning: hd_add: 2\n"
                              "warning: hd_add: 1\nwarning: hd_add: 1\nwarning: x\nwarning: x\n"
                              "warning: \n");
}
END_TEST

Suite *suite_warning(void)
{
    const TTest *const tests[] = {
        silent_without_a_handler, every_time,
        leaves_the_error,         long_text,
        warning_decimal_point,    handler_may_warn_and_fail,
        handler_may_set_another,  error_handler_warns,
        on_the_calling_thread,    changed_while_threads_warn,
        printing_handler,
    };
    return SUITE_OF("warning", tests);
}
