/* save.c - saves the whole state of a run as a directory, a checkpoint, which appears complete or
 * not at all. It has a new name, or takes the place of an old one.
 *
 * The new one is filled in a hidden directory beside its final name (hidden.c) and then gets this
 * name. Every file in it is synced before that, its parent after it. If there is an old one, the
 * system exchanges the two names in one step. After the exchange the old checkpoint has the hidden
 * directory's name and is removed. */
#include <errno.h>
#include <string.h>

#include "io/checkpoint.h"

typedef struct saving {
    const char *dir;
    hd__hidden new; /* its path is that of the old directory after the exchange */
    unsigned mode;  /* what it was made with */
} saving;

/* ---------------------------------------------------------------- arguments */

static bool check_model(const hd_dict *model)
{
    for (int64_t i = 0; i < hd_dict_len(model); i++) {
        const char *name = hd_dict_name(model, i);
        if (hd_dict_kind_of(model, name) != HD_DICT_TENSOR) {
            return hd__fail(HD_VALUE,
                            "model: '%.*s' is not a tensor: expected only tensors in "
                            "model, and all else in state",
                            HD__CUT(name));
        }
    }
    return true;
}

/* "." and ".." are names that no directory can be exchanged with. */
static bool has_own_name(const char *dir)
{
    const char *last = hd__last_part(dir);
    size_t n = strcspn(last, "/");
    if (n != strspn(last, ".") || n < 1 || n > 2) {
        return true;
    }
    return hd__fail(HD_VALUE, "'%.*s' ends in '%.*s': expected the checkpoint's own name",
                    HD__CUT(dir), (int)n, last);
}

/* Is there nothing at dir or, to be replaced, a checkpoint? A new name must not even be that of an
 * empty directory, which rename would replace. */
static bool check_target(const char *dir, bool replaces)
{
    int cause = hd__stat_cause(dir);
    if (cause != 0) {
        return cause == ENOENT || hd__create_fail(hd__call, dir, "a directory", cause);
    }
    if (replaces) {
        return hd__checkpoint_removable(dir);
    }
    return hd__fail(HD_IO,
                    "'%.*s' exists already: expected a new name; hd_checkpoint_replace "
                    "replaces a checkpoint",
                    HD__CUT(dir));
}

/* ---------------------------------------------------------------- modes */

/* Sets the mode of a name in the new directory. Returns 0 or an errno; a file system without modes
 * is no failure, and a name that is gone is found later. */
static int set_mode(const saving *r, const char *name, unsigned mode)
{
    bool ok = hd__sys_chmod(r->new.lock, name, mode) == 0;
    bool ignored = errno == ENOENT || errno == EPERM || errno == ENOTSUP || errno == ENOSYS;
    return ok || ignored ? 0 : errno;
}

/* While it is filled, nobody else may read what the old checkpoint hides. */
static bool hide(saving *r)
{
    hd__sys_info info;
    int cause = hd__sys_fstat(r->new.lock, &info) == 0 ? set_mode(r, ".", 0700) : errno;
    if (cause != 0) {
        return hd__io_fail(hd__call, r->dir, "set the mode of the new directory", cause);
    }
    r->mode = info.mode;
    return true;
}

/* Gives the new files and their directory the modes of the old ones. Returns 0 or an errno. */
static int copy_modes(const saving *r)
{
    static const char *const names[] = {HD__MODEL_FILE, HD__STATE_FILE, "."};
    hd__sys_info info;
    int old = hd__sys_open_directory(r->dir, false), cause = old >= 0 ? 0 : errno;
    for (int i = 0; cause == 0 && i < 3; i++) {
        cause = hd__sys_stat(old, names[i], true, &info) == 0 ? set_mode(r, names[i], info.mode)
                                                              : errno;
    }
    hd__sys_drop(old);
    return cause;
}

/* ---------------------------------------------------------------- the exchange */

/* Exchanges the two names, so that the new directory has this path. Returns 0 or an errno. After an
 * interruption it looks which of the two has the path. */
static int exchange_to(const saving *r, const char *path)
{
    int cause, unknown = 0;
    do {
        cause = hd__sys_exchange(r->new.path, r->dir);
    } while (cause == EINTR && !hd__still_at(r->new.lock, path, false, &unknown) && unknown == 0);
    return cause == EINTR ? unknown : cause;
}

static bool exchange_fail(const char *dir, int cause)
{
    bool unknown = cause == ENOSYS || cause == EINVAL || cause == ENOTSUP;
    if (!unknown) {
        return hd__io_fail(hd__call, dir, "exchange it with the new directory", cause);
    }
    return hd__fail(HD_IO,
                    "'%.*s': this file system cannot exchange two names, and nothing was "
                    "changed: use hd_checkpoint_save with a new name, then "
                    "hd_checkpoint_remove",
                    HD__CUT(dir));
}

static bool publish_new(const saving *r)
{
    return check_target(r->dir, false) &&
           (hd__sys_rename(r->new.path, r->dir) == 0 ||
            hd__io_fail(hd__call, r->dir, "rename the new directory to it", errno));
}

/* Renames the new directory to dir, at which there is nothing. Returns false with 0 in *cause if
 * another process has made a directory there meanwhile, and with an errno, and the error set, after
 * a failure. */
static bool give_name(const saving *r, int *cause)
{
    *cause = set_mode(r, ".", r->mode);
    if (*cause != 0) {
        return hd__io_fail(hd__call, r->dir, "set the mode of the new directory", *cause);
    }
    if (hd__sys_rename(r->new.path, r->dir) == 0) {
        return true;
    }
    *cause = errno == EEXIST || errno == ENOTEMPTY ? 0 : errno;
    return *cause != 0 && hd__io_fail(hd__call, r->dir, "rename the new directory to it", *cause);
}

/* Gives the new directory its name. *old: the old checkpoint has the temporary name now. If another
 * process makes or removes dir meanwhile, there is a next round. */
static bool publish(const saving *r, bool *old)
{
    for (;;) {
        int cause;
        if (!check_target(r->dir, true)) {
            return false;
        }
        *old = hd__stat_cause(r->dir) == 0;
        if (!*old) {
            if (give_name(r, &cause) || cause != 0) {
                return cause == 0;
            }
            continue;
        }
        cause = copy_modes(r);
        if (cause == ENOENT) { /* another process has replaced or removed it */
            continue;
        }
        if (cause != 0) {
            return hd__io_fail(hd__call, r->dir, "give the new directory its mode", cause);
        }
        cause = exchange_to(r, r->dir);
        if (cause == 0) {
            return true;
        }
        if (cause != ENOENT || hd__stat_cause(r->dir) == 0) {
            return exchange_fail(r->dir, cause);
        }
    }
}

/* Returns 0 or an errno. Another process that replaces the same checkpoint may have removed it. */
static int remove_old(const saving *r)
{
    int fd = hd__sys_open_directory(r->new.path, false);
    if (fd < 0) {
        return errno == ENOENT ? 0 : errno;
    }
    return hd__directory_clear(fd, r->new.path);
}

/* The new directory has got the name dir, and the old one, if there was one, the hidden name, and
 * this cannot be made durable because of `cause`. It is undone, unless another process has replaced
 * the checkpoint since then. Then the new directory is removed, under its hidden name, so that
 * nobody finds a half removed one at dir. Returns false after HD_IO, which tells what stands
 * where. */
static bool take_back(saving *r, bool old, int cause)
{
    int unknown;
    const char *hidden = r->new.path;
    bool own = hd__still_at(r->new.lock, r->dir, false, &unknown);
    bool back = own && (old ? exchange_to(r, hidden) : hd__sys_rename(r->dir, hidden)) == 0;
    if (back || (!old && !own && unknown == 0)) {
        hd__io_fail(hd__call, r->dir, "sync its directory", cause);
        if (back) {
            hd__hidden_drop(r->dir, &r->new);
        }
        return false;
    }
    if (old) {
        return hd__fail(HD_IO,
                        "'%.*s': cannot sync its directory: %s: it is replaced, but a crash "
                        "may undo that; the old one is left as '%.*s', and the next call removes "
                        "it",
                        HD__CUT(r->dir), HD__WHY(cause), HD__CUT(hidden));
    }
    return hd__fail(HD_IO,
                    "'%.*s': cannot sync its directory: %s: the new checkpoint stands "
                    "there, but a crash may lose it",
                    HD__CUT(r->dir), HD__WHY(cause));
}

/* parent: the open directory of r->dir, which this function closes. */
static bool save_in(int parent, saving *r, const hd_dict *model, const hd_dict *encoded,
                    bool replaces)
{
    bool old = false;
    if ((replaces && !hide(r)) || !hd__checkpoint_fill(r->new.path, r->dir, model, encoded) ||
        !(replaces ? publish(r, &old) : publish_new(r))) {
        hd__sys_drop(parent);
        hd__hidden_drop(r->dir, &r->new);
        return false;
    }
    int cause = hd__sync_close(parent);
    if (cause != 0) {
        return take_back(r, old, cause);
    }
    cause = old ? remove_old(r) : 0;
    if (cause != 0) {
        hd__hidden_left("old", r->dir, r->new.path, cause);
    }
    return true;
}

static bool save(const char *dir, const hd_dict *model, const hd_dict *state, bool replaces)
{
    HD__SCOPE_OR(false);
    if (!hd__given("dir", dir) || !hd__object("model", model) || !hd__object("state", state) ||
        !hd__may_save(hd__call) || !check_model(model) || (replaces && !has_own_name(dir)) ||
        !check_target(dir, replaces)) {
        return false;
    }
    saving r = {.dir = dir, .new.lock = -1};
    hd_dict *encoded = hd__checkpoint_encode(state);
    int parent = encoded ? hd__parent_open(dir) : -1;
    bool ok = encoded && (parent >= 0 || hd__create_fail(hd__call, dir, "a directory", errno));
    if (ok && hd__left_overs_clear(dir, &(hd__left_overs){0}) && hd__hidden_make(dir, &r.new)) {
        ok = save_in(parent, &r, model, encoded, replaces);
    } else {
        hd__sys_drop(parent);
        ok = false;
    }
    hd__sys_drop(r.new.lock);
    hd_dict_free(encoded);
    return ok;
}

bool hd_checkpoint_save(const char *dir, const hd_dict *model, const hd_dict *state)
{
    HD__CALL("hd_checkpoint_save");
    return save(dir, model, state, false);
}

bool hd_checkpoint_replace(const char *dir, const hd_dict *model, const hd_dict *state)
{
    HD__CALL("hd_checkpoint_replace");
    return save(dir, model, state, true);
}
