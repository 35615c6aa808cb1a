/* file.c - files as io reads and writes them.
 *
 * Reading takes regular files only, and every read says where: no position to share or to lose.
 * Writing goes to a new file in the same directory, which is synced and then renamed, after which
 * the directory is synced: a reader finds the old file or the new one, after a crash too. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io_internal.h"

enum { LONGEST_PATH = 4096 }; /* a longer one cannot be opened anyway */

/* ---------------------------------------------------------------- messages */

int hd__cut(const char *s)
{
    enum { LONGEST = 120 };
    size_t n = strnlen(s, LONGEST + 1);
    if (n <= LONGEST) {
        return (int)n;
    }
    n = LONGEST;
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80) {
        n--;
    }
    return (int)n;
}

bool hd__io_fail(const char *function, const char *path, const char *what, int cause)
{
    char text[128] = "unknown error";
    strerror_r(cause, text, sizeof text);
    return hd_error_set(HD_IO, "%s: '%.*s': cannot %s: %s", function, HD__CUT(path), what, text);
}

bool hd__may_save(const char *function)
{
    return hd_error_code() == HD_OK ||
           hd_error_set(HD_STATE, "%s: an error stands: nothing is written", function);
}

/* ---------------------------------------------------------------- reading */

bool hd__in_open(hd__in *in, const char *function, const char *path)
{
    struct stat st;
    in->path = path;
    in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a FIFO must not wait */
    if (in->fd < 0) {
        return hd__io_fail(function, path, "open", errno);
    }
    if (fstat(in->fd, &st) != 0) {
        int cause = errno;
        hd__in_close(in);
        return hd__io_fail(function, path, "stat", cause);
    }
    if (!S_ISREG(st.st_mode)) {
        hd__in_close(in);
        return hd_error_set(HD_IO, "%s: '%.*s': %s: expected a regular file", function,
                            HD__CUT(path), S_ISDIR(st.st_mode) ? "a directory" : "a special file");
    }
    in->size = st.st_size;
    return true;
}

void hd__in_close(hd__in *in)
{
    if (in->fd >= 0) {
        close(in->fd);
    }
    in->fd = -1;
}

bool hd__in_read(const hd__in *in, const char *function, int64_t at, void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(in->fd, (char *)bytes + done, n - done, (off_t)(at + (int64_t)done));
        if (got < 0 && errno != EINTR) {
            return hd__io_fail(function, in->path, "read", errno);
        }
        if (got == 0) {
            return hd_error_set(HD_IO,
                                "%s: '%.*s': ends at byte %" PRId64 " now: expected %" PRId64
                                " bytes, as when it was opened",
                                function, HD__CUT(in->path), at + (int64_t)done, in->size);
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* ---------------------------------------------------------------- names */

/* The length of the directory in path: 1 of "a/b", "/b" and "a/b/", 0 of "b", which is in ".". */
static size_t parent_length(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    while (n > 1 && path[n - 1] == '/') {
        n--;
    }
    return n;
}

/* Short, whatever the path's own last part: that may be as long as a name can be. */
void hd__temporary(hd__text *name, const char *path)
{
    static atomic_uint count;
    size_t n = parent_length(path);
    hd__text_cut(name, 0);
    hd__text_add(name, n ? path : ".", n ? n : 1);
    hd__text_format(name, "/.heed-%ld-%u.tmp", (long)getpid(), atomic_fetch_add(&count, 1));
}

static int sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int cause = fsync(fd) == 0 || errno == EINVAL ? 0 : errno; /* EINVAL: it needs no sync there */
    close(fd);
    return cause;
}

/* Needs no memory of heed's: by now the file is there, and to fail for that would be late. */
bool hd__sync_parent(const char *function, const char *path)
{
    char parent[LONGEST_PATH] = ".";
    size_t n = parent_length(path);
    int cause = n < sizeof parent ? 0 : ENAMETOOLONG;
    if (cause == 0) {
        memcpy(parent, n ? path : ".", n ? n : 1);
        parent[n ? n : 1] = '\0';
        cause = sync_directory(parent);
    }
    return cause == 0 || hd__io_fail(function, path, "sync the directory of", cause);
}

/* ---------------------------------------------------------------- writing */

/* Is there a regular file, or nothing, at path? A device must not be replaced. */
static bool may_replace(const char *function, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return hd_error_set(HD_IO, "%s: '%.*s': %s: expected a regular file, or none", function,
                            HD__CUT(path), S_ISDIR(st.st_mode) ? "a directory" : "a special file");
    }
    return true;
}

bool hd__out_open(hd__out *out, const char *function, const char *path)
{
    *out = (hd__out){.function = function, .path = path, .fd = -1};
    if (!may_replace(function, path)) {
        return false;
    }
    do {
        hd__temporary(&out->temporary, path);
        if (out->temporary.failed) {
            return false;
        }
        out->fd = open(out->temporary.s, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (out->fd < 0 && errno == EEXIST);
    return out->fd >= 0 || hd__io_fail(function, path, "create a file beside it", errno);
}

void hd__out_write(hd__out *out, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0 && !out->failed) {
        ssize_t put = write(out->fd, at, n);
        if (put < 0 && errno != EINTR) {
            out->failed = true;
            hd__io_fail(out->function, out->path, "write", errno);
        } else if (put > 0) {
            at += put;
            n -= (size_t)put;
        }
    }
}

static bool finish(hd__out *out)
{
    if (fsync(out->fd) != 0) {
        return hd__io_fail(out->function, out->path, "sync", errno);
    }
    if (rename(out->temporary.s, out->path) != 0) {
        return hd__io_fail(out->function, out->path, "rename the new file to it", errno);
    }
    return true;
}

bool hd__out_close(hd__out *out, bool ok)
{
    if (out->fd >= 0) {
        ok = ok && !out->failed && finish(out);
        if (!ok) {
            unlink(out->temporary.s);
        }
        close(out->fd);
        ok = ok && hd__sync_parent(out->function, out->path);
    }
    hd_free(out->temporary.s);
    *out = (hd__out){.fd = -1};
    return ok;
}
