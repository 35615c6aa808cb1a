/* warning.c - the process's handler of warnings.
 *
 * A warning tells of a call that is probably a mistake and that heed does as it was told. It never
 * touches the thread's error, and without a handler it costs one load of a flag. */
#include "base/parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static HD__TLS bool in_handler; /* a warning of what the handler itself calls is not passed to it */

static struct {
    pthread_mutex_t lock;
    hd_warning_handler handler;
    void *user;
    char printed[HD__MESSAGE_SIZE]; /* what hd_warning_print printed last for this handler */
} process_warning = {.lock = PTHREAD_MUTEX_INITIALIZER};

atomic_bool hd__warning_on;

static void warn_handler(const char *text)
{
    pthread_mutex_lock(&process_warning.lock);
    hd_warning_handler handler = process_warning.handler;
    void *user = process_warning.user;
    pthread_mutex_unlock(&process_warning.lock);
    if (!handler) {
        return;
    }
    in_handler = true;
    handler(text, user);
    in_handler = false;
}

void hd__warn(const char *format, ...)
{
    if (!hd__warns() || in_handler) {
        return;
    }
    int kept = errno;
    char text[HD__MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    warn_handler(hd__message_format(text, format, args));
    va_end(args);
    errno = kept;
}

void hd_on_warning(hd_warning_handler handler, void *user)
{
    pthread_mutex_lock(&process_warning.lock);
    process_warning.handler = handler;
    process_warning.user = user;
    process_warning.printed[0] = '\0';
    atomic_store_explicit(&hd__warning_on, handler != 0, memory_order_relaxed);
    pthread_mutex_unlock(&process_warning.lock);
}

void hd__warning_fork_prepare(void)
{
    pthread_mutex_lock(&process_warning.lock);
}

void hd__warning_fork_done(void)
{
    pthread_mutex_unlock(&process_warning.lock);
}

static bool is_repeated(const char *message)
{
    pthread_mutex_lock(&process_warning.lock);
    bool same = *message && strcmp(message, process_warning.printed) == 0;
    if (!same) {
        snprintf(process_warning.printed, HD__MESSAGE_SIZE, "%s", message);
    }
    pthread_mutex_unlock(&process_warning.lock);
    return same;
}

void hd_warning_print(const char *message, void *user)
{
    (void)user;
    message = message ? message : "";
    if (!is_repeated(message)) {
        fflush(stdout); /* so that the lines are in order */
        fprintf(stderr, "warning: %s\n", message);
    }
}
