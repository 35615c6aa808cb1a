/* hidden.c - the directory in which a checkpoint is filled, or which one that is removed becomes.
 *
 * It lies beside the checkpoint. Its name is made from the checkpoint's name, and it is locked
 * while its process uses it. If that process is killed, or cannot remove it, the directory is left
 * over without a lock. The next call that saves, replaces or removes the same checkpoint removes
 * it. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "io/checkpoint.h"

enum { NAME_SIZE = 64 };

/* ---------------------------------------------------------------- names */

/* ".heed-", then a hash of dir's last part, because that part may be too long to add to. */
static void prefix_of(const char *dir, char prefix[NAME_SIZE])
{
    const char *last = hd__last_part(dir);
    snprintf(prefix, NAME_SIZE, ".heed-%016" PRIx64 "-", hd__hash(last, strcspn(last, "/")));
}

const char *hd__path_in(const char *dir, size_t n, const char *name)
{
    hd__text t = {0};
    hd__text_add(&t, dir, n);
    hd__text_format(&t, "/%s", name);
    return hd__text_give(&t);
}

int hd__stat_cause(const char *path)
{
    hd__sys_info info;
    return hd__sys_stat(HD__SYS_HERE, path, false, &info) == 0 ? 0 : errno;
}

const char *hd__path_beside(const char *path, const char *name)
{
    size_t n = hd__parent_length(path);
    return n > 0 ? hd__path_in(path, n, name) : hd__path_in(".", 1, name);
}

const char *hd__hidden_path(const char *dir)
{
    static atomic_uint count;
    char prefix[NAME_SIZE], name[2 * NAME_SIZE];
    prefix_of(dir, prefix);
    snprintf(name, sizeof name, "%s%ld-%u.tmp", prefix, hd__sys_process(),
             atomic_fetch_add(&count, 1));
    return hd__path_beside(dir, name);
}

/* ---------------------------------------------------------------- removing */

bool hd__still_at(int fd, const char *path, bool follow, int *cause)
{
    hd__sys_info open_one, named;
    if (hd__sys_fstat(fd, &open_one) != 0 ||
        hd__sys_stat(HD__SYS_HERE, path, follow, &named) != 0) {
        *cause = errno == ENOENT ? 0 : errno;
        return false;
    }
    *cause = 0;
    return open_one.device == named.device && open_one.number == named.number;
}

/* Removes a checkpoint's own files by their names, which needs no memory. */
static int clear_by_name(int fd)
{
    static const char *const names[] = {HD__MODEL_FILE, HD__STATE_FILE};
    int cause = 0;
    for (int i = 0; i < 2 && cause == 0; i++) {
        cause = hd__sys_unlink(fd, names[i]) == 0 || errno == ENOENT ? 0 : errno;
    }
    return cause;
}

/* A checkpoint that is read-only is made writable first. If that fails, unlink tells why. A
 * listing needs memory. */
int hd__directory_clear(int fd, const char *path)
{
    hd__sys_chmod(fd, ".", 0700);
    hd__sys_list *dir = hd__sys_list_of(fd);
    int cause = dir ? 0 : errno == ENOMEM ? clear_by_name(fd) : errno, read = 0;
    for (const char *name; dir && cause == 0 && (name = hd__sys_list_next(dir, &read));) {
        cause = hd__sys_unlink(fd, name) == 0 || errno == ENOENT ? 0 : errno;
    }
    cause = cause ? cause : read;
    if (dir) {
        hd__sys_list_end(dir);
    } else {
        hd__sys_drop(fd);
    }
    return cause || hd__sys_rmdir(path) == 0 || errno == ENOENT ? cause : errno;
}

int hd__hidden_clear(hd__hidden *h)
{
    int fd = h->lock;
    h->lock = -1;
    return hd__directory_clear(fd, h->path);
}

void hd__hidden_left(const char *what, const char *dir, const char *path, int cause)
{
    hd_warn("the %s checkpoint of '%.*s' is left as '%.*s', because it cannot be removed: %s; "
            "remove it, or the next call tries again",
            what, HD__CUT(dir), HD__CUT(path), HD__WHY(cause));
}

void hd__hidden_drop(const char *dir, hd__hidden *h)
{
    int cause = hd__hidden_clear(h);
    if (cause != 0) {
        hd__hidden_left("unfinished", dir, h->path, cause);
    }
}

/* ---------------------------------------------------------------- what is left over */

/* Does this process's user own the open directory, and does no process use it? *cause: why that
 * cannot be told, or 0. The lock is taken before the name is compared, because the directory may
 * have become the checkpoint before. */
static bool is_unused(int fd, const char *path, int *cause)
{
    hd__sys_info info;
    *cause = hd__sys_fstat(fd, &info) == 0 ? 0 : errno;
    if (*cause != 0 || !info.own) {
        return false;
    }
    *cause = hd__sys_lock(fd);
    if (*cause != 0) {
        *cause = *cause == EWOULDBLOCK ? 0 : *cause;
        return false;
    }
    return hd__still_at(fd, path, false, cause);
}

/* Returns 0 or an errno. *found: it was one that was left over. */
static int clear_left_over(const char *path, bool *found)
{
    int fd = hd__sys_open_directory(path, false), cause;
    if (fd < 0) { /* another process has removed it, or it is a file or a link of that name */
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
    }
    *found = is_unused(fd, path, &cause);
    if (*found) {
        return hd__directory_clear(fd, path);
    }
    hd__sys_drop(fd);
    return cause;
}

/* Notes the first failure. */
static void note_left_over(hd__left_overs *left, const char *path)
{
    bool found = false;
    int cause = clear_left_over(path, &found);
    left->found += found || cause != 0;
    if (cause != 0 && left->cause == 0) {
        left->cause = cause;
        left->path = path;
    }
}

bool hd__left_overs_clear(const char *dir, hd__left_overs *left)
{
    char prefix[NAME_SIZE];
    const char *path = hd__path_beside(dir, ".");
    hd__sys_list *parent = path ? hd__sys_list_at(path) : NULL;
    if (!parent) {
        left->unread = errno;
        return path;
    }
    prefix_of(dir, prefix);
    for (const char *name; path && (name = hd__sys_list_next(parent, &left->unread));) {
        if (strncmp(name, prefix, strlen(prefix)) == 0) {
            path = hd__path_beside(dir, name);
            if (path) {
                note_left_over(left, path);
            }
        }
    }
    hd__sys_list_end(parent);
    return path;
}

/* ---------------------------------------------------------------- making */

/* Opens and locks the directory that was just made. Returns false with 0 in *cause if another
 * process has taken it for one that was left over. */
static bool lock_new(hd__hidden *h, int *cause)
{
    h->lock = hd__sys_open_directory(h->path, false);
    if (h->lock < 0) {
        *cause = errno == ENOENT ? 0 : errno;
        return false;
    }
    *cause = 0;
    if (hd__sys_lock(h->lock) == EWOULDBLOCK || !hd__still_at(h->lock, h->path, false, cause)) {
        hd__sys_drop(h->lock);
        h->lock = -1;
    }
    return h->lock >= 0;
}

bool hd__hidden_make(const char *dir, hd__hidden *h)
{
    for (;;) {
        int cause;
        h->path = hd__hidden_path(dir);
        if (!h->path) {
            return false;
        }
        if (hd__sys_mkdir(h->path) != 0) {
            if (errno == EEXIST) {
                continue;
            }
            return hd__create_fail(hd__call, dir, "a directory", errno);
        }
        if (lock_new(h, &cause)) {
            return true;
        }
        if (cause != 0) {
            if (hd__sys_rmdir(h->path) != 0 && errno != ENOENT) {
                hd__hidden_left("unfinished", dir, h->path, errno);
            }
            return hd__io_fail(hd__call, dir, "open the new directory", cause);
        }
    }
}
