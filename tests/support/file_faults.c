/* file_faults.c - counts the calls that file_calls.c replaces, and fails one of them
 * (file_faults.h). Linux only.
 *
 * HEED_FILE_FAULT in the environment injects the fault into any program:
 *   HEED_FILE_FAULT=none            only counts
 *   HEED_FILE_FAULT=17:EIO          the 18th call fails once
 *   HEED_FILE_FAULT=17:EIO:kind     it and all later ones of its kind fail
 *   HEED_FILE_FAULT=17:EIO:all      it and all later ones fail
 *   HEED_FILE_FAULT=17:short        it does 1 byte
 *   HEED_FILE_FAULT=17:kill         the process is killed before it
 * HEED_FILE_REPORT names a file for the report: "N calls", "HITS failed: CALL". */
#include "support/file_faults_internal.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

file_faults stand_in = {.at = NEVER, .second = NEVER, .fails_at = NEVER, .dies_at = NEVER};

static const char *const call_names[] = {"open",  "read",   "write",  "sync",  "close",    "stat",
                                         "mkdir", "rename", "unlink", "map",   "truncate", "lock",
                                         "mode",  "list",   "link",   "access"};

const char *call_name(call_kind kind)
{
    return call_names[kind];
}

/* ---------------------------------------------------------------- counting and failing */

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

static void report(void);

bool fault_part(call_kind kind, const char *call, size_t *part)
{
    if (!stand_in.on) {
        return false;
    }
    long n = stand_in.n++;
    stand_in.counts[kind]++;
    bool then_on = stand_in.hits > 0 && (stand_in.how == FAULT_ALL ||
                                         (stand_in.how == FAULT_KIND && kind == stand_in.kind));
    then_on = then_on || (stand_in.hits > 0 && n == stand_in.second);
    if (stand_in.at == NEVER || (n != stand_in.at && !then_on)) {
        return false;
    }
    if (stand_in.how == FAULT_KILL) {
        die();
    }
    if (stand_in.how == FAULT_SHORT && (!part || *part < 2)) {
        return false;
    }
    if (stand_in.hits++ == 0) {
        stand_in.kind = kind;
        snprintf(stand_in.call, sizeof stand_in.call, "%s", call);
        report();
    }
    stand_in.cleaning = stand_in.cleaning || kind == CALL_UNLINK;
    if (stand_in.how == FAULT_SHORT) {
        *part = 1;
        return false;
    }
    errno = stand_in.cause;
    return true;
}

bool fault(call_kind kind, const char *call)
{
    return fault_part(kind, call, NULL);
}

void faults_begin(long at, int cause, fault_way how)
{
    memset(stand_in.counts, 0, sizeof stand_in.counts);
    durable_begin();
    stand_in.n = stand_in.hits = 0;
    stand_in.at = at;
    stand_in.cause = cause;
    stand_in.how = how;
    stand_in.written = stand_in.cleaning = false;
    stand_in.call[0] = stand_in.unsafe[0] = '\0';
    stand_in.on = true;
}

void faults_end(void)
{
    stand_in.on = false;
    stand_in.second = NEVER;
}

void changes_something(void)
{
    if (stand_in.dies_at != NEVER && stand_in.dies_at-- == 0) {
        die();
    }
}

bool event(char kind, ino_t inode)
{
    changes_something();
    if (stand_in.n_events == MOST) { /* a test that does not count events */
        return false;
    }
    stand_in.events[stand_in.n_events] = kind;
    stand_in.synced[stand_in.n_events] = inode;
    errno = stand_in.event_cause ? stand_in.event_cause : EIO;
    return stand_in.n_events++ == stand_in.fails_at;
}

void watch(int fail)
{
    memset(stand_in.events, 0, sizeof stand_in.events);
    stand_in.n_events = 0;
    stand_in.fails_at = fail;
}

ino_t inode_of(const char *path)
{
    struct stat st;
    return real_stat(AT_FDCWD, path, 0, &st) ? st.st_ino : 0;
}

bool interrupted(size_t *n)
{
    *n = stand_in.halting && *n > 7 ? 7 : *n;
    errno = EINTR;
    return stand_in.halting && stand_in.halting++ % 2;
}

/* ---------------------------------------------------------------- programs */

static int report_fd = -1;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (report_fd >= 0 && n > 0) {
        REAL(ssize_t, "write", int, const void *, size_t);
        if (real(report_fd, text, (size_t)n) != n) {
            abort();
        }
    }
}

static void report(void)
{
    int before = errno;
    say("failed: %ld %s\n", stand_in.at, stand_in.call);
    errno = before;
}

void faults_mark(void)
{
    REAL(int, "access", const char *, int);
    char text[512] = "/heed-faults/";
    size_t at = strlen(text);
    for (int i = 0; i < CALL_KINDS; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s=%ld,", call_names[i],
                               stand_in.counts[i]);
    }
    real(text, F_OK);
}

static int errno_of(const char *name)
{
    static const struct {
        const char *name;
        int cause;
    } causes[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
                  {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"EROFS", EROFS}};
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (strcmp(causes[i].name, name) == 0) {
            return causes[i].cause;
        }
    }
    fprintf(stderr, "file_faults: HEED_FILE_FAULT: '%s': unknown\n", name);
    abort();
}

__attribute__((constructor)) static void begin_by_environment(void)
{
    const char *asked = getenv("HEED_FILE_FAULT"), *path = getenv("HEED_FILE_REPORT");
    char name[16] = "", more[16] = "";
    long at = NEVER;
    if (!asked) {
        return;
    }
    if (path) {
        REAL(int, WIDE("open"), const char *, int, ...);
        report_fd = real(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    if (strcmp(asked, "none") == 0) {
        faults_begin(NEVER, 0, FAULT_ONCE);
    } else {
        sscanf(asked, "%ld:%15[^:]:%15s", &at, name, more);
        fault_way how = strcmp(name, "short") == 0  ? FAULT_SHORT
                        : strcmp(name, "kill") == 0 ? FAULT_KILL
                        : strcmp(more, "kind") == 0 ? FAULT_KIND
                        : strcmp(more, "all") == 0  ? FAULT_ALL
                                                    : FAULT_ONCE;
        faults_begin(at, how == FAULT_SHORT || how == FAULT_KILL ? 0 : errno_of(name), how);
    }
#ifdef __GLIBC__ /* elsewhere they cannot be replaced, and what a program prints does not fail */
    stdout = stream_new(STDOUT_FILENO, "w");
    stderr = stream_new(STDERR_FILENO, "w");
    setvbuf(stderr, NULL, _IONBF, 0);
#endif
    faults_mark();
}

__attribute__((destructor)) static void end_by_environment(void)
{
    if (getenv("HEED_FILE_FAULT")) {
        fflush(stdout);
        faults_mark();
        say("%ld calls\n", stand_in.n);
    }
}

#endif
