/* exchange.c - two calls that POSIX does not have: exchanging two names, and a lock that ends with
 * the process that holds it. */
#if defined(__APPLE__)
#define _DARWIN_C_SOURCE
#elif defined(__linux__)
#define _DEFAULT_SOURCE /* for syscall() */
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "io/checkpoint.h"

#if defined(__linux__) && defined(SYS_renameat2)

int hd__exchange(const char *a, const char *b)
{
    const unsigned exchange = 2; /* RENAME_EXCHANGE of linux/fs.h; glibc names it since 2.28 */
    return syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, exchange) == 0 ? 0 : errno;
}

#elif defined(__APPLE__)

int hd__exchange(const char *a, const char *b)
{
    return renamex_np(a, b, RENAME_SWAP) == 0 ? 0 : errno;
}

#else

int hd__exchange(const char *a, const char *b)
{
    (void)a, (void)b;
    return ENOSYS;
}

#endif

int hd__lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}
