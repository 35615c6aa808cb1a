/* replace.c - replaces a checkpoint: the new one is written beside the old one, and the system
 * exchanges the two names in one step.
 *
 * The directory that is filled has a name that is made from the checkpoint's name, and it is locked
 * while its process lives. After the exchange the old checkpoint has that name and is removed. If a
 * process is killed in between, a directory of that name is left over without a lock, and the next
 * replacement of the same checkpoint removes it. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checkpoint.h"

static const char function[] = "hd_checkpoint_replace";

enum { NAME_SIZE = 64 };

typedef struct replacement {
    const char *dir;
    hd__text temporary; /* the path of the new directory, and of the old one after the exchange */
    int lock;           /* the new directory, open and locked */
    mode_t mode;        /* what it was made with */
} replacement;

/* ---------------------------------------------------------------- names */

/* ".heed-", then a hash of dir's last part, FNV-1a, because that part may be too long to add to. */
static void prefix_of(const char *dir, char prefix[NAME_SIZE])
{
    uint64_t hash = 0xcbf29ce484222325;
    const char *last = dir + hd__parent_length(dir);
    for (last += strspn(last, "/"); *last && *last != '/'; last++) {
        hash = (hash ^ (unsigned char)*last) * 0x100000001b3;
    }
    snprintf(prefix, NAME_SIZE, ".heed-%016" PRIx64 "-", hash);
}

/* "." and ".." are names that no directory can be exchanged with. */
static bool has_own_name(const char *dir)
{
    const char *last = dir + hd__parent_length(dir);
    last += strspn(last, "/");
    size_t n = strcspn(last, "/");
    if (n != strspn(last, ".") || n < 1 || n > 2) {
        return true;
    }
    return hd_error_set(HD_VALUE, "%s: '%.*s' ends in '%.*s': expected the checkpoint's own name",
                        function, HD__CUT(dir), (int)n, last);
}

/* The path of a name beside dir. */
static bool path_beside(const char *dir, const char *name, hd__text *path)
{
    size_t n = hd__parent_length(dir);
    hd__text_cut(path, 0);
    hd__text_add(path, n ? dir : ".", n ? n : 1);
    hd__text_format(path, "/%s", name);
    return !path->failed;
}

static bool next_path(replacement *r)
{
    static atomic_uint count;
    char prefix[NAME_SIZE], name[2 * NAME_SIZE];
    prefix_of(r->dir, prefix);
    snprintf(name, sizeof name, "%s%ld-%u.tmp", prefix, (long)getpid(),
             atomic_fetch_add(&count, 1));
    return path_beside(r->dir, name, &r->temporary);
}

/* ---------------------------------------------------------------- directories without an owner */

/* Is the open directory fd still the one at path? */
static bool still_at(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static bool is_own(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_uid == geteuid();
}

/* Nobody writes to a directory whose lock is free. The lock is taken before the name is compared,
 * because the directory may have become the checkpoint before. */
static void clear_left_over(const char *path)
{
    int fd = hd__directory_open(path);
    if (fd < 0) {
        return;
    }
    if (is_own(fd) && hd__lock(fd) == 0 && still_at(fd, path)) {
        hd__directory_clear(fd, path);
    } else {
        close(fd);
    }
}

/* Removes what processes that were killed have left. What cannot be removed stays; false means that
 * memory ran out. */
static bool clear_left_overs(const char *dir)
{
    hd__text path = {0};
    char prefix[NAME_SIZE];
    prefix_of(dir, prefix);
    bool ok = path_beside(dir, ".", &path);
    DIR *parent = ok ? opendir(path.s) : NULL;
    for (struct dirent *each; ok && parent && (each = readdir(parent));) {
        if (strncmp(each->d_name, prefix, strlen(prefix)) == 0) {
            ok = path_beside(dir, each->d_name, &path);
            if (ok) {
                clear_left_over(path.s);
            }
        }
    }
    if (parent) {
        closedir(parent);
    }
    hd_free(path.s);
    return ok;
}

/* Makes the new directory. Between making it and locking it, another process may take it for one
 * that was left over; then the next name is tried. */
static bool make_directory(replacement *r)
{
    for (;;) {
        if (!next_path(r)) {
            return false;
        }
        if (mkdir(r->temporary.s, 0777) != 0) {
            if (errno == EEXIST) {
                continue;
            }
            return hd__create_fail(function, r->dir, "a directory", errno);
        }
        r->lock = hd__directory_open(r->temporary.s);
        if (r->lock < 0 && errno != ENOENT) {
            int cause = errno;
            rmdir(r->temporary.s);
            return hd__io_fail(function, r->dir, "open the new directory", cause);
        }
        if (r->lock >= 0 && hd__lock(r->lock) != EWOULDBLOCK && still_at(r->lock, r->temporary.s)) {
            return true;
        }
        if (r->lock >= 0) {
            close(r->lock);
            r->lock = -1;
        }
    }
}

/* ---------------------------------------------------------------- modes */

/* Sets the mode of a name in the new directory. Returns 0 or an errno; a file system without modes
 * is no failure, and a name that is gone is found later. */
static int set_mode(const replacement *r, const char *name, mode_t mode)
{
    bool ok = fchmodat(r->lock, name, mode & 07777, 0) == 0;
    bool ignored = errno == ENOENT || errno == EPERM || errno == ENOTSUP || errno == ENOSYS;
    return ok || ignored ? 0 : errno;
}

/* While it is filled, nobody else may read what the old checkpoint hides. */
static bool hide(replacement *r)
{
    struct stat st;
    int cause = fstat(r->lock, &st) == 0 ? set_mode(r, ".", 0700) : errno;
    if (cause != 0) {
        return hd__io_fail(function, r->dir, "set the mode of the new directory", cause);
    }
    r->mode = st.st_mode;
    return true;
}

/* Gives the new files and their directory the modes of the old ones. Returns 0 or an errno. */
static int copy_modes(const replacement *r)
{
    static const char *const names[] = {HD__MODEL_FILE, HD__STATE_FILE, "."};
    struct stat st;
    int old = hd__directory_open(r->dir), cause = old >= 0 ? 0 : errno;
    for (int i = 0; cause == 0 && i < 3; i++) {
        cause = fstatat(old, names[i], &st, 0) == 0 ? set_mode(r, names[i], st.st_mode) : errno;
    }
    if (old >= 0) {
        close(old);
    }
    return cause;
}

/* ---------------------------------------------------------------- the exchange */

static bool name_is_taken(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static bool exchange_fail(const char *dir, int cause)
{
    bool unknown = cause == ENOSYS || cause == EINVAL || cause == ENOTSUP;
    if (!unknown) {
        return hd__io_fail(function, dir, "exchange it with the new directory", cause);
    }
    return hd_error_set(HD_IO,
                        "%s: '%.*s': this file system cannot exchange two names, and nothing was "
                        "changed: use hd_checkpoint_save with a new name, then "
                        "hd_checkpoint_remove",
                        function, HD__CUT(dir));
}

/* Gives the new directory its name. *old: the old checkpoint has the temporary name now. If another
 * process makes or removes dir meanwhile, there is a next round. */
static bool publish(const replacement *r, bool *old)
{
    for (;;) {
        *old = name_is_taken(r->dir);
        if (!*old) {
            set_mode(r, ".", r->mode);
            if (rename(r->temporary.s, r->dir) == 0) {
                return true;
            }
            if (errno != EEXIST && errno != ENOTEMPTY) {
                return hd__io_fail(function, r->dir, "rename the new directory to it", errno);
            }
            continue;
        }
        if (!hd__checkpoint_removable(function, r->dir)) {
            return false;
        }
        int cause = copy_modes(r);
        if (cause == ENOENT) { /* another process has replaced or removed it */
            continue;
        }
        if (cause != 0) {
            return hd__io_fail(function, r->dir, "give the new directory its mode", cause);
        }
        cause = hd__exchange(r->temporary.s, r->dir);
        if (cause == 0) {
            return true;
        }
        if (cause != ENOENT || name_is_taken(r->dir)) {
            return exchange_fail(r->dir, cause);
        }
    }
}

/* Returns 0 or an errno. Another process that replaces the same checkpoint may have removed it. */
static int remove_temporary(const replacement *r)
{
    int fd = hd__directory_open(r->temporary.s);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return hd__directory_clear(fd, r->temporary.s);
}

static void take_back(const replacement *r, bool old)
{
    int cause = old ? hd__exchange(r->temporary.s, r->dir) : rename(r->dir, r->temporary.s);
    if (cause == 0) {
        remove_temporary(r);
    }
}

/* parent: the open directory of r->dir, which this function closes. */
static bool replace_in(int parent, replacement *r, const hd_dict *model, const hd_dict *state)
{
    bool old = false;
    if (!hide(r) || !hd__checkpoint_fill(function, r->temporary.s, model, state) ||
        !publish(r, &old)) {
        close(parent);
        set_mode(r, ".", 0700); /* the old one's mode may forbid to remove its files */
        remove_temporary(r);
        return false;
    }
    int cause = hd__sync_close(parent);
    if (cause != 0) {
        take_back(r, old);
        return hd__io_fail(function, r->dir, "sync its directory", cause);
    }
    cause = old ? remove_temporary(r) : 0;
    if (cause != 0) {
        char why[128] = "unknown error";
        strerror_r(cause, why, sizeof why);
        hd__warn(
            "%s: the old checkpoint of '%.*s' is left as '%.*s', because it cannot be removed: "
            "%s; remove it, or the next call tries again",
            function, HD__CUT(r->dir), HD__CUT(r->temporary.s), why);
    }
    return true;
}

bool hd_checkpoint_replace(const char *dir, const hd_dict *model, const hd_dict *state)
{
    if (!hd__checkpoint_args(function, dir, model, state) || !has_own_name(dir) ||
        (name_is_taken(dir) && !hd__checkpoint_removable(function, dir))) {
        return false;
    }
    replacement r = {.dir = dir, .lock = -1};
    hd_dict *encoded = hd__checkpoint_encode(state);
    int parent = encoded ? hd__parent_open(dir) : -1;
    bool ok = encoded && (parent >= 0 || hd__create_fail(function, dir, "a directory", errno));
    if (ok && clear_left_overs(dir) && make_directory(&r)) {
        ok = replace_in(parent, &r, model, encoded);
    } else if (ok) {
        close(parent);
        ok = false;
    }
    if (r.lock >= 0) {
        close(r.lock);
    }
    hd_free(r.temporary.s);
    hd_dict_free(encoded);
    return ok;
}
