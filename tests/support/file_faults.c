/* file_faults.c - functions that stand in for the system's (file_faults.h). Linux only.
 *
 * Files of stdio are made of these functions too (fopencookie), because the C library's own stdio
 * calls the system past them. opendir and closedir are counted as the open and the close that they
 * are.
 *
 * With HEED_FILE_FAULT in the environment a program meets the fault without knowing of it:
 *   HEED_FILE_FAULT=none            only counts
 *   HEED_FILE_FAULT=17:EIO          the 18th call fails once
 *   HEED_FILE_FAULT=17:EIO:kind     it and all later ones of its kind fail
 *   HEED_FILE_FAULT=17:EIO:all      it and all later ones fail
 *   HEED_FILE_FAULT=17:short        it does 1 byte
 *   HEED_FILE_FAULT=17:kill         the process is killed before it
 * HEED_FILE_REPORT names a file for what happened: "N calls", "HITS failed: CALL". */
#define _GNU_SOURCE

#include "support/file_faults.h"

#ifdef __linux__

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

SEEN file_faults stand_in = {.at = NEVER, .fails_at = NEVER, .dies_at = NEVER};

/* Meson asks for files of 64 bits everywhere; with glibc these calls have names of their own. */
#ifdef __GLIBC__
#define WIDE(name) name "64"
#else
#define WIDE(name) name
#endif

/* The function that this one stands in for. */
#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (!real) {                                                                                   \
        *(void **)&real = dlsym(RTLD_NEXT, name);                                                  \
    }

static const char *const call_names[] = {"open",  "read",   "write",  "sync",  "close",    "stat",
                                         "mkdir", "rename", "unlink", "map",   "truncate", "lock",
                                         "mode",  "list",   "link",   "access"};

const char *call_name(call_kind kind)
{
    return call_names[kind];
}

/* ---------------------------------------------------------------- what is durable */

/* Files that were written to, and directories in which a name was made, since they were synced. */
enum { DIRTY = 64, FILES = 1024 };

static struct {
    dev_t device;
    ino_t inode;
    bool directory;
} dirty[DIRTY];
static int n_dirty;
static bool written[FILES]; /* by file descriptor */

static void stain(const struct stat *st, bool directory)
{
    for (int i = 0; i < n_dirty; i++) {
        if (dirty[i].inode == st->st_ino && dirty[i].device == st->st_dev) {
            return;
        }
    }
    if (n_dirty < DIRTY) {
        dirty[n_dirty].device = st->st_dev;
        dirty[n_dirty].inode = st->st_ino;
        dirty[n_dirty++].directory = directory;
    }
}

static void clean(const struct stat *st)
{
    for (int i = 0; i < n_dirty; i++) {
        if (dirty[i].inode == st->st_ino && dirty[i].device == st->st_dev) {
            dirty[i] = dirty[--n_dirty];
            return;
        }
    }
}

static bool real_stat(int at, const char *path, int flags, struct stat *st)
{
    REAL(int, WIDE("fstatat"), int, const char *, struct stat *, int);
    int before = errno;
    bool ok = real(at, path, st, flags) == 0;
    errno = before;
    return ok;
}

static bool real_fstat(int fd, struct stat *st)
{
    return real_stat(fd, "", AT_EMPTY_PATH, st);
}

/* A name is made or changed in the directory that path lies in. */
static void stain_parent(int at, const char *path)
{
    char parent[4096];
    struct stat st;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    snprintf(parent, sizeof parent, "%.*s", n ? (int)n : 1, n ? path : ".");
    if (real_stat(at, parent, 0, &st)) {
        stain(&st, true);
    }
}

/* A file or a directory is about to get its final name: everything in it must be synced. */
static void check_synced(const char *call, int at, const char *path)
{
    struct stat st;
    if (!stand_in.on || stand_in.unsafe[0] || !real_stat(at, path, AT_SYMLINK_NOFOLLOW, &st)) {
        return;
    }
    for (int i = 0; i < n_dirty; i++) {
        if (!dirty[i].directory || dirty[i].inode == st.st_ino) {
            snprintf(stand_in.unsafe, sizeof stand_in.unsafe, "%s of '%.60s' before %s was synced",
                     call, path,
                     dirty[i].directory ? "the names in it" : "a file that was written");
        }
    }
}

static bool still_there(int i)
{
    /* A directory that was removed needs no sync; it is looked for among the ones below. */
    struct stat st;
    char path[64];
    bool found = real_stat(AT_FDCWD, ".", 0, &st) && st.st_ino == dirty[i].inode;
    REAL(DIR *, "opendir", const char *);
    DIR *here = found ? NULL : real(".");
    struct dirent *(*next)(DIR *);
    int (*end)(DIR *);
    *(void **)&next = dlsym(RTLD_NEXT, WIDE("readdir"));
    *(void **)&end = dlsym(RTLD_NEXT, "closedir");
    for (struct dirent *e; here && !found && (e = next(here));) {
        snprintf(path, sizeof path, "%.60s", e->d_name);
        found = strcmp(e->d_name, "..") != 0 && real_stat(AT_FDCWD, path, 0, &st) &&
                st.st_ino == dirty[i].inode;
    }
    if (here) {
        end(here);
    }
    return found;
}

const char *faults_unsafe(void)
{
    for (int i = 0; i < n_dirty && !stand_in.unsafe[0]; i++) {
        if (still_there(i)) {
            snprintf(stand_in.unsafe, sizeof stand_in.unsafe, "%s is not synced at the end",
                     dirty[i].directory ? "a directory with a new name in it" : "a written file");
        }
    }
    return stand_in.unsafe;
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

/* Notes a call; returns whether it fails, with errno set. *part: it may do 1 byte only. */
static bool fault_part(call_kind kind, const char *call, size_t *part)
{
    if (!stand_in.on) {
        return false;
    }
    long n = stand_in.n++;
    stand_in.counts[kind]++;
    bool then_on = stand_in.hits > 0 && (stand_in.how == FAULT_ALL ||
                                         (stand_in.how == FAULT_KIND && kind == stand_in.kind));
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

static bool fault(call_kind kind, const char *call)
{
    return fault_part(kind, call, NULL);
}

void faults_begin(long at, int cause, fault_way how)
{
    memset(stand_in.counts, 0, sizeof stand_in.counts);
    memset(written, 0, sizeof written);
    n_dirty = 0;
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
}

/* The process dies before the call that would change something. */
static void changes_something(void)
{
    if (stand_in.dies_at != NEVER && stand_in.dies_at-- == 0) {
        die();
    }
}

/* Returns whether the event is the one that fails. */
static bool event(char kind, ino_t inode)
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

static bool interrupted(size_t *n)
{
    *n = stand_in.halting && *n > 7 ? 7 : *n;
    errno = EINTR;
    return stand_in.halting && stand_in.halting++ % 2;
}

/* ---------------------------------------------------------------- opening and closing */

static mode_t mode_of_open(int flags, va_list list)
{
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(list, int) : 0;
}

static int open_file(int at, const char *path, int flags, mode_t mode)
{
    REAL(int, WIDE("openat"), int, const char *, int, ...);
    if (flags & O_CREAT) {
        changes_something();
    }
    if (fault(CALL_OPEN, "open")) {
        return -1;
    }
    int fd = real(at, path, flags, mode);
    if (fd >= 0 && flags & O_CREAT && stand_in.on) {
        stain_parent(at, path);
    }
    if (fd >= 0 && fd < FILES) {
        written[fd] = false;
    }
    return fd;
}

SEEN int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of_open(flags, list);
    va_end(list);
    return open_file(AT_FDCWD, path, flags, mode);
}

SEEN int openat(int at, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of_open(flags, list);
    va_end(list);
    return open_file(at, path, flags, mode);
}

/* Whether the close fails. The file is closed in any case, as Linux does it. */
static bool close_fails(int fd)
{
    bool of_written = fd >= 0 && fd < FILES && written[fd];
    bool fails = fault(CALL_CLOSE, "close");
    if (fails && stand_in.hits == 1) {
        stand_in.written = of_written;
    }
    return fails;
}

SEEN int close(int fd)
{
    REAL(int, "close", int);
    bool fails = close_fails(fd);
    int cause = errno, done = real(fd);
    if (done != 0 && stand_in.on && !stand_in.unsafe[0]) {
        snprintf(stand_in.unsafe, sizeof stand_in.unsafe, "close of a file that is not open");
    }
    if (fails) {
        errno = cause;
    }
    return fails ? -1 : done;
}

/* ---------------------------------------------------------------- bytes */

SEEN ssize_t read(int fd, void *bytes, size_t n)
{
    REAL(ssize_t, "read", int, void *, size_t);
    return fault_part(CALL_READ, "read", &n) ? -1 : real(fd, bytes, n);
}

SEEN ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    REAL(ssize_t, WIDE("pread"), int, void *, size_t, off_t);
    return interrupted(&n) || fault_part(CALL_READ, "pread", &n) ? -1 : real(fd, bytes, n, at);
}

SEEN ssize_t write(int fd, const void *bytes, size_t n)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    struct stat st;
    changes_something();
    if (interrupted(&n) || fault_part(CALL_WRITE, "write", &n)) {
        return -1;
    }
    if (stand_in.on && real_fstat(fd, &st) && S_ISREG(st.st_mode)) {
        stain(&st, false);
        written[fd < FILES ? fd : 0] = true;
    }
    return real(fd, bytes, n);
}

SEEN int fsync(int fd)
{
    REAL(int, "fsync", int);
    struct stat st; /* this also runs outside tests: in roundtrip.c */
    if (!real_fstat(fd, &st)) {
        errno = EBADF;
        return -1;
    }
    if (stand_in.appears && S_ISDIR(st.st_mode)) {
        syscall(SYS_mkdirat, AT_FDCWD, stand_in.appears, 0777);
    }
    if (event(S_ISDIR(st.st_mode) ? 'D' : 'F', st.st_ino) || fault(CALL_SYNC, "fsync")) {
        return -1;
    }
    int done = real(fd);
    if (done == 0) {
        clean(&st);
    }
    return done;
}

SEEN int ftruncate(int fd, off_t size)
{
    REAL(int, WIDE("ftruncate"), int, off_t);
    struct stat st;
    changes_something();
    if (fault(CALL_TRUNCATE, "ftruncate")) {
        return -1;
    }
    if (stand_in.on && real_fstat(fd, &st)) {
        stain(&st, false);
    }
    return real(fd, size);
}

SEEN void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
    REAL(void *, WIDE("mmap"), void *, size_t, int, int, int, off_t);
    if (fd >= 0 && !(flags & MAP_ANONYMOUS) && fault(CALL_MAP, "mmap")) {
        return MAP_FAILED;
    }
    return real(p, n, protection, flags, fd, at);
}

SEEN int flock(int fd, int operation)
{
    REAL(int, "flock", int, int);
    return fault(CALL_LOCK, "flock") ? -1 : real(fd, operation);
}

/* ---------------------------------------------------------------- names */

#define STAT(name, ...)                                                                            \
    if (fault(CALL_STAT, name)) {                                                                  \
        return -1;                                                                                 \
    }                                                                                              \
    REAL(int, WIDE(name), __VA_ARGS__)

SEEN int stat(const char *restrict path, struct stat *restrict st)
{
    STAT("stat", const char *, struct stat *);
    return real(path, st);
}

SEEN int lstat(const char *restrict path, struct stat *restrict st)
{
    STAT("lstat", const char *, struct stat *);
    return real(path, st);
}

SEEN int fstat(int fd, struct stat *st)
{
    STAT("fstat", int, struct stat *);
    return real(fd, st);
}

SEEN int fstatat(int at, const char *restrict path, struct stat *restrict st, int flags)
{
    STAT("fstatat", int, const char *, struct stat *, int);
    return real(at, path, st, flags);
}

SEEN int access(const char *path, int mode)
{
    REAL(int, "access", const char *, int);
    return fault(CALL_ACCESS, "access") ? -1 : real(path, mode);
}

SEEN int fchmodat(int at, const char *path, mode_t mode, int flags)
{
    REAL(int, "fchmodat", int, const char *, mode_t, int);
    return fault(CALL_MODE, "fchmodat") ? -1 : real(at, path, mode, flags);
}

SEEN int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    changes_something();
    if (fault(CALL_MKDIR, "mkdir")) {
        return -1;
    }
    int done = real(path, mode);
    if (done == 0 && stand_in.on) {
        stain_parent(AT_FDCWD, path);
    }
    return done;
}

static int change_name(const char *call, int old_at, const char *old, int new_at, const char *new)
{
    REAL(int, "renameat", int, const char *, int, const char *);
    if (event('R', 0) || fault(CALL_RENAME, call)) {
        return -1;
    }
    check_synced(call, old_at, old);
    int done = real(old_at, old, new_at, new);
    if (done == 0 && stand_in.on) {
        stain_parent(new_at, new);
    }
    return done;
}

SEEN int renameat(int old_at, const char *old, int new_at, const char *new)
{
    return change_name("renameat", old_at, old, new_at, new);
}

SEEN int rename(const char *old, const char *new)
{
    if (stand_in.arrives) {
        const char *first = stand_in.arrives;
        stand_in.arrives = NULL;
        syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, new, 0);
    }
    return change_name("rename", AT_FDCWD, old, AT_FDCWD, new);
}

/* An exchange of two names is the one call that heed makes by number. */
SEEN long syscall(long number, ...)
{
    REAL(long, "syscall", long, ...);
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    bool exchange = number == SYS_renameat2 && a[4] != 0;
    if (exchange) {
        if (event('X', 0) || fault(CALL_RENAME, "renameat2")) {
            return -1;
        }
        check_synced("renameat2", AT_FDCWD, (const char *)a[1]);
    }
    long done = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (exchange && done == 0) {
        if (stand_in.on) {
            stain_parent(AT_FDCWD, (const char *)a[3]);
        }
        if (stand_in.exchanged) {
            stand_in.exchanged((const char *)a[1]);
        }
    }
    return done;
}

static int remove_name(const char *call, int at, const char *path, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    changes_something();
    if (fault(CALL_UNLINK, call)) {
        return -1;
    }
    return real(at, path, flags);
}

SEEN int unlinkat(int at, const char *path, int flags)
{
    if (stand_in.keeps) {
        changes_something();
        errno = EACCES;
        return -1;
    }
    return remove_name("unlinkat", at, path, flags);
}

SEEN int unlink(const char *path)
{
    return remove_name("unlink", AT_FDCWD, path, 0);
}

SEEN int rmdir(const char *path)
{
    return remove_name("rmdir", AT_FDCWD, path, AT_REMOVEDIR);
}

SEEN int remove(const char *path)
{
    int done = unlink(path);
    return done != 0 && errno == EISDIR ? rmdir(path) : done;
}

SEEN int symlink(const char *target, const char *path)
{
    REAL(int, "symlink", const char *, const char *);
    changes_something();
    return fault(CALL_LINK, "symlink") ? -1 : real(target, path);
}

/* ---------------------------------------------------------------- directories */

SEEN DIR *fdopendir(int fd)
{
    REAL(DIR *, "fdopendir", int);
    return fault(CALL_LIST, "fdopendir") ? NULL : real(fd);
}

SEEN DIR *opendir(const char *path)
{
    REAL(DIR *, "opendir", const char *);
    return fault(CALL_OPEN, "opendir") ? NULL : real(path);
}

SEEN struct dirent *readdir(DIR *dir)
{
    REAL(struct dirent *, WIDE("readdir"), DIR *);
    return fault(CALL_LIST, "readdir") ? NULL : real(dir);
}

SEEN int closedir(DIR *dir)
{
    REAL(int, "closedir", DIR *);
    bool fails = close_fails(-1);
    int cause = errno, done = real(dir);
    if (fails) {
        errno = cause;
    }
    return fails ? -1 : done;
}

static bool list_add(struct dirent ***list, int *n, const struct dirent *e)
{
    struct dirent **more = realloc(*list, ((size_t)*n + 1) * sizeof *more);
    struct dirent *copy = more ? malloc(sizeof *copy) : NULL;
    *list = more ? more : *list;
    if (copy) {
        memcpy(copy, e, e->d_reclen < sizeof *copy ? e->d_reclen : sizeof *copy);
        (*list)[(*n)++] = copy;
    }
    return copy;
}

SEEN int scandir(const char *path, struct dirent ***list, int (*keep)(const struct dirent *),
                 int (*order)(const struct dirent **, const struct dirent **))
{
    DIR *dir = opendir(path);
    int n = 0, cause = 0;
    *list = NULL;
    for (struct dirent *e; dir && (errno = 0, e = readdir(dir));) {
        if (!keep || keep(e)) {
            list_add(list, &n, e);
        }
    }
    cause = errno;
    if (dir) {
        closedir(dir);
    }
    if (!dir || cause != 0) {
        while (n > 0) {
            free((*list)[--n]);
        }
        free(*list);
        errno = cause;
        return -1;
    }
    if (order && n > 1) {
        qsort(*list, (size_t)n, sizeof **list, (int (*)(const void *, const void *))order);
    }
    return n;
}

/* ---------------------------------------------------------------- stdio */

enum { STREAMS = 64 };

static struct {
    FILE *file;
    int fd;
} streams[STREAMS];

static ssize_t stream_read(void *at, char *bytes, size_t n)
{
    return read(streams[(size_t)at].fd, bytes, n);
}

/* Writes all, as the C library does it. */
static ssize_t stream_write(void *at, const char *bytes, size_t n)
{
    size_t done = 0;
    for (ssize_t put = 0; put >= 0 && done<n; done += put> 0 ? (size_t)put : 0) {
        put = write(streams[(size_t)at].fd, bytes + done, n - done);
    }
    return (ssize_t)done;
}

static int stream_seek(void *at, off64_t *to, int from)
{
    off_t place = lseek(streams[(size_t)at].fd, *to, from);
    *to = place < 0 ? *to : place;
    return place < 0 ? -1 : 0;
}

static int stream_close(void *at)
{
    int fd = streams[(size_t)at].fd;
    streams[(size_t)at].file = NULL;
    return close(fd);
}

static FILE *stream_new(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    size_t at = 0;
    while (at < STREAMS && streams[at].file) {
        at++;
    }
    streams[at].fd = fd;
    streams[at].file = fopencookie((void *)at, mode, functions);
    return streams[at].file;
}

static FILE *stream_open(const char *path, const char *mode)
{
    bool update = strchr(mode, '+');
    int flags = mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
    flags |= update ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    int fd = open_file(AT_FDCWD, path, flags, 0666);
    return fd < 0 ? NULL : stream_new(fd, mode);
}

SEEN FILE *fopen(const char *restrict path, const char *restrict mode)
{
    REAL(FILE *, WIDE("fopen"), const char *, const char *);
    return stand_in.on ? stream_open(path, mode) : real(path, mode);
}

SEEN int fileno(FILE *f)
{
    REAL(int, "fileno", FILE *);
    for (int i = 0; i < STREAMS; i++) {
        if (streams[i].file == f) {
            return streams[i].fd;
        }
    }
    return real(f);
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
    stdout = stream_new(STDOUT_FILENO, "w");
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
