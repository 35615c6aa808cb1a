/* whole.c - files read and written as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/whole.h"

/* HD_IO: "hd_fn: 'x.json': cannot open: No such file or directory". Returns NULL. */
static void *fail(const char *function, const char *path, const char *what)
{
    char cause[128];
    if (strerror_r(errno, cause, sizeof cause) != 0) {
        snprintf(cause, sizeof cause, "error %d", errno);
    }
    return hd_error_set(HD_IO, "%s: '%.200s': cannot %s: %s", function, path, what, cause);
}

static void *no_regular_file(const char *function, const char *path)
{
    return hd_error_set(HD_IO, "%s: '%.200s': expected a regular file", function, path);
}

/* ---------------------------------------------------------------- reading */

static char *read_all(const char *function, const char *path, int fd, size_t size, size_t *n)
{
    char *bytes = hd_alloc(size + 1);
    *n = 0;
    while (bytes && *n < size) {
        ssize_t got = read(fd, bytes + *n, size - *n);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            hd_free(bytes);
            return fail(function, path, "read");
        }
        *n += got > 0 ? (size_t)got : 0;
    }
    if (bytes) {
        bytes[*n] = '\0';
    }
    return bytes;
}

static char *read_open(const char *function, const char *path, int fd, size_t most, size_t *n)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return fail(function, path, "stat");
    }
    if (!S_ISREG(st.st_mode)) {
        return no_regular_file(function, path);
    }
    if ((uintmax_t)st.st_size > most) {
        return hd_error_set(HD_FORMAT, "%s: '%.200s': %lld bytes: expected at most %zu", function,
                            path, (long long)st.st_size, most);
    }
    return read_all(function, path, fd, (size_t)st.st_size, n);
}

char *hd__whole_read(const char *function, const char *path, size_t most, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block */
    if (fd < 0) {
        return fail(function, path, "open");
    }
    char *bytes = read_open(function, path, fd, most, n);
    close(fd);
    return bytes;
}

/* ---------------------------------------------------------------- writing */

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(fd, bytes, n);
        if (wrote < 0 && errno != EINTR) {
            return false;
        }
        bytes += wrote > 0 ? wrote : 0;
        n -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* A new file beside path, its name into name: short, as path's own last part may be as long as a
 * name can be. -1 with errno. */
static int open_beside(const char *path, char *name, size_t room)
{
    static atomic_uint count;
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int fd;
    do {
        snprintf(name, room, "%.*s.heed-%ld-%u.tmp", folder, path, (long)getpid(),
                 atomic_fetch_add(&count, 1));
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* The folder's own entry of the new name is what a crash would lose. name is overwritten. */
static bool sync_folder(char *name)
{
    char *slash = strrchr(name, '/');
    if (slash) {
        slash[slash == name] = '\0';
    }
    int fd = open(slash ? name : ".", O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* some file systems cannot */
    if (fd >= 0) {
        close(fd);
    }
    return ok;
}

static bool write_beside(const char *function, const char *path, const void *bytes, size_t n,
                         char *name, size_t room)
{
    int fd = open_beside(path, name, room);
    if (fd < 0) {
        return fail(function, path, "create a file beside it");
    }
    bool ok = write_all(fd, bytes, n) && fsync(fd) == 0;
    int cause = errno;
    ok = close(fd) == 0 && ok;
    if (!ok || rename(name, path) != 0) {
        cause = ok ? errno : cause;
        unlink(name);
        errno = cause;
        return fail(function, path, ok ? "rename the new file to it" : "write");
    }
    return sync_folder(name) || fail(function, path, "sync the folder");
}

bool hd__whole_write(const char *function, const char *path, const void *bytes, size_t n)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return no_regular_file(function, path);
    }
    size_t room = strlen(path) + 48;
    char *name = hd_alloc(room);
    bool ok = name && write_beside(function, path, bytes, n, name, room);
    hd_free(name);
    return ok;
}
