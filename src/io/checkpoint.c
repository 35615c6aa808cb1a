/* checkpoint.c - saves the whole state of a run as a directory, which appears complete or not at
 * all.
 *
 * The directory is filled under a temporary name beside its final one and then renamed. Every file
 * in it is synced before that, its parent after it. The numbers and strings of the state are texts
 * in the metadata of state.safetensors. The first word of such a text tells its kind: "int -3",
 * "double 3fb999999999999a", "string any text". A double is written as its bits, so that nothing is
 * lost and the locale does not matter. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/checkpoint.h"

static const char model_file[] = HD__MODEL_FILE, state_file[] = HD__STATE_FILE;
static const char version_name[] = "heed.version", level_name[] = "heed.cpu_level";

/* ---------------------------------------------------------------- state as tensors and strings */

static bool encode_string(hd_dict *to, const char *name, const char *s)
{
    hd__text t = {0};
    hd__text_puts(&t, "string ");
    hd__text_puts(&t, s); /* as long as s may be; a format has at most 2 GiB */
    bool ok = !t.failed && hd_dict_set_string(to, name, t.s);
    hd_free(t.s);
    return ok;
}

static bool encode_value(hd_dict *to, const hd_dict *d, const char *name)
{
    hd__text t = {0};
    int64_t i = 0;
    double v = 0;
    uint64_t bits;
    switch (hd_dict_kind_of(d, name)) {
    case HD_DICT_TENSOR: return hd_dict_set(to, name, hd_dict_get(d, name));
    case HD_DICT_INT:
        hd_dict_get_int(d, name, &i);
        hd__text_format(&t, "int %" PRId64, i);
        break;
    case HD_DICT_DOUBLE:
        hd_dict_get_double(d, name, &v);
        memcpy(&bits, &v, sizeof bits);
        hd__text_format(&t, "double %016" PRIx64, bits);
        break;
    default: return encode_string(to, name, hd_dict_get_string(d, name));
    }
    bool ok = !t.failed && hd_dict_set_string(to, name, t.s);
    hd_free(t.s);
    return ok;
}

static bool encode_all(hd_dict *to, const hd_dict *state)
{
    for (int64_t i = 0; i < hd_dict_len(state); i++) {
        if (!encode_value(to, state, hd_dict_name(state, i))) {
            return false;
        }
    }
    return encode_string(to, version_name, hd_version()) &&
           encode_string(to, level_name, hd_cpu_level() ? hd_cpu_level() : "");
}

/* Is s a number in base 10 or 16, and nothing else? */
static bool digits_only(const char *s, int base)
{
    s += base == 10 && *s == '-';
    return *s && s[strspn(s, base == 10 ? "0123456789" : "0123456789abcdef")] == '\0';
}

static bool decode_value(hd_dict *to, const char *path, const char *name, const char *text)
{
    if (strncmp(text, "string ", 7) == 0) {
        return hd_dict_set_string(to, name, text + 7);
    }
    errno = 0;
    if (strncmp(text, "int ", 4) == 0 && digits_only(text + 4, 10)) {
        int64_t i = strtoll(text + 4, NULL, 10);
        if (errno == 0) {
            return hd_dict_set_int(to, name, i);
        }
    } else if (strncmp(text, "double ", 7) == 0 && digits_only(text + 7, 16) &&
               strlen(text + 7) == 16) {
        uint64_t bits = strtoull(text + 7, NULL, 16);
        double v;
        memcpy(&v, &bits, sizeof v);
        return hd_dict_set_double(to, name, v);
    }
    return hd_error_set(HD_FORMAT,
                        "hd_checkpoint_load: '%.*s': '%.*s' is '%.*s': expected \"int \", "
                        "\"double \" or \"string \" and a value",
                        HD__CUT(path), HD__CUT(name), HD__CUT(text));
}

static bool decode_all(hd_dict *state, const char *path)
{
    for (int64_t i = 0; i < hd_dict_len(state); i++) {
        const char *name = hd_dict_name(state, i);
        if (hd_dict_kind_of(state, name) == HD_DICT_STRING &&
            !decode_value(state, path, name, hd_dict_get_string(state, name))) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the directory */

/* "dir/name", or NULL if memory runs out; hd_free. */
static char *path_in(const char *dir, const char *name)
{
    hd__text t = {0};
    hd__text_format(&t, "%s/%s", dir, name);
    return hd__text_take(&t);
}

static bool save_into(const char *function, const char *dir, const char *name, const hd_dict *d)
{
    char *path = path_in(dir, name);
    bool ok = path && hd__safetensors_save(function, path, d);
    hd_free(path);
    return ok;
}

bool hd__checkpoint_fill(const char *function, const char *dir, const hd_dict *model,
                         const hd_dict *encoded)
{
    return save_into(function, dir, model_file, model) &&
           save_into(function, dir, state_file, encoded);
}

int hd__directory_clear(int fd, const char *path)
{
    DIR *open_dir = fdopendir(fd);
    if (!open_dir) {
        int cause = errno;
        close(fd);
        return cause;
    }
    int cause = 0;
    for (struct dirent *each; cause == 0 && (each = readdir(open_dir));) {
        bool itself = strcmp(each->d_name, ".") == 0 || strcmp(each->d_name, "..") == 0;
        if (!itself && unlinkat(fd, each->d_name, 0) != 0 && errno != ENOENT) {
            cause = errno;
        }
    }
    closedir(open_dir);
    return cause || rmdir(path) == 0 || errno == ENOENT ? cause : errno;
}

static int remove_directory(const char *dir)
{
    int fd = hd__directory_open(dir);
    return fd >= 0 ? hd__directory_clear(fd, dir) : errno;
}

/* Makes the next name for something temporary beside dir. */
static bool name_beside(const char *dir, hd__text *name)
{
    char last[HD__TEMPORARY];
    size_t n = hd__parent_length(dir);
    hd__temporary_name(last);
    hd__text_cut(name, 0);
    hd__text_add(name, n ? dir : ".", n ? n : 1);
    hd__text_format(name, "/%s", last);
    return !name->failed;
}

static bool make_temporary(const char *dir, hd__text *temporary)
{
    int made;
    do {
        if (!name_beside(dir, temporary)) {
            return false;
        }
        made = mkdir(temporary->s, 0777);
    } while (made != 0 && errno == EEXIST);
    return made == 0 || hd__create_fail("hd_checkpoint_save", dir, "a directory", errno);
}

/* ---------------------------------------------------------------- saving */

static bool check_model(const char *function, const hd_dict *model)
{
    for (int64_t i = 0; i < hd_dict_len(model); i++) {
        const char *name = hd_dict_name(model, i);
        if (hd_dict_kind_of(model, name) != HD_DICT_TENSOR) {
            return hd_error_set(HD_VALUE,
                                "%s: model: '%.*s' is not a tensor: expected only tensors in "
                                "model, and all else in state",
                                function, HD__CUT(name));
        }
    }
    return true;
}

bool hd__checkpoint_args(const char *function, const char *dir, const hd_dict *model,
                         const hd_dict *state)
{
    return hd__given(function, "dir", dir) && hd__object(function, "model", model) &&
           hd__object(function, "state", state) && hd__may_save(function) &&
           check_model(function, model);
}

hd_dict *hd__checkpoint_encode(const hd_dict *state)
{
    hd_dict *encoded = hd_dict_new();
    if (encoded && !encode_all(encoded, state)) {
        hd_dict_free(encoded);
        return NULL;
    }
    return encoded;
}

/* The directory must be new, because rename would replace an empty one. */
static bool check_new(const char *dir)
{
    struct stat st;
    return lstat(dir, &st) != 0 ||
           hd_error_set(HD_IO,
                        "hd_checkpoint_save: '%.*s' exists already: "
                        "expected a new name; hd_checkpoint_replace replaces a checkpoint",
                        HD__CUT(dir));
}

/* Fills the temporary directory and gives it its name. */
static bool fill_and_rename(const char *temporary, const char *dir, const hd_dict *model,
                            const hd_dict *state)
{
    if (!hd__checkpoint_fill("hd_checkpoint_save", temporary, model, state) || !check_new(dir)) {
        return false;
    }
    return rename(temporary, dir) == 0 ||
           hd__io_fail("hd_checkpoint_save", dir, "rename the new directory to it", errno);
}

/* parent: the open directory of dir, which this function closes. */
static bool save_beside(int parent, const char *temporary, const char *dir, const hd_dict *model,
                        const hd_dict *state)
{
    bool ok = fill_and_rename(temporary, dir, model, state);
    int cause = hd__sync_close(parent);
    if (ok && cause != 0) {
        ok = hd__io_fail("hd_checkpoint_save", dir, "sync its directory", cause);
        rename(dir, temporary); /* nobody may find a half removed checkpoint under its name */
    }
    if (!ok) {
        remove_directory(temporary);
    }
    return ok;
}

static bool save_directory(const char *dir, const hd_dict *model, const hd_dict *state)
{
    hd__text temporary = {0};
    int parent = hd__parent_open(dir);
    bool ok = parent >= 0 || hd__create_fail("hd_checkpoint_save", dir, "a directory", errno);
    if (ok && !make_temporary(dir, &temporary)) {
        close(parent);
        ok = false;
    }
    ok = ok && save_beside(parent, temporary.s, dir, model, state);
    hd_free(temporary.s);
    return ok;
}

bool hd_checkpoint_save(const char *dir, const hd_dict *model, const hd_dict *state)
{
    if (!hd__checkpoint_args("hd_checkpoint_save", dir, model, state) || !check_new(dir)) {
        return false;
    }
    hd_dict *encoded = hd__checkpoint_encode(state);
    bool ok = encoded && save_directory(dir, model, encoded);
    hd_dict_free(encoded);
    return ok;
}

/* ---------------------------------------------------------------- loading and removing */

/* The files of one checkpoint, open. */
typedef struct checkpoint_files {
    int dir, model, state;        /* -1: not open */
    int model_errno, state_errno; /* why not */
} checkpoint_files;

static int file_open_in(int dir, const char *name, int *cause)
{
    int fd = dir < 0 ? -1 : openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *cause = fd < 0 && dir >= 0 ? errno : *cause;
    return fd;
}

static void close_open(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

/* Opens both files of the directory that dir names now. Both are opened through the directory, so
 * that they belong together even if dir is replaced meanwhile. */
static checkpoint_files files_open_once(const char *dir)
{
    checkpoint_files f = {.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    f.model_errno = f.state_errno = errno;
    f.model = file_open_in(f.dir, model_file, &f.model_errno);
    f.state = file_open_in(f.dir, state_file, &f.state_errno);
    return f;
}

/* Has dir become another directory since f was opened? */
static bool was_replaced(const char *dir, const checkpoint_files *f)
{
    struct stat then, now;
    return f->dir >= 0 && fstat(f->dir, &then) == 0 && stat(dir, &now) == 0 &&
           (then.st_ino != now.st_ino || then.st_dev != now.st_dev);
}

/* A checkpoint that was just replaced loses its files; then the new one is opened. */
static checkpoint_files files_open(const char *dir)
{
    for (;;) {
        checkpoint_files f = files_open_once(dir);
        bool all = f.model >= 0 && f.state >= 0;
        if (all || !was_replaced(dir, &f)) {
            close_open(f.dir);
            return f;
        }
        close_open(f.dir);
        close_open(f.model);
        close_open(f.state);
    }
}

/* fd: the open file, which this function closes; -1: it could not be opened because of `cause`. */
static hd_dict *load_from(const char *dir, const char *name, int fd, int cause, bool is_state)
{
    char *path = path_in(dir, name);
    if (path && fd < 0) {
        hd__io_fail("hd_checkpoint_load", path, "open", cause);
    }
    if (!path || fd < 0) {
        close_open(fd);
        hd_free(path);
        return NULL;
    }
    hd_dict *d = hd__safetensors_load_fd("hd_checkpoint_load", path, fd);
    if (d && is_state && !decode_all(d, path)) {
        hd_dict_free(d);
        d = NULL;
    }
    hd_free(path);
    return d;
}

bool hd_checkpoint_load(const char *dir, hd_dict **model, hd_dict **state)
{
    if (model) {
        *model = NULL;
    }
    if (state) {
        *state = NULL;
    }
    if (!hd__given("hd_checkpoint_load", "dir", dir)) {
        return false;
    }
    checkpoint_files f = files_open(dir);
    hd_dict *m = NULL, *s = NULL;
    if (model) {
        m = load_from(dir, model_file, f.model, f.model_errno, false);
        f.model = -1;
    }
    if (state && (m || !model)) {
        s = load_from(dir, state_file, f.state, f.state_errno, true);
        f.state = -1;
    }
    close_open(f.model);
    close_open(f.state);
    if ((model && !m) || (state && !s)) {
        hd_dict_free(m);
        return false;
    }
    if (model) {
        *model = m;
    }
    if (state) {
        *state = s;
    }
    return true;
}

/* Does dir hold both files, and is it a directory and not a link to one? A symbolic link is never
 * removed, nor is the directory that it points to. */
static bool is_checkpoint(const char *function, const char *dir)
{
    static const char *const files[] = {model_file, state_file};
    struct stat st;
    if (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode)) {
        return hd_error_set(HD_FORMAT,
                            "%s: '%.*s' is a symbolic link: expected the checkpoint's own path",
                            function, HD__CUT(dir));
    }
    for (int i = 0; i < 2; i++) {
        char *path = path_in(dir, files[i]);
        bool there = path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
        hd_free(path);
        if (path && !there) {
            return hd_error_set(HD_FORMAT, "%s: '%.*s' holds no %s: expected a checkpoint",
                                function, HD__CUT(dir), files[i]);
        }
        if (!path) {
            return false;
        }
    }
    return true;
}

/* Are there only files in it? If a directory is found, nothing is removed: removing would fail at
 * the directory, when other files are gone already. */
static bool holds_files_only(const char *function, const char *dir)
{
    DIR *open_dir = opendir(dir);
    bool ok = open_dir || hd__io_fail(function, dir, "open", errno);
    for (struct dirent *each; ok && (each = readdir(open_dir));) {
        bool itself = strcmp(each->d_name, ".") == 0 || strcmp(each->d_name, "..") == 0;
        struct stat st;
        if (!itself && fstatat(dirfd(open_dir), each->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(st.st_mode)) {
            ok = hd_error_set(HD_FORMAT, "%s: '%.*s' holds the directory '%.*s': expected files",
                              function, HD__CUT(dir), HD__CUT(each->d_name));
        }
    }
    if (open_dir) {
        closedir(open_dir);
    }
    return ok;
}

bool hd__checkpoint_removable(const char *function, const char *dir)
{
    return is_checkpoint(function, dir) && holds_files_only(function, dir);
}

/* parent: the open directory of dir, which this function closes. */
static bool remove_beside(const char *function, int parent, const char *dir, const char *temporary)
{
    bool renamed = rename(dir, temporary) == 0 || hd__io_fail(function, dir, "rename", errno);
    int cause = hd__sync_close(parent);
    if (!renamed) {
        return false;
    }
    if (cause != 0) {
        return hd__io_fail(function, dir, "sync its directory", cause);
    }
    cause = remove_directory(temporary);
    return cause == 0 || hd__io_fail(function, dir, "remove its files", cause);
}

bool hd_checkpoint_remove(const char *dir)
{
    static const char function[] = "hd_checkpoint_remove";
    if (!hd__given(function, "dir", dir) || !hd__checkpoint_removable(function, dir)) {
        return false;
    }
    hd__text temporary = {0};
    int parent = name_beside(dir, &temporary) ? hd__parent_open(dir) : -1;
    bool ok = !temporary.failed &&
              (parent >= 0 || hd__io_fail(function, dir, "open its directory", errno)) &&
              remove_beside(function, parent, dir, temporary.s);
    hd_free(temporary.s);
    return ok;
}
