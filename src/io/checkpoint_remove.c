/* checkpoint_remove.c - removes checkpoints.
 *
 * First the directory is renamed to a hidden name (base/files/folder.h), so no program finds half a
 * checkpoint. Then its files are removed. If the rename cannot be synced to disk, the directory
 * gets its old name back. If a file cannot be removed, the next call of hd_checkpoint_remove
 * removes the rest of the hidden directory. */
#include <errno.h>

#include "io/checkpoint.h"

/* ---------------------------------------------------------------- what may be removed */

static bool is_missing(int cause)
{
    return cause == ENOENT || cause == ENOTDIR;
}

/* Returns false with an error if dir is a symbolic link: neither the link nor its target may be
 * removed. Returns true if dir does not exist; check_holds reports this. */
static bool check_no_link(const char *dir)
{
    hd__sys_info info;
    if (hd__sys_stat(HD__SYS_HERE, dir, false, &info) != 0) {
        return is_missing(errno) || hd__file_fail(dir, "stat", errno);
    }
    return info.kind != HD__SYS_LINK ||
           hd_fail(HD_FORMAT, "'%.*s' is a symbolic link: expected the checkpoint's own path",
                   HD__CUT(dir));
}

/* Returns false with an error unless dir has a regular file with the name `file`. If dir itself
 * does not exist, perhaps because another process has just moved it, the message says that. */
static bool check_holds(const char *dir, const char *file)
{
    HD__SCOPE_OR(false);
    hd__sys_info info;
    const char *path = hd__io_path_in(dir, strlen(dir), file);
    if (!path) {
        return false;
    }
    bool found = hd__sys_stat(HD__SYS_HERE, path, true, &info) == 0;
    if (!found && !is_missing(errno)) {
        return hd__file_fail(path, "stat", errno);
    }
    if (found && info.kind == HD__SYS_FILE) {
        return true;
    }
    if (is_missing(hd__folder_stat_cause(dir))) {
        return hd_fail(HD_FORMAT, "'%.*s' does not exist: expected a checkpoint", HD__CUT(dir));
    }
    return hd_fail(HD_FORMAT, "'%.*s' holds no %s: expected a checkpoint", HD__CUT(dir), file);
}

/* Returns false with an error if dir contains a directory. Without this check, the removal would
 * fail at this directory, when some files are already removed. */
static bool check_files_only(const char *dir)
{
    hd__sys_list *list = hd__sys_list_at(dir);
    if (!list) {
        return hd__file_fail(dir, "open", errno);
    }
    hd__sys_info info;
    int cause = 0;
    bool ok = true;
    for (const char *name; ok && (name = hd__sys_list_next(list, &cause));) {
        bool there = hd__sys_stat(hd__sys_list_fd(list), name, false, &info) == 0;
        if (there && info.kind == HD__SYS_DIRECTORY) {
            ok = hd_fail(HD_FORMAT, "'%.*s' holds the directory '%.*s': expected files",
                         HD__CUT(dir), HD__CUT(name));
            /* ENOENT: another process has removed the file meanwhile */
        } else if (!there && errno != ENOENT) {
            ok = hd__file_fail(dir, "read", errno);
        }
    }
    hd__sys_list_end(list);
    return ok && (cause == 0 || hd__file_fail(dir, "read", cause));
}

bool hd__checkpoint_removable(const char *dir)
{
    return check_no_link(dir) && check_holds(dir, HD__MODEL_FILE) &&
           check_holds(dir, HD__STATE_FILE) && check_files_only(dir);
}

/* ---------------------------------------------------------------- removing */

/* Sets the error HD_IO and returns false. The message says that `what` failed with the errno cause,
 * and that the rest of the checkpoint is at `hidden`. */
static bool left_at(const char *dir, const char *what, int cause, const char *hidden)
{
    return hd_fail(HD_IO, "'%.*s': cannot %s: %s. The rest is at '%.*s'; the next call removes it",
                   HD__CUT(dir), what, HD__WHY(cause), HD__CUT(hidden));
}

/* Syncs and closes `parent`, the open directory that contains both f->path and f->hidden. Then
 * removes the files of f->hidden, and the directory itself. If the sync fails, renames f->hidden
 * back to f->path. Returns false with an error if the sync or the removal fails. */
static bool remove_hidden(int parent, hd__folder *f)
{
    int cause = hd__file_sync_close(parent);
    if (cause != 0 && hd__sys_rename(f->hidden, f->path) == 0) {
        return hd__file_fail(f->path, "sync its directory", cause);
    }
    if (cause != 0) {
        return left_at(f->path, "sync its directory", cause, f->hidden);
    }
    cause = hd__folder_hidden_clear(f);
    return cause == 0 || left_at(f->path, "remove its files", cause, f->hidden);
}

/* Returns 0 if this process may remove files in the open directory fd. Otherwise returns the errno
 * that says why not. The owner of the directory may always remove them, because the owner can
 * change its permissions. */
static int unremovable_cause(int fd)
{
    hd__sys_info info;
    if (hd__sys_fstat(fd, &info) != 0) {
        return errno;
    }
    return info.own || hd__sys_may_remove_in(fd) == 0 ? 0 : errno;
}

/* Removes the checkpoint at f->path, and closes `parent`, its open parent directory. Locks the
 * directory of the checkpoint before giving it a hidden name. Without the lock, another call would
 * remove the hidden directory as the rest of a failed call. Returns false with an error if the
 * checkpoint cannot be removed. */
static bool remove_in(int parent, hd__folder *f)
{
    f->lock = hd__sys_open_directory(f->path, false);
    int cause = f->lock < 0 ? errno : unremovable_cause(f->lock);
    if (cause != 0) {
        hd__file_fail(f->path, f->lock < 0 ? "open" : "remove its files", cause);
    } else {
        hd__sys_lock(f->lock);
        if (hd__sys_rename(f->path, f->hidden) == 0) {
            return remove_hidden(parent, f);
        }
        hd__file_fail(f->path, "rename", errno);
    }
    hd__sys_drop(parent);
    return false;
}

/* Removes the hidden directories that earlier calls for f->path have left because they failed or
 * were killed. Sets *gone to true if there was such a directory and f->path does not exist: then
 * nothing of the checkpoint is left. Sets *gone to false otherwise. Returns false with an error if
 * f->path does not exist and one of these directories cannot be removed. */
static bool go_on(const hd__folder *f, bool *gone)
{
    hd__file_left_overs left = {0};
    int cause = hd__folder_stat_cause(f->path);
    *gone = cause != 0;
    if (*gone && !is_missing(cause)) {
        return hd__file_fail(f->path, "stat", cause);
    }
    hd__folder_left_overs_clear(f, &left);
    if (*gone && left.unread != 0 && !is_missing(left.unread)) {
        return hd__file_fail(f->path, "read its directory", left.unread);
    }
    *gone = *gone && left.found > 0;
    return !*gone || left.cause == 0 || left_at(f->path, "remove its files", left.cause, left.path);
}

bool hd_checkpoint_remove(const char *dir)
{
    HD__CALL("hd_checkpoint_remove");
    hd__folder f = {.path = dir, .what = "checkpoint", .names = hd__checkpoint_files, .lock = -1};
    bool gone;
    if (!hd__arg_given("dir", dir) || !go_on(&f, &gone)) {
        return false;
    }
    if (gone) {
        return true;
    }
    if (!hd__checkpoint_removable(dir)) {
        return false;
    }
    hd__folder_hidden_name(&f);
    int parent = hd__file_parent_open(dir);
    bool ok =
        (parent >= 0 || hd__file_fail(dir, "open its directory", errno)) && remove_in(parent, &f);
    hd__sys_drop(f.lock);
    return ok;
}
