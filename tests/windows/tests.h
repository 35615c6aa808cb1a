/* tests.h - what the tests need of POSIX so that they compile on Windows, beside
 * tools/windows/posix.h. Windows has no forks, users, limits or FIFOs: these functions fail, and
 * tools/cross/windows.txt lists the tests that need them. */
#ifndef HEED_TESTS_WINDOWS_H
#define HEED_TESTS_WINDOWS_H

#include <errno.h>
#include <math.h>
#include <string.h>

/* 0 or 1, as glibc has it; MinGW gives another number */
#undef isnan
#undef isinf
#define isnan(x) (__builtin_isnan(x) != 0)
#define isinf(x) (__builtin_isinf(x) != 0)

#define tell tell_rows /* io.h has another one */

static inline int fork(void)
{
    return -1;
}

static inline int waitpid(int child, int *status, int how)
{
    (void)child, (void)status, (void)how;
    return -1;
}

static inline int kill(int process, int signal)
{
    (void)process, (void)signal;
    return -1;
}

#define pipe(ends) _pipe(ends, 65536, _O_BINARY)
#define WIFEXITED(status) ((status) == 0)
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) ((status) != 0)
#define WTERMSIG(status) (status)

#define sigset_t int
#define sigaddset(set, signal) ((void)(set))
#define sigismember(set, signal) (*(set))
#define sigpending(set) ((void)(set), -1)
#undef pthread_sigmask
#define pthread_sigmask(how, set, old) ((void)(set), -1)

#define geteuid() 1000
#define getuid() 1000
#define seteuid(user) ((user) == getuid() ? 0 : -1)
#define mkfifo(path, mode) ((void)(path), -1)
#define link(old, path) ((void)(old), (void)(path), -1)
#define chown(path, user, group) ((void)(path), -1)
#define open_memstream(text, n) ((void)(text), (void)(n), (FILE *)NULL)

static inline int pwrite(int fd, const void *bytes, size_t n, long long at)
{
    return _lseeki64(fd, at, SEEK_SET) == at ? _write(fd, bytes, (unsigned)n) : -1;
}

enum { PROT_NONE, PROT_READ, PROT_WRITE, MAP_PRIVATE, MAP_ANONYMOUS };
#define MAP_FAILED ((void *)-1)
#define mmap(at, n, access, how, fd, from) ((void)(n), MAP_FAILED)
#define mprotect(p, n, access) ((void)(p), (void)(n), -1)

struct rlimit {
    unsigned long long rlim_cur, rlim_max;
};
enum { RLIMIT_FSIZE, RLIMIT_AS, RLIM_INFINITY, SIGXFSZ = 25, SIGKILL = 9, SIGPIPE = 13 };
#define getrlimit(what, limit) ((limit)->rlim_max = 0, 0)
#define setrlimit(what, limit) ((limit)->rlim_cur == 0 ? 0 : -1) /* 0: no limit */

enum { _SC_PHYS_PAGES, _SC_PAGESIZE };
#define sysconf(what) ((what) == _SC_PAGESIZE ? 4096L : 1L << 20)

/* Runs "rm -rf FOLDER"; there are no other commands. */
static inline int remove_folder(const char *command)
{
    char other[200];
    int n = snprintf(other, sizeof other, "rmdir /s /q %s", command + strlen("rm -rf "));
    for (int i = (int)strlen("rmdir /s /q "); i < n; i++) {
        other[i] = other[i] == '/' ? '\\' : other[i];
    }
    return strncmp(command, "rm -rf ", 7) == 0 ? system(other) : -1;
}
#define system(command) remove_folder(command)

/* A block that free takes, with malloc's alignment. */
static inline int posix_memalign(void **p, size_t alignment, size_t bytes)
{
    (void)alignment;
    *p = malloc(bytes);
    return *p ? 0 : ENOMEM;
}

#endif
