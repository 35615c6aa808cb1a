/* posix.h - those functions of POSIX that heed's programs call and MinGW-w64 lacks. On Windows the
 * build has the compiler read it before each source of a program. The libraries do not need it. */
#ifndef HEED_WINDOWS_POSIX_H
#define HEED_WINDOWS_POSIX_H

#include <dirent.h>
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- files */

#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
#define F_GETFD 1
#define fcntl(fd, what) 0 /* the standard files are open */
#define fsync(fd) _commit(fd)
#define lstat(path, s) stat(path, s)
#define mkdir(path, mode) _mkdir(path)

/* Links need a right that few users have, so this fails with ENOSYS. */
int symlink(const char *target, const char *path);

int gethostname(char *name, size_t room);
char *mkdtemp(char *pattern);
ssize_t getline(char **line, size_t *room, FILE *f);
int scandir(const char *path, struct dirent ***entries, int (*keep)(const struct dirent *e),
            int (*compare)(const struct dirent **a, const struct dirent **b));
int alphasort(const struct dirent **a, const struct dirent **b);

/* ---------------------------------------------------------------- the environment and signals */

#define setenv(name, value, replace) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")

/* Windows has SIGINT and SIGTERM. For the others sigaction fails. */
enum { SIGHUP = 1, SIGUSR1 = 10, SIGCONT = 18, SA_RESTART = 0 };

struct sigaction {
    void (*sa_handler)(int);
    int sa_flags, sa_mask;
};

#define sigemptyset(set) (*(set) = 0)
int sigaction(int number, const struct sigaction *a, struct sigaction *old);

#endif
