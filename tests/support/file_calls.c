/* file_calls.c - replacements of the system's calls for files, which count and can fail
 * (file_faults.h).
 *
 * opendir and closedir count as the open and the close that they make. */
#include "support/file_faults_internal.h"

#ifdef __linux__

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------------- opening and closing */

static mode_t mode_of_open(int flags, va_list list)
{
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(list, int) : 0;
}

int open_file(int at, const char *path, int flags, mode_t mode)
{
    REAL(int, WIDE("openat"), int, const char *, int, ...);
    void (*opening)(void) = at == AT_FDCWD ? NULL : stand_in.opening;
    if (opening) {
        stand_in.opening = NULL;
        opening();
    }
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

SEEN int faccessat(int at, const char *path, int mode, int flags)
{
    REAL(int, "faccessat", int, const char *, int, int);
    return fault(CALL_ACCESS, "faccessat") ? -1 : real(at, path, mode, flags);
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

/* An exchange of two names is the one call that heed makes by number. Six words are passed on, as
 * the C library does it, also those that were not given, so the sanitizer does not look. */
__attribute__((no_sanitize_address)) SEEN long syscall(long number, ...)
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

#endif
