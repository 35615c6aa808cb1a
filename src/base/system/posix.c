/* posix.c - the functions of system.h that need only POSIX.1-2008. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/system/system.h"

_Static_assert(sizeof(off_t) == 8, "heed needs -D_FILE_OFFSET_BITS=64 here, as Meson gives it");

/* AGAIN is the last line of a function's body. It repeats the call while signals interrupt it, and
 * returns the call's result. `failed` is the result of a failed call: -1 for UNINTERRUPTED. */
#define AGAIN(type, failed, call)                                                                  \
    type result;                                                                                   \
    do {                                                                                           \
        result = (call);                                                                           \
    } while (result == (failed) && errno == EINTR);                                                \
    return result
#define UNINTERRUPTED(type, call) AGAIN(type, -1, call)

/* ---------------------------------------------------------------- threads */

bool hd__sys_thread_start(pthread_t *thread, void *(*f)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* a new thread inherits the blocked signals */
    bool started = pthread_create(thread, NULL, f, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int64_t hd__sys_nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

long hd__sys_process(void)
{
    return (long)getpid();
}

/* ---------------------------------------------------------------- memory */

void *hd__sys_block_new(size_t align, size_t bytes)
{
    void *p;
    return posix_memalign(&p, align, bytes) == 0 ? p : NULL;
}

void hd__sys_block_free(void *p)
{
    free(p);
}

/* ---------------------------------------------------------------- error texts */

/* strerror_r of POSIX writes into text and returns an int. GNU's, which _GNU_SOURCE chooses,
 * returns a string, which may lie elsewhere. */
#define WORDS_OF(cause, text) strerror_r(cause, text, HD__WHY_TEXT)

const char *hd__sys_why(int cause, char text[HD__WHY_TEXT])
{
    snprintf(text, HD__WHY_TEXT, "unknown error");
    if (cause == 0) { /* musl's fwrite sets no errno if the file is open only for reading */
        return text;
    }
    return _Generic(WORDS_OF(cause, text), char *
                    : WORDS_OF(cause, text), int
                    : (WORDS_OF(cause, text), text));
}

void *hd__sys_locale_enter(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? (void *)uselocale(plain) : NULL;
}

void hd__sys_locale_leave(void *before)
{
    if (before) {
        freelocale(uselocale((locale_t)before));
    }
}

/* ---------------------------------------------------------------- files */

static int base_of(int at)
{
    return at == HD__SYS_HERE ? AT_FDCWD : at;
}

static int open_at(int at, const char *path, int flags)
{
    UNINTERRUPTED(int, openat(base_of(at), path, flags | O_CLOEXEC, 0666));
}

/* Without O_NONBLOCK, opening a FIFO would wait for a writer. */
int hd__sys_open(int at, const char *path)
{
    return open_at(at, path, O_RDONLY | O_NONBLOCK);
}

int hd__sys_create(int at, const char *path)
{
    return open_at(at, path, O_WRONLY | O_CREAT | O_EXCL);
}

int hd__sys_open_directory(const char *path, bool follow)
{
    return open_at(HD__SYS_HERE, path, O_RDONLY | O_DIRECTORY | (follow ? 0 : O_NOFOLLOW));
}

ptrdiff_t hd__sys_pread(int fd, void *bytes, size_t n, int64_t at)
{
    UNINTERRUPTED(ptrdiff_t, pread(fd, bytes, n, (off_t)at));
}

ptrdiff_t hd__sys_write(int fd, const void *bytes, size_t n)
{
    UNINTERRUPTED(ptrdiff_t, write(fd, bytes, n));
}

int hd__sys_close(int fd)
{
    return close(fd) == 0 || errno == EINTR ? 0 : errno;
}

void hd__sys_drop(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void *hd__sys_map(int fd, int64_t n, bool writable)
{
    void *bytes;
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (n > PTRDIFF_MAX) { /* possible only where pointers have 32 bits */
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

static int info_of(int failed, const struct stat *st, hd__sys_info *info)
{
    if (failed) {
        return -1;
    }
    *info = (hd__sys_info){.kind = S_ISREG(st->st_mode)   ? HD__SYS_FILE
                                   : S_ISDIR(st->st_mode) ? HD__SYS_DIRECTORY
                                   : S_ISLNK(st->st_mode) ? HD__SYS_LINK
                                                          : HD__SYS_SPECIAL,
                           .mode = (unsigned)st->st_mode & 07777,
                           .own = st->st_uid == geteuid(),
                           .size = st->st_size,
                           .device = (uint64_t)st->st_dev,
                           .number = (uint64_t)st->st_ino};
    return 0;
}

static int stat_again(int at, const char *path, bool follow, struct stat *st)
{
    UNINTERRUPTED(int, fstatat(base_of(at), path, st, follow ? 0 : AT_SYMLINK_NOFOLLOW));
}

int hd__sys_stat(int at, const char *path, bool follow, hd__sys_info *info)
{
    struct stat st;
    return info_of(stat_again(at, path, follow, &st), &st, info);
}

static int fstat_again(int fd, struct stat *st)
{
    UNINTERRUPTED(int, fstat(fd, st));
}

int hd__sys_fstat(int fd, hd__sys_info *info)
{
    struct stat st;
    return info_of(fstat_again(fd, &st), &st, info);
}

int hd__sys_chmod(int at, const char *path, unsigned mode)
{
    UNINTERRUPTED(int, fchmodat(base_of(at), path, (mode_t)mode, 0));
}

int hd__sys_may_remove_in(int fd)
{
    UNINTERRUPTED(int, faccessat(fd, ".", W_OK | X_OK, AT_EACCESS));
}

int hd__sys_mkdir(const char *path)
{
    UNINTERRUPTED(int, mkdir(path, 0777));
}

int hd__sys_rename(const char *old, const char *path)
{
    UNINTERRUPTED(int, rename(old, path));
}

int hd__sys_rename_in(int at, const char *old, const char *path)
{
    UNINTERRUPTED(int, renameat(at, old, at, path));
}

int hd__sys_unlink(int at, const char *path)
{
    UNINTERRUPTED(int, unlinkat(at, path, 0));
}

int hd__sys_rmdir(const char *path)
{
    UNINTERRUPTED(int, rmdir(path));
}

hd__sys_list *hd__sys_list_of(int fd)
{
    AGAIN(hd__sys_list *, NULL, (hd__sys_list *)fdopendir(fd));
}

hd__sys_list *hd__sys_list_at(const char *path)
{
    AGAIN(hd__sys_list *, NULL, (hd__sys_list *)opendir(path));
}

int hd__sys_list_fd(hd__sys_list *list)
{
    return dirfd((DIR *)list);
}

static bool names_itself(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

const char *hd__sys_list_next(hd__sys_list *list, int *cause)
{
    const struct dirent *each;
    do {
        errno = 0;
        each = readdir((DIR *)list);
    } while (each ? names_itself(each->d_name) : errno == EINTR);
    *cause = each ? 0 : errno;
    return each ? each->d_name : NULL;
}

void hd__sys_list_end(hd__sys_list *list)
{
    closedir((DIR *)list);
}
