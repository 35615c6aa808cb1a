/* whole_file.c - reads whole files, and writes files that appear whole or not at all. */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/files/file.h"

/* ---------------------------------------------------------------- messages */

static HD__TLS struct {
    /* the hidden and the final path of the folder being filled; NULL: none */
    const char *hidden, *path;
} filling;

void hd__file_names_below(const char *hidden, const char *path)
{
    filling.hidden = hidden;
    filling.path = path;
}

enum { SHOWN = HD__LONGEST_PATH + 260 };

/* Returns the path that messages name. For a file in the hidden directory that is being filled,
 * this is the file's final path, which the function writes into `room`; otherwise path itself. */
static const char *path_shown(const char *path, char room[SHOWN])
{
    size_t n = filling.hidden ? strlen(filling.hidden) : 0;
    if (n == 0 || strncmp(path, filling.hidden, n) != 0) {
        return path;
    }
    snprintf(room, SHOWN, "%s%s", filling.path, path + n);
    return room;
}

void *hd__file_fail(const char *path, const char *what, int cause)
{
    char room[SHOWN];
    path = path_shown(path, room);
    return hd_fail(HD_IO, "'%.*s': cannot %s: %s", HD__CUT(path), what, HD__WHY(cause));
}

void *hd__file_create_fail(const char *path, const char *what, int cause)
{
    char room[SHOWN];
    path = path_shown(path, room);
    size_t n = hd__file_parent_length(path);
    const char *parent = n ? path : ".";
    n = n ? n : 1;
    if (cause == ENOENT) {
        return hd_fail(HD_IO, "'%.*s': the folder '%.*s' does not exist. Create it first",
                       HD__CUT(path), HD__CLIP(parent, n));
    }
    return hd_fail(HD_IO, "'%.*s': cannot create %s in '%.*s': %s", HD__CUT(path), what,
                   HD__CLIP(parent, n), HD__WHY(cause));
}

static void *no_regular_file(const char *path, const hd__sys_info *info, const char *or_none)
{
    char room[SHOWN];
    path = path_shown(path, room);
    return hd_fail(HD_IO, "'%.*s' is %s: expected a regular file%s", HD__CUT(path),
                   info->kind == HD__SYS_DIRECTORY ? "a directory" : "a special file", or_none);
}

/* ---------------------------------------------------------------- reading */

bool hd__file_regular_ok(const char *path, int fd, int64_t *size)
{
    hd__sys_info info;
    if (hd__sys_fstat(fd, &info) != 0) {
        return hd__file_fail(path, "stat", errno);
    }
    *size = info.size;
    return info.kind == HD__SYS_FILE || no_regular_file(path, &info, "");
}

int hd__file_regular_open(const char *path, int64_t *size)
{
    int fd = hd__sys_open(HD__SYS_HERE, path);
    if (fd < 0) {
        hd__file_fail(path, "open", errno);
    } else if (!hd__file_regular_ok(path, fd, size)) {
        hd__sys_drop(fd);
        fd = -1;
    }
    return fd;
}

static char *whole_read_all(const char *path, int fd, size_t size, size_t *n)
{
    char *bytes = hd_alloc(size + 1);
    *n = 0;
    while (bytes && *n < size) {
        ptrdiff_t got = hd__sys_pread(fd, bytes + *n, size - *n, (int64_t)*n);
        if (got == 0) {
            break;
        }
        if (got < 0) {
            int cause = errno;
            hd_free(bytes);
            return hd__file_fail(path, "read", cause);
        }
        *n += (size_t)got;
    }
    if (bytes) {
        bytes[*n] = '\0';
    }
    return bytes;
}

bool hd__file_lfs_ok(const char *path, const void *bytes, size_t n)
{
    static const char start[] = "version https://git-lfs.";
    size_t most = sizeof start - 1;
    return n < 8 || memcmp(bytes, start, n < most ? n : most) != 0 ||
           hd_fail(HD_FORMAT,
                   "'%.*s': this is a Git LFS pointer, not the file. To fetch the file, "
                   "run 'git lfs pull' in its folder",
                   HD__CUT(path));
}

char *hd__file_whole_read(const char *path, size_t most, size_t *n)
{
    int64_t size;
    int fd = hd__file_regular_open(path, &size);
    if (fd < 0) {
        return NULL;
    }
    char *bytes = NULL;
    if ((uint64_t)size > most) {
        hd_fail(HD_FORMAT, "'%.*s' has %lld bytes: expected at most %zu", HD__CUT(path),
                (long long)size, most);
    } else {
        bytes = whole_read_all(path, fd, (size_t)size, n);
    }
    hd__sys_drop(fd);
    if (bytes && !hd__file_lfs_ok(path, bytes, *n)) {
        hd_free(bytes);
        return NULL;
    }
    return bytes;
}

/* ---------------------------------------------------------------- names */

size_t hd__file_parent_length(const char *path)
{
    size_t n = strlen(path), drive = hd__sys_drive_length(path);
    while (n > drive + 1 && hd__sys_is_slash(path[n - 1])) {
        n--;
    }
    while (n > drive && !hd__sys_is_slash(path[n - 1])) {
        n--;
    }
    while (n > drive + 1 && hd__sys_is_slash(path[n - 1])) {
        n--;
    }
    return n;
}

const char *hd__file_parent_end(const char *path)
{
    return hd__file_parent_length(path) == hd__sys_drive_length(path) ? "." : "";
}

const char *hd__file_last_part(const char *path)
{
    path += hd__file_parent_length(path);
    return path + strspn(path, HD__SLASHES);
}

/* Allocates nothing, because running out of memory must not look like a wrong path. */
int hd__file_parent_open(const char *path)
{
    char parent[HD__LONGEST_PATH];
    size_t n = hd__file_parent_length(path);
    if (n >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(parent, sizeof parent, "%.*s%s", (int)n, path, hd__file_parent_end(path));
    return hd__sys_open_directory(parent, true);
}

int hd__file_sync_close(int parent)
{
    int synced = hd__sys_sync(parent), closed = hd__sys_close(parent);
    return synced ? synced : closed;
}

/* ---------------------------------------------------------------- writing */

/* Checks that a regular file or nothing is at w->path. Otherwise returns false with an error,
 * because a device, for example, must not be replaced. */
static bool may_replace(const hd__file_whole *w)
{
    hd__sys_info info;
    if (hd__sys_stat(HD__SYS_HERE, w->path, true, &info) != 0) {
        return errno == ENOENT || hd__file_create_fail(w->path, "a file", errno);
    }
    return info.kind == HD__SYS_FILE || no_regular_file(w->path, &info, ", or none");
}

void hd__file_hidden_prefix(const char *path, char prefix[HD__PREFIX])
{
    const char *last = hd__file_last_part(path);
    snprintf(prefix, HD__PREFIX, ".heed-%016" PRIx64 "-",
             hd__text_hash(last, strcspn(last, HD__SLASHES)));
}

/* Locks the open file fd. Returns true if no process writes the file, and it is a regular one that
 * belongs to this user and still has this name in the directory `parent`. */
static bool is_abandoned(int parent, const char *name, int fd)
{
    hd__sys_info info, named;
    return hd__sys_fstat(fd, &info) == 0 && info.kind == HD__SYS_FILE && info.own &&
           hd__sys_lock(fd) == 0 && hd__sys_stat(parent, name, false, &named) == 0 &&
           named.device == info.device && named.number == info.number;
}

/* Removes the hidden files that killed processes have left beside the path. A file that cannot be
 * removed stays, and no error is set. */
static void abandoned_remove(const hd__file_whole *w)
{
    char prefix[HD__PREFIX];
    int parent = hd__file_parent_open(w->path), cause;
    hd__sys_list *list = parent < 0 ? NULL : hd__sys_list_of(parent);
    if (!list) {
        hd__sys_drop(parent);
        return;
    }
    hd__file_hidden_prefix(w->path, prefix);
    for (const char *name; (name = hd__sys_list_next(list, &cause));) {
        bool ours = strncmp(name, prefix, strlen(prefix)) == 0;
        int fd = ours ? hd__sys_open(w->parent, name) : -1;
        if (fd >= 0 && is_abandoned(w->parent, name, fd)) {
            hd__sys_unlink(w->parent, name);
        }
        hd__sys_drop(fd);
    }
    hd__sys_list_end(list);
}

/* Opens the new file again, as w->lock, and locks it. Returns false if another process has already
 * taken the file for an abandoned one. Returns true without a lock where files cannot be locked. */
static bool lock_new_file(hd__file_whole *w)
{
    hd__sys_info info;
    w->lock = hd__sys_open(w->parent, w->name);
    bool taken = w->lock < 0 ? errno == ENOENT : hd__sys_lock(w->lock) == EWOULDBLOCK;
    return !taken && (hd__sys_stat(w->parent, w->name, false, &info) == 0 || errno != ENOENT);
}

/* Creates and locks the new file, under a name that is short even if the path's name is long. On
 * failure w->fd stays -1, and errno is set. */
static void create_new_file(hd__file_whole *w)
{
    static atomic_uint count;
    char prefix[HD__PREFIX];
    hd__file_hidden_prefix(w->path, prefix);
    while (w->fd < 0) {
        snprintf(w->name, HD__TEMPORARY, "%s%ld-%u.tmp", prefix, hd__sys_process(),
                 atomic_fetch_add(&count, 1));
        w->fd = hd__sys_create(w->parent, w->name);
        if (w->fd < 0 && errno != EEXIST) {
            return;
        }
        if (w->fd >= 0 && !lock_new_file(w)) {
            hd__sys_drop(w->fd);
            hd__sys_drop(w->lock);
            w->fd = w->lock = -1;
        }
    }
}

void hd__file_whole_begin(hd__file_whole *w, const char *path)
{
    *w = (hd__file_whole){.path = path, .parent = -1, .fd = -1, .lock = -1};
    w->failed = !may_replace(w);
    if (w->failed) {
        return;
    }
    w->parent = hd__file_parent_open(path);
    if (w->parent >= 0) {
        abandoned_remove(w);
        create_new_file(w);
    }
    w->failed = w->fd < 0;
    if (w->failed) {
        hd__file_create_fail(w->path, "a file", errno);
    }
}

void hd__file_whole_add(hd__file_whole *w, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n > 0 && !w->failed) {
        ptrdiff_t put = hd__sys_write(w->fd, at, n);
        if (put < 0) {
            w->failed = true;
            hd__file_fail(w->path, "write", errno);
        } else {
            at += put;
            n -= (size_t)put;
        }
    }
}

/* Closes the new file. If ok, syncs it first, because it must be complete before it gets its name.
 * Returns true if ok is true and nothing fails. A failure sets an error only if ok is true. */
static bool sync_and_close(hd__file_whole *w, bool ok)
{
    int synced = ok ? hd__sys_sync(w->fd) : 0, closed = hd__sys_close(w->fd);
    return ok && (synced == 0 || hd__file_fail(w->path, "sync", synced)) &&
           (closed == 0 || hd__file_fail(w->path, "close", closed));
}

static bool rename_to_path(const hd__file_whole *w)
{
    return hd__sys_rename_in(w->parent, w->name, hd__file_last_part(w->path)) == 0 ||
           hd__file_fail(w->path, "rename the new file to it", errno);
}

bool hd__file_whole_end(hd__file_whole *w, bool ok)
{
    bool done = w->fd >= 0 && sync_and_close(w, ok && !w->failed) && rename_to_path(w);
    if (w->fd >= 0 && !done) {
        hd__sys_unlink(w->parent, w->name);
    }
    hd__sys_drop(w->lock);
    if (done) {
        int cause = hd__file_sync_close(w->parent);
        return cause == 0 || hd__file_fail(w->path, "sync its directory", cause);
    }
    hd__sys_drop(w->parent);
    return false;
}

bool hd__file_whole_write(const char *path, const void *bytes, size_t n)
{
    hd__file_whole w;
    hd__file_whole_begin(&w, path);
    hd__file_whole_add(&w, bytes, n);
    return hd__file_whole_end(&w, true);
}
