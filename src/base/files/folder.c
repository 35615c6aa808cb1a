/* folder.c - writes and removes folders by way of hidden directories.
 *
 * A new folder is filled under its hidden name and then gets its own name. Every file in it is
 * synced before the rename, and the parent directory after it. If the new folder replaces an old
 * one, the system exchanges the two names in one step, and the old folder is removed under the
 * hidden name. */
#include "base/files/hidden.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 64 };

/* ---------------------------------------------------------------- names */

/* Writes to `path` the path of the file `name` in the folder's parent directory. A path that does
 * not fit is cut off; the system could not open it anyway. */
static void path_beside(const hd__folder *f, const char *name, char path[HD__HIDDEN_PATH])
{
    snprintf(path, HD__HIDDEN_PATH, "%.*s%s/%s", (int)hd__file_parent_length(f->path), f->path,
             hd__file_parent_end(f->path), name);
}

void hd__folder_hidden_name(hd__folder *f)
{
    static atomic_uint count;
    char prefix[HD__PREFIX], name[NAME_SIZE];
    hd__file_hidden_prefix(f->path, prefix);
    snprintf(name, sizeof name, "%s%ld-%u.tmp", prefix, hd__sys_process(),
             atomic_fetch_add(&count, 1));
    path_beside(f, name, f->hidden);
}

/* ---------------------------------------------------------------- looking */

int hd__folder_stat_cause(const char *path)
{
    hd__sys_info info;
    return hd__sys_stat(HD__SYS_HERE, path, false, &info) == 0 ? 0 : errno;
}

bool hd__folder_still_at(int fd, const char *path, bool follow, int *cause)
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

/* ---------------------------------------------------------------- removing */

/* Removes the files with these names from the open directory fd. Returns 0 or an errno; a missing
 * file is no failure. Unlike a listing, this needs no memory. */
static int clear_by_name(int fd, const char *const *names)
{
    int cause = 0;
    for (; *names && cause == 0; names++) {
        cause = hd__sys_unlink(fd, *names) == 0 || errno == ENOENT ? 0 : errno;
    }
    return cause;
}

/* First makes the directory writable. If that fails, unlink fails, too, and gives the errno. Keeps
 * fd open, and with it the lock, until the directory is gone. Otherwise another process could take
 * the directory for a left-over one. */
int hd__folder_directory_clear(int fd, const char *path, const char *const *names)
{
    hd__sys_chmod(fd, ".", 0700);
    hd__sys_list *dir = hd__sys_list_of(fd);
    int cause = dir ? 0 : errno == ENOMEM ? clear_by_name(fd, names) : errno, read = 0;
    for (const char *name; dir && cause == 0 && (name = hd__sys_list_next(dir, &read));) {
        cause = hd__sys_unlink(fd, name) == 0 || errno == ENOENT ? 0 : errno;
    }
    cause = cause ? cause : read ? read : hd__sys_rmdir(path) == 0 || errno == ENOENT ? 0 : errno;
    dir ? hd__sys_list_end(dir) : hd__sys_drop(fd);
    return cause;
}

int hd__folder_hidden_clear(hd__folder *f)
{
    int fd = f->lock;
    f->lock = -1;
    return hd__folder_directory_clear(fd, f->hidden, f->names);
}

/* Warns that a directory is left under the hidden name, because removing it failed with the errno
 * `cause`. Does nothing if cause is 0. `which` is "old" or "unfinished". */
static void warn_if_left(const hd__folder *f, const char *which, int cause)
{
    if (cause != 0) {
        hd_warn("the %s %s of '%.*s' is left as '%.*s', because removing it failed: %s. The next "
                "call tries again; you may also remove it yourself",
                which, f->what, HD__CUT(f->path), HD__CUT(f->hidden), HD__WHY(cause));
    }
}

static void drop_unfinished(hd__folder *f)
{
    warn_if_left(f, "unfinished", hd__folder_hidden_clear(f));
}

/* ---------------------------------------------------------------- left-over directories */

/* Locks the open directory fd. Returns true if this process's user owns it, no other process has
 * locked it, and it is still at path. Locks the directory before it looks at path, because another
 * process may have given the directory its final name just before. If a system call fails,
 * returns false with its errno in *cause; otherwise sets *cause to 0. */
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
    return hd__folder_still_at(fd, path, false, cause);
}

/* If no process uses the hidden directory at path, sets *found and removes the directory. Returns
 * 0, or the errno of the first failure. */
static int clear_left_over(const hd__folder *f, const char *path, bool *found)
{
    int fd = hd__sys_open_directory(path, false), cause;
    if (fd < 0) { /* path no longer exists, or is now a file or a link */
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
    }
    *found = is_unused(fd, path, &cause);
    if (*found) {
        return hd__folder_directory_clear(fd, path, f->names);
    }
    hd__sys_drop(fd);
    return cause;
}

void hd__folder_left_overs_clear(const hd__folder *f, hd__file_left_overs *left)
{
    char prefix[HD__PREFIX], path[HD__HIDDEN_PATH];
    path_beside(f, ".", path);
    hd__sys_list *parent = hd__sys_list_at(path);
    if (!parent) {
        left->unread = errno;
        return;
    }
    hd__file_hidden_prefix(f->path, prefix);
    for (const char *name; (name = hd__sys_list_next(parent, &left->unread));) {
        if (strncmp(name, prefix, strlen(prefix)) == 0) {
            bool found = false;
            path_beside(f, name, path);
            int cause = clear_left_over(f, path, &found);
            left->found += found || cause != 0;
            if (cause != 0 && left->cause == 0) { /* *left keeps the first failure only */
                left->cause = cause;
                memcpy(left->path, path, sizeof path);
            }
        }
    }
    hd__sys_list_end(parent);
}

/* ---------------------------------------------------------------- making */

/* Opens the directory that was just made, as f->lock, and locks it. Returns false with an errno in
 * *cause if that fails, or with 0 if another process has taken the directory for a left-over
 * one. */
static bool lock_new(hd__folder *f, int *cause)
{
    f->lock = hd__sys_open_directory(f->hidden, false);
    if (f->lock < 0) {
        *cause = errno == ENOENT ? 0 : errno;
        return false;
    }
    *cause = 0;
    if (hd__sys_lock(f->lock) == EWOULDBLOCK ||
        !hd__folder_still_at(f->lock, f->hidden, false, cause)) {
        hd__sys_drop(f->lock);
        f->lock = -1;
    }
    return f->lock >= 0;
}

static bool hidden_make(hd__folder *f)
{
    for (;;) {
        int cause;
        hd__folder_hidden_name(f);
        if (hd__sys_mkdir(f->hidden) != 0) {
            if (errno == EEXIST) {
                continue;
            }
            return hd__file_create_fail(f->path, "a directory", errno);
        }
        if (lock_new(f, &cause)) {
            return true;
        }
        if (cause != 0) {
            bool gone = hd__sys_rmdir(f->hidden) == 0 || errno == ENOENT;
            warn_if_left(f, "unfinished", gone ? 0 : errno);
            return hd__file_fail(f->path, "open the new directory", cause);
        }
    }
}

/* ---------------------------------------------------------------- writing */

bool hd__folder_place_ok(const hd__folder *f)
{
    int cause = hd__folder_stat_cause(f->path);
    if (cause != 0) {
        return cause == ENOENT || hd__file_create_fail(f->path, "a directory", cause);
    }
    if (f->replaceable) {
        return f->replaceable(f->path);
    }
    return hd_fail(HD_IO, "'%.*s' exists already. Choose a new name%s", HD__CUT(f->path),
                   f->advice ? f->advice : "");
}

static bool show_new(const hd__folder *f)
{
    return hd__folder_place_ok(f) &&
           (hd__sys_rename(f->hidden, f->path) == 0 ||
            hd__file_fail(f->path, "rename the new directory to it", errno));
}

/* If a signal interrupts the exchange, looks whether the new directory is at path already, and
 * tries again if it is not. */
int hd__folder_exchange_to(const hd__folder *f, const char *path)
{
    int cause, unknown = 0;
    do {
        cause = hd__sys_exchange(f->hidden, f->path);
    } while (cause == EINTR && !hd__folder_still_at(f->lock, path, false, &unknown) &&
             unknown == 0);
    return cause == EINTR ? unknown : cause;
}

/* Handles a failed sync of the parent directory, whose errno is `cause`. The new folder is at its
 * path, and an old one has the hidden name, but a crash may undo this. Unless another process has
 * replaced the folder since, undoes the rename, and then removes the new directory under its hidden
 * name, so no reader finds half of it. Returns false with HD_IO; the message says which folder is
 * where. */
static bool take_back(hd__folder *f, int cause)
{
    int unknown;
    bool own = hd__folder_still_at(f->lock, f->path, false, &unknown);
    bool back = own && (f->old ? hd__folder_exchange_to(f, f->hidden)
                               : hd__sys_rename(f->path, f->hidden)) == 0;
    if (back || (!f->old && !own && unknown == 0)) {
        hd__file_fail(f->path, "sync its directory", cause);
        if (back) {
            drop_unfinished(f);
        }
        return false;
    }
    if (f->old) {
        return hd_fail(HD_IO,
                       "'%.*s' is replaced, but a crash may undo that, because its directory "
                       "cannot be synced: %s. The old one is left as '%.*s', and the next call "
                       "removes it",
                       HD__CUT(f->path), HD__WHY(cause), HD__CUT(f->hidden));
    }
    return hd_fail(
        HD_IO,
        "'%.*s': cannot sync its directory: %s. The new %s is in place, but a crash may lose it",
        HD__CUT(f->path), HD__WHY(cause), f->what);
}

/* Removes the old folder, which has the hidden name, and warns if that fails. Another process that
 * replaces the same folder may have removed it already, which is no failure. */
static void remove_old(const hd__folder *f)
{
    int fd = hd__sys_open_directory(f->hidden, false);
    int cause = fd >= 0           ? hd__folder_directory_clear(fd, f->hidden, f->names)
                : errno == ENOENT ? 0
                                  : errno;
    warn_if_left(f, "old", cause);
}

/* Writes the folder into the open directory `parent`, and closes parent. Returns false with an
 * error if that fails. */
static bool write_in(int parent, hd__folder *f)
{
    bool made = hidden_make(f);
    hd__file_names_below(f->hidden, f->path);
    bool full = made && f->fill(f);
    hd__file_names_below(NULL, NULL);
    if (!full || !(f->show ? f->show(f) : show_new(f))) {
        hd__sys_drop(parent);
        if (made) {
            drop_unfinished(f);
        }
        return false;
    }
    int cause = hd__file_sync_close(parent);
    if (cause != 0) {
        return take_back(f, cause);
    }
    if (f->old) {
        remove_old(f);
    }
    return true;
}

bool hd__folder_write(hd__folder *f)
{
    if (!hd__folder_place_ok(f)) {
        return false;
    }
    int parent = hd__file_parent_open(f->path);
    if (parent < 0) {
        return hd__file_create_fail(f->path, "a directory", errno);
    }
    f->lock = -1;
    hd__folder_left_overs_clear(f, &(hd__file_left_overs){0});
    bool ok = write_in(parent, f);
    hd__sys_drop(f->lock);
    return ok;
}
