/* error.c - the thread's error, its count of failures, and the process's handlers of errors and of
 * warnings.
 *
 * The first failure stays set until the program clears it, because it is usually the cause of the
 * failures that follow. Nothing here allocates, so running out of memory is reported like any other
 * failure.
 *
 * A warning reports a call that heed carries out although it is probably a mistake. It never
 * touches the thread's error. Without a handler it costs one load of a flag.
 *
 * With HEED_DEBUG=1, errors and warnings without a handler are printed. In debug mode every message
 * ends with the module and the scope in which it was set. */
#include "base/error/error.h"
#include "base/events.h"
#include "base/start.h"
#include "base/system/shared.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 512, PLACE_SIZE = 160 };

static HD__TLS struct {
    hd_code code;
    /* true while the error handler runs; heed counts a failure inside the handler, but does not
     * call the handler for this failure */
    bool in_handler;
    bool in_warning; /* true while the warning handler runs; a warning inside it is dropped */
    uint64_t count;
    /* failures since the last hd_error_clear; hd__error_uncleared_swap also sets it */
    uint64_t uncleared;
    char message[MESSAGE_SIZE];
} thread_error;

typedef struct handlers {
    hd_error_handler error;
    hd_warning_handler warning;
    void *error_user, *warning_user;
} handlers;

pthread_mutex_t hd__error_handlers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    /* protected by hd__error_handlers_lock, so that a handler is read together with its user */
    handlers now;
    /* the text that hd_warning_print printed last; "" if none since the last hd_on_warning */
    char printed[MESSAGE_SIZE];
} process;

static _Atomic(const char *(*)(int *)) scope_place;

static const char *const code_names[] = {
    "OK",     "NULL_ARG", "SHAPE", "DTYPE", "INDEX",  "VALUE",
    "MEMORY", "GRAD",     "STATE", "IO",    "FORMAT", "USER",
};

enum { ERROR_CODES = sizeof code_names / sizeof code_names[0] };

/* Marks a text that was cut off to fit into `size` bytes: replaces its last characters by "...".
 * Does not cut a UTF-8 character. */
static void mark_cut(char *text, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) {
        end--;
    }
    memcpy(text + end, "...", 4);
}

/* Writes the formatted message after the first `begin` bytes of text, with a decimal point in every
 * locale. A message that is too long ends in "...". */
static void format_from(int begin, char text[MESSAGE_SIZE], const char *format, va_list args)
{
    void *before = hd__sys_locale_enter();
    int length = vsnprintf(text + begin, (size_t)(MESSAGE_SIZE - begin), format, args);
    hd__sys_locale_leave(before);
    if (length < 0) {
        snprintf(text + begin, (size_t)(MESSAGE_SIZE - begin), "%s", format);
    } else if (begin + length >= MESSAGE_SIZE) {
        mark_cut(text, MESSAGE_SIZE);
    }
}

/* Writes the names of the call, such as "hd_add: ", and then the formatted message. */
static void message_of_call(char text[MESSAGE_SIZE], const char *format, va_list args)
{
    format_from(hd__call_write(text, MESSAGE_SIZE), text, format, args);
}

void hd__error_on_message(const char *(*f)(int *line))
{
    atomic_store(&scope_place, f);
}

const char *hd__error_tail(const char *text, size_t most)
{
    size_t length = strlen(text), from = length > most ? length - most : 0;
    for (; ((unsigned char)text[from] & 0xC0) == 0x80; from++) {
    }
    return text + from;
}

/* In debug mode, adds to the message `module`, unless it is NULL, and the file and line of the
 * program's innermost scope. Does nothing if the message names a scope already, because a handler
 * may pass an old message to hd_error_set. */
static void add_place(char text[MESSAGE_SIZE], const char *module)
{
    static const char words[] = "; in the scope opened at ";
    if (!hd__event_watching() || strstr(text, words)) {
        return;
    }
    int line = 0;
    const char *(*f)(int *) = atomic_load(&scope_place), *file = f ? f(&line) : NULL;
    char place[PLACE_SIZE] = "";
    if (file) {
        snprintf(place, sizeof place, "%s%s:%d", words, hd__error_tail(file, 100), line);
    }
    size_t n = strlen(text), size = MESSAGE_SIZE - strlen(place);
    if (module) {
        n += (size_t)snprintf(text + n, MESSAGE_SIZE - n, "; in %s", module);
    }
    if (n >= size) {
        mark_cut(text, size);
    }
    strcat(text, place);
}

static handlers handlers_now(void)
{
    HD__LOCKED(hd__error_handlers_lock);
    handlers now = process.now;
    if (hd__debug_any() & HD__DEBUG_PRINTS) {
        now.error = now.error ? now.error : hd_error_print;
        now.warning = now.warning ? now.warning : hd_warning_print;
    }
    return now;
}

static void call_handler(hd_code code, const char *text)
{
    handlers now = handlers_now();
    if (!now.error || thread_error.in_handler) {
        return;
    }
    HD__CALLS_BACK;
    thread_error.in_handler = true;
    now.error(code, text, now.error_user);
    thread_error.in_handler = false;
}

/* Formats the text before it replaces the old message, because the arguments may point into that
 * message. */
void *hd_error_set(hd_code code, const char *format, ...)
{
    HD__CALL("hd_error_set");
    if (!format) {
        return hd__arg_null_arg("format");
    }
    if ((int)code <= HD_OK || (int)code >= ERROR_CODES) {
        code = HD_USER;
    }
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    format_from(0, text, format, args);
    va_end(args);
    hd__start();
    add_place(text, hd__debug_module);
    thread_error.count++;
    thread_error.uncleared++;
    if (thread_error.code == HD_OK) {
        thread_error.code = code;
        memcpy(thread_error.message, text, strlen(text) + 1);
    }
    call_handler(code, text);
    return NULL;
}

void *hd_fail(hd_code code, const char *format, ...)
{
    if (!format) {
        HD__CALL("hd_fail");
        return hd__arg_null_arg("format");
    }
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    message_of_call(text, format, args);
    va_end(args);
    return hd_error_set(code, "%s", text); /* a breakpoint on hd_error_set sees every failure */
}

void (*_Atomic hd__null_note)(char text[HD__NOTE]);

void *hd__error_null_arg_or(const char *arg, const char *expected)
{
    char text[HD__NOTE] = "";
    void (*note)(char text[HD__NOTE]) = hd__null_note;
    if (note && thread_error.code == HD_OK) {
        note(text);
    }
    return hd_fail(HD_NULL_ARG, "%s is NULL%s%s", arg, expected, text);
}

void *hd__error_no_memory(size_t bytes)
{
    char text[HD__NOTE] = "";
    if (hd__events) {
        hd__events->memory_ran_out(text);
    }
    return hd_fail(HD_MEMORY, "%zu bytes: out of memory%s", bytes, text);
}

hd_code hd_error_code(void)
{
    return thread_error.code;
}

const char *hd_error_message(void)
{
    return thread_error.code == HD_OK ? "" : thread_error.message;
}

void hd_error_clear(void)
{
    thread_error.code = HD_OK;
    thread_error.uncleared = 0;
}

uint64_t hd__error_uncleared_swap(uint64_t n)
{
    uint64_t before = thread_error.uncleared;
    thread_error.uncleared = n;
    return before;
}

uint64_t hd_error_count(void)
{
    return thread_error.count;
}

const char *hd_code_name(hd_code c)
{
    return (int)c >= 0 && (int)c < ERROR_CODES ? code_names[c] : "?";
}

void hd_on_error(hd_error_handler handler, void *user)
{
    HD__LOCKED(hd__error_handlers_lock);
    process.now.error = handler;
    process.now.error_user = user;
}

static void print_failure(hd_code code, const char *message)
{
    fflush(stdout); /* keeps stdout and stderr in order; abort does not flush stdout */
    fprintf(stderr, "%s: %s\n", hd_code_name(code), message ? message : "");
}

void hd_error_abort(hd_code code, const char *message, void *user)
{
    (void)user;
    print_failure(code, message);
    abort();
}

void hd_error_print(hd_code code, const char *message, void *user)
{
    (void)user;
    bool follows = code == HD_NULL_ARG && thread_error.code != HD_OK &&
                   (!message || strcmp(message, thread_error.message) != 0);
    if (!follows) {
        print_failure(code, message);
    }
}

#ifdef HD__ASSERT
void hd__assert_failed(const char *file, int line, const char *function, const char *x)
{
    fprintf(stderr, "%s:%d: %s: does not hold: %s\n", file, line, function, x);
    abort();
}
#endif

/* ---------------------------------------------------------------- warnings */

void hd_warn(const char *format, ...)
{
    hd__start();
    handlers now = hd__error_warns() && !thread_error.in_warning ? handlers_now() : (handlers){0};
    if (!now.warning) {
        return;
    }
    int cause = errno;
    char text[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    message_of_call(text, format, args);
    va_end(args);
    add_place(text, NULL);
    HD__CALLS_BACK;
    thread_error.in_warning = true;
    now.warning(text, now.warning_user);
    thread_error.in_warning = false;
    errno = cause;
}

void hd_on_warning(hd_warning_handler handler, void *user)
{
    HD__LOCKED(hd__error_handlers_lock);
    process.now.warning = handler;
    process.now.warning_user = user;
    process.printed[0] = '\0';
    atomic_store_explicit(&hd__error_warning_on, handler || hd__debug_any() & HD__DEBUG_PRINTS,
                          memory_order_relaxed);
}

bool hd__error_first(atomic_uint_least64_t *told, uintptr_t cause)
{
    const uint64_t bit = UINT64_C(1) << (cause * UINT64_C(0x9E3779B97F4A7C15) >> 58);
    return !(atomic_fetch_or(told, bit) & bit);
}

static bool is_repeated(const char *message)
{
    HD__LOCKED(hd__error_handlers_lock);
    bool same = *message && strcmp(message, process.printed) == 0;
    if (!same) {
        snprintf(process.printed, MESSAGE_SIZE, "%s", message);
    }
    return same;
}

void hd_warning_print(const char *message, void *user)
{
    (void)user;
    message = message ? message : "";
    if (!is_repeated(message)) {
        fflush(stdout); /* keeps stdout and stderr in order */
        fprintf(stderr, "warning: %s\n", message);
    }
}
