/* folder.c - a folder that appears whole or not at all.
 *
 * It is filled as a hidden directory beside its place, which it then takes in one step. The hidden
 * name is made from the folder's name, and the directory is locked while a process uses it. If that
 * process is killed, or cannot remove it, it is left over without a lock. The next call that writes
 * the same folder empties it and uses it. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text/whole.h"
#include "hf/hf_internal.h"

typedef struct hidden_folder {
    const char *function, *path;
    int lock; /* the open directory */
} hidden_folder;

/* Removes all files in it; returns 0 or an errno. */
static int hidden_empty(const hidden_folder *h)
{
    hd__sys_list *list = hd__sys_list_at(h->path);
    int cause = list ? 0 : errno, read = 0;
    for (const char *name; cause == 0 && (name = hd__sys_list_next(list, &read));) {
        cause = hd__sys_unlink(h->lock, name) == 0 || errno == ENOENT ? 0 : errno;
    }
    if (list) {
        hd__sys_list_end(list);
    }
    return cause ? cause : read;
}

/* Removes it, and warns if that fails. */
static void hidden_remove(hidden_folder *h)
{
    int cause = hidden_empty(h);
    cause = cause || hd__sys_rmdir(h->path) == 0 ? cause : errno;
    hd__sys_drop(h->lock);
    if (cause) {
        hd_warn("%s: '%.*s' is left, which cannot be removed: %s; remove it, or the next call "
                "tries again",
                h->function, HD__CUT(h->path), HD__WHY(cause));
    }
}

/* Locks the directory, which must be the user's own and still have its name. Returns 0 or an
 * errno. */
static int hidden_lock(const hidden_folder *h)
{
    hd__sys_info open_one, named;
    int cause = h->lock < 0 ? errno : hd__sys_lock(h->lock);
    if (cause || hd__sys_fstat(h->lock, &open_one) != 0 ||
        hd__sys_stat(HD__SYS_HERE, h->path, false, &named) != 0) {
        return cause ? cause : errno;
    }
    return !open_one.own                                                        ? EACCES
           : open_one.device == named.device && open_one.number == named.number ? 0
                                                                                : EWOULDBLOCK;
}

/* Makes the directory, or takes one that is left over. */
static bool hidden_make(hidden_folder *h, const char *folder)
{
    bool made = hd__sys_mkdir(h->path) == 0;
    if (!made && errno != EEXIST) {
        return hd__create_fail(h->function, folder, "a directory", errno);
    }
    h->lock = hd__sys_open_directory(h->path, false);
    int cause = hidden_lock(h);
    cause = cause || made ? cause : hidden_empty(h);
    if (cause) {
        hd__sys_drop(h->lock);
        if (made && cause != EWOULDBLOCK) {
            hd__sys_rmdir(h->path);
        }
        hd__io_fail(h->function, h->path, "use the directory", cause);
    }
    return cause == 0;
}

/* Gives the directory the folder's name. */
static bool hidden_show(hidden_folder *h, const char *folder)
{
    int parent = hd__parent_open(folder);
    int cause = parent < 0 || hd__sys_rename(h->path, folder) != 0 ? errno : 0;
    if (cause) {
        hd__sys_drop(parent);
        hidden_remove(h);
        return hd__create_fail(h->function, folder, "a directory", cause);
    }
    hd__sys_drop(h->lock);
    cause = hd__sync_close(parent);
    return cause == 0 ||
           hd__io_fail(h->function, folder, "sync its folder, although it is written", cause);
}

bool hd__folder_write(const char *function, const char *folder,
                      bool (*fill)(const char *hidden, void *user), void *user)
{
    hd__sys_info info;
    if (hd__sys_stat(HD__SYS_HERE, folder, false, &info) == 0) {
        return hd_error_set(HD_IO, "%s: '%.*s' exists already: expected a new name", function,
                            HD__CUT(folder));
    }
    hd__text path = {0};
    const char *last = hd__last_part(folder);
    hd__text_add(&path, folder, hd__parent_length(folder));
    hd__text_format(&path, "%s.heed-%016" PRIx64 ".tmp", path.len > 0 ? "/" : "",
                    hd__hash(last, strcspn(last, "/")));
    hidden_folder h = {function, path.s, -1};
    bool ok = !path.failed && hidden_make(&h, folder);
    if (ok) {
        ok = fill(h.path, user);
        if (ok) {
            ok = hidden_show(&h, folder);
        } else {
            hidden_remove(&h);
        }
    }
    hd_free(path.s);
    return ok;
}
