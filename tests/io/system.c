/* system.c - functions that stand in for the system's in this program: they note what is asked of
 * it, fail, do a part only, or end the process. Linux only. */
#define _GNU_SOURCE

#include "system.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/checkpoint.h"
#include "suites.h"

stand_in_system stand_in = {.fails_at = NEVER, .dies_at = NEVER};

/* The process dies before the call that would change something. */
static void changes_something(void)
{
    if (stand_in.dies_at != NEVER && stand_in.dies_at-- == 0) {
        kill(getpid(), SIGKILL);
    }
}

/* Returns whether the event is the one that fails. */
static bool event(char kind, ino_t inode)
{
    changes_something();
    if (stand_in.n == MOST) { /* a test that does not count events */
        return false;
    }
    stand_in.events[stand_in.n] = kind;
    stand_in.synced[stand_in.n] = inode;
    errno = stand_in.cause ? stand_in.cause : EIO;
    return stand_in.n++ == stand_in.fails_at;
}

void watch(int fail)
{
    memset(stand_in.events, 0, sizeof stand_in.events);
    stand_in.n = 0;
    stand_in.fails_at = fail;
}

ino_t inode_of(const char *path)
{
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_ino;
}

/* ---------------------------------------------------------------- events */

int fsync(int fd)
{
    struct stat st; /* this also runs outside tests: in roundtrip.c */
    if (fstat(fd, &st) != 0) {
        return -1;
    }
    if (stand_in.appears && S_ISDIR(st.st_mode)) {
        mkdir(stand_in.appears, 0777);
    }
    return event(S_ISDIR(st.st_mode) ? 'D' : 'F', st.st_ino)
               ? -1
               : (int)syscall(SYS_fsync, fd, 0, 0, 0, 0);
}

int renameat(int old_at, const char *old, int new_at, const char *new)
{
    return event('R', 0) ? -1 : (int)syscall(SYS_renameat2, old_at, old, new_at, new, 0);
}

int rename(const char *old, const char *new)
{
    if (stand_in.arrives) {
        syscall(SYS_renameat2, AT_FDCWD, stand_in.arrives, AT_FDCWD, new, 0);
        stand_in.arrives = NULL;
    }
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

/* An exchange of two names is the one call that heed makes by number. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list list;
    long a[5];
    va_start(list, number);
    for (int i = 0; i < 5; i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    }
    bool exchange = number == SYS_renameat2 && a[4] != 0;
    if (exchange && event('X', 0)) {
        return -1;
    }
    long done = real(number, a[0], a[1], a[2], a[3], a[4]);
    if (exchange && done == 0 && stand_in.clears) {
        const char *old = (const char *)a[1];
        hd__directory_clear(hd__directory_open(old), old);
    }
    return done;
}

/* ---------------------------------------------------------------- calls without an event */

int mkdir(const char *path, mode_t mode)
{
    changes_something();
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode, 0, 0);
}

int unlinkat(int at, const char *path, int flags)
{
    changes_something();
    errno = EACCES;
    return stand_in.keeps ? -1 : (int)syscall(SYS_unlinkat, at, path, flags, 0, 0);
}

int rmdir(const char *path)
{
    changes_something();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR, 0, 0);
}

static bool interrupted(size_t *n)
{
    *n = stand_in.halting && *n > 7 ? 7 : *n;
    errno = EINTR;
    return stand_in.halting && stand_in.halting++ % 2;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    changes_something();
    return interrupted(&n) ? -1 : syscall(SYS_write, fd, bytes, n, 0, 0);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
    return interrupted(&n) ? -1 : syscall(SYS_pread64, fd, bytes, n, at, 0);
}

#endif
