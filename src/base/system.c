/* system.c - the system's calls for files, which a signal may interrupt. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/platform.h"
#include "base/system.h"

_Static_assert(sizeof(off_t) == 8, "heed needs -D_FILE_OFFSET_BITS=64 here, as Meson gives it");

/* Makes the call until no signal interrupts it; the value is its result. */
#define UNINTERRUPTED(type, call)                                                                  \
    type result;                                                                                   \
    do {                                                                                           \
        result = (call);                                                                           \
    } while (result == -1 && errno == EINTR);                                                      \
    return result

/* ---------------------------------------------------------------- files */

int hd__sys_openat(int at, const char *path, int flags)
{
    UNINTERRUPTED(int, openat(at, path, flags | O_CLOEXEC, 0666));
}

int hd__sys_open(const char *path, int flags)
{
    return hd__sys_openat(AT_FDCWD, path, flags);
}

ssize_t hd__sys_read(int fd, void *bytes, size_t n)
{
    UNINTERRUPTED(ssize_t, read(fd, bytes, n));
}

ssize_t hd__sys_pread(int fd, void *bytes, size_t n, int64_t at)
{
    UNINTERRUPTED(ssize_t, pread(fd, bytes, n, (off_t)at));
}

ssize_t hd__sys_write(int fd, const void *bytes, size_t n)
{
    UNINTERRUPTED(ssize_t, write(fd, bytes, n));
}

int hd__sys_close(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

void hd__sys_drop(int fd)
{
    close(fd);
}

static int sync_again(int fd)
{
    UNINTERRUPTED(int, hd__sync(fd));
}

int hd__sys_sync(int fd)
{
    return sync_again(fd) == 0 || errno == EINVAL ? 0 : errno;
}

void *hd__sys_map(int fd, int64_t n, bool writable)
{
    void *bytes;
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (n > PTRDIFF_MAX) { /* on a machine of 32 bits */
        errno = EFBIG;
        return NULL;
    }
    do {
        bytes = mmap(NULL, (size_t)n, protection, MAP_PRIVATE, fd, 0);
    } while (bytes == MAP_FAILED && errno == EINTR);
    return bytes == MAP_FAILED ? NULL : bytes;
}

void hd__sys_unmap(void *bytes, size_t n)
{
    munmap(bytes, n);
}

/* ---------------------------------------------------------------- names */

int hd__sys_stat(const char *path, struct stat *st)
{
    UNINTERRUPTED(int, stat(path, st));
}

int hd__sys_lstat(const char *path, struct stat *st)
{
    UNINTERRUPTED(int, lstat(path, st));
}

int hd__sys_fstat(int fd, struct stat *st)
{
    UNINTERRUPTED(int, fstat(fd, st));
}

int hd__sys_statat(int at, const char *path, struct stat *st, int flags)
{
    UNINTERRUPTED(int, fstatat(at, path, st, flags));
}

int hd__sys_chmodat(int at, const char *path, mode_t mode)
{
    UNINTERRUPTED(int, fchmodat(at, path, mode, 0));
}

int hd__sys_accessat(int at, const char *path, int mode)
{
    UNINTERRUPTED(int, faccessat(at, path, mode, AT_EACCESS));
}

int hd__sys_mkdir(const char *path)
{
    UNINTERRUPTED(int, mkdir(path, 0777));
}

int hd__sys_rename(const char *old, const char *path)
{
    UNINTERRUPTED(int, rename(old, path));
}

int hd__sys_renameat(int at, const char *old, const char *path)
{
    UNINTERRUPTED(int, renameat(at, old, at, path));
}

int hd__sys_unlinkat(int at, const char *path)
{
    UNINTERRUPTED(int, unlinkat(at, path, 0));
}

int hd__sys_rmdir(const char *path)
{
    UNINTERRUPTED(int, rmdir(path));
}

/* ---------------------------------------------------------------- directories */

DIR *hd__sys_fdopendir(int fd)
{
    DIR *dir;
    do {
        dir = fdopendir(fd);
    } while (!dir && errno == EINTR);
    return dir;
}

DIR *hd__sys_opendir(const char *path)
{
    DIR *dir;
    do {
        dir = opendir(path);
    } while (!dir && errno == EINTR);
    return dir;
}

static bool names_itself(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const char *hd__sys_readdir(DIR *dir, int *cause)
{
    const struct dirent *each;
    do {
        errno = 0;
        each = readdir(dir);
    } while (each ? names_itself(each->d_name) : errno == EINTR);
    *cause = each ? 0 : errno;
    return each ? each->d_name : NULL;
}
