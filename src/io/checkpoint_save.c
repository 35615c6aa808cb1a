/* checkpoint_save.c - saves a checkpoint, a directory that appears complete or not at all. The
 * directory gets a new name, or takes the place of an old checkpoint (base/files/folder.h). */
#include <errno.h>
#include <string.h>

#include "base/memory/object.h"
#include "io/checkpoint.h"

typedef struct saving {
    const hd_dict *model, *encoded;
    unsigned mode; /* the permissions with which the new directory was made */
} saving;

/* ---------------------------------------------------------------- arguments */

static bool check_model(const hd_dict *model)
{
    for (int64_t i = 0; i < hd_dict_len(model); i++) {
        const char *name = hd_dict_name(model, i);
        if (hd_dict_kind_of(model, name) != HD_DICT_TENSOR) {
            return hd_fail(
                HD_VALUE,
                "model: '%.*s' is not a tensor: expected only tensors. Put other values into state",
                HD__CUT(name));
        }
    }
    return true;
}

/* Returns false with an error if dir ends in "." or "..", because such a path cannot be exchanged
 * with another directory. */
static bool has_own_name(const char *dir)
{
    const char *last = hd__file_last_part(dir);
    size_t n = strcspn(last, HD__SLASHES);
    if (n != strspn(last, ".") || n < 1 || n > 2) {
        return true;
    }
    return hd_fail(HD_VALUE, "'%.*s' ends in '%.*s': expected the checkpoint's own name",
                   HD__CUT(dir), (int)n, last);
}

/* ---------------------------------------------------------------- modes */

/* Sets the permissions of `name` in the new directory to `mode`. Returns 0, or an errno if this
 * fails. Also returns 0 if the file system has no permissions, or if `name` does not exist, which a
 * later step reports. */
static int set_mode(const hd__folder *f, const char *name, unsigned mode)
{
    bool ok = hd__sys_chmod(f->lock, name, mode) == 0;
    bool ignored = errno == ENOENT || errno == EPERM || errno == ENOTSUP || errno == ENOSYS;
    return ok || ignored ? 0 : errno;
}

/* Denies other users access to the new directory while it is filled, because the old one may be
 * private. Sets saving.mode to the permissions that the new directory had before; give_name
 * restores them. Returns false with an error if this fails. */
static bool hide(hd__folder *f)
{
    hd__sys_info info;
    int cause = hd__sys_fstat(f->lock, &info) == 0 ? set_mode(f, ".", 0700) : errno;
    if (cause != 0) {
        return hd__file_fail(f->path, "set the mode of the new directory", cause);
    }
    ((saving *)f->user)->mode = info.mode;
    return true;
}

/* Copies the permissions of the old directory and its two files to the new ones. Returns 0, or an
 * errno if this fails: ENOENT if another process has moved the old directory. */
static int copy_modes(const hd__folder *f)
{
    static const char *const names[] = {HD__MODEL_FILE, HD__STATE_FILE, "."};
    hd__sys_info info;
    int old = hd__sys_open_directory(f->path, false), cause = old >= 0 ? 0 : errno;
    for (int i = 0; cause == 0 && i < 3; i++) {
        cause = hd__sys_stat(old, names[i], true, &info) == 0 ? set_mode(f, names[i], info.mode)
                                                              : errno;
    }
    hd__sys_drop(old);
    return cause;
}

/* ---------------------------------------------------------------- the exchange */

static bool exchange_fail(const char *dir, int cause)
{
    bool unknown = cause == ENOSYS || cause == EINVAL || cause == ENOTSUP;
    if (!unknown) {
        return hd__file_fail(dir, "exchange it with the new directory", cause);
    }
    return hd_fail(HD_IO,
                   "'%.*s': this file system cannot exchange two names, so nothing was changed. "
                   "Use hd_checkpoint_save with a new name, then hd_checkpoint_remove",
                   HD__CUT(dir));
}

/* Renames the new directory to f->path, which did not exist a moment ago. If another process has
 * made a directory there meanwhile, sets *cause to 0 and returns false, without an error. On any
 * other failure, sets *cause to the errno and returns false with an error. */
static bool give_name(const hd__folder *f, int *cause)
{
    *cause = set_mode(f, ".", ((saving *)f->user)->mode);
    if (*cause != 0) {
        return hd__file_fail(f->path, "set the mode of the new directory", *cause);
    }
    if (hd__sys_rename(f->hidden, f->path) == 0) {
        return true;
    }
    *cause = errno == EEXIST || errno == ENOTEMPTY ? 0 : errno;
    return *cause != 0 && hd__file_fail(f->path, "rename the new directory to it", *cause);
}

/* Moves the new directory to f->path. If f->path exists, exchanges the two directories, and f->old
 * becomes true. Tries again if another process makes or removes f->path meanwhile. Returns false
 * with an error if the directory cannot be moved. */
static bool publish(hd__folder *f)
{
    for (;;) {
        int cause;
        if (!hd__folder_place_ok(f)) {
            return false;
        }
        f->old = hd__folder_stat_cause(f->path) == 0;
        if (!f->old) {
            if (give_name(f, &cause) || cause != 0) {
                return cause == 0;
            }
            continue;
        }
        cause = copy_modes(f);
        if (cause == ENOENT) { /* another process has replaced or removed f->path */
            continue;
        }
        if (cause != 0) {
            return hd__file_fail(f->path, "give the new directory its mode", cause);
        }
        cause = hd__folder_exchange_to(f, f->path);
        if (cause == 0) {
            return true;
        }
        if (cause != ENOENT || hd__folder_stat_cause(f->path) == 0) {
            return exchange_fail(f->path, cause);
        }
    }
}

/* ---------------------------------------------------------------- saving */

static bool fill_checkpoint(hd__folder *f)
{
    const saving *s = f->user;
    return (!f->replaceable || hide(f)) && hd__checkpoint_fill(f->hidden, s->model, s->encoded);
}

static bool save(const char *dir, const hd_dict *model, const hd_dict *state, bool replaces)
{
    HD__SCOPE_OR(false);
    saving s = {.model = model};
    hd__folder f = {.path = dir,
                    .what = "checkpoint",
                    .advice = ", or replace the checkpoint by hd_checkpoint_replace",
                    .names = hd__checkpoint_files,
                    .fill = fill_checkpoint,
                    .replaceable = replaces ? hd__checkpoint_removable : NULL,
                    .show = replaces ? publish : NULL,
                    .user = &s};
    if (!hd__arg_given("dir", dir) || !hd__object("model", model) || !hd__object("state", state) ||
        !hd__arg_may_save() || !check_model(model) || (replaces && !has_own_name(dir))) {
        return false;
    }
    hd_dict *encoded = hd__checkpoint_encode(state);
    s.encoded = encoded;
    bool ok = encoded && hd__folder_write(&f);
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
