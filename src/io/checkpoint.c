/* checkpoint.c - writes the two files of a checkpoint, and loads a checkpoint.
 *
 * The numbers and strings of the state are texts in the metadata of state.safetensors. The first
 * word of such a text is the type of the value: "int -3", "double 3fb999999999999a", "string any
 * text". A double is written as its 64 bits in hexadecimal, so the value is exact and does not
 * depend on the locale. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/checkpoint.h"
#include "tensor/for_nn_and_optim.h"

static const char model_file[] = HD__MODEL_FILE, state_file[] = HD__STATE_FILE;
const char *const hd__checkpoint_files[] = {model_file, state_file, NULL};
static const char version_name[] = "heed.version", level_name[] = "heed.cpu_level";

/* ---------------------------------------------------------------- state as tensors and strings */

/* Sets the entry `name` of `to` to a text: `kind` followed by s. s may be of any length. Returns
 * false with an error if memory runs out. */
static bool encode_text(hd_dict *to, const char *name, const char *kind, const char *s)
{
    HD__SCOPE_OR(false);
    hd__text t = {0};
    hd__text_puts(&t, kind);
    hd__text_puts(&t, s);
    return hd_dict_set_string(to, name, hd__tensor_text_give(&t));
}

static bool encode_value(hd_dict *to, const hd_dict *d, const char *name)
{
    char number[32];
    int64_t i;
    double v;
    uint64_t bits;
    bool ok;
    switch (hd_dict_kind_of(d, name)) {
    case HD_DICT_TENSOR: return hd_dict_set(to, name, hd_dict_get(d, name));
    case HD_DICT_INT:
        ok = hd_dict_get_int(d, name, &i);
        snprintf(number, sizeof number, "%" PRId64, i);
        return ok && encode_text(to, name, "int ", number);
    case HD_DICT_DOUBLE:
        ok = hd_dict_get_double(d, name, &v);
        memcpy(&bits, &v, sizeof bits);
        snprintf(number, sizeof number, "%016" PRIx64, bits);
        return ok && encode_text(to, name, "double ", number);
    default: return encode_text(to, name, "string ", hd_dict_get_string(d, name));
    }
}

static bool encode_all(hd_dict *to, const hd_dict *state)
{
    for (int64_t i = 0; i < hd_dict_len(state); i++) {
        if (!encode_value(to, state, hd_dict_name(state, i))) {
            return false;
        }
    }
    return encode_text(to, version_name, "string ", hd_version()) &&
           encode_text(to, level_name, "string ", hd_cpu_level() ? hd_cpu_level() : "");
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

/* Returns true if s is an integer and nothing else. base is 10 or 16; in base 10, s may begin with
 * a minus sign. */
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
    return hd_fail(HD_FORMAT,
                   "'%.*s': entry '%.*s' is '%.*s': expected \"int \", "
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

/* ---------------------------------------------------------------- the two files */

static bool save_into(const char *hidden, const char *name, const hd_dict *d)
{
    const char *path = hd__io_path_in(hidden, strlen(hidden), name);
    return path && hd__safetensors_save(path, d);
}

bool hd__checkpoint_fill(const char *hidden, const hd_dict *model, const hd_dict *encoded)
{
    return save_into(hidden, model_file, model) && save_into(hidden, state_file, encoded);
}

/* ---------------------------------------------------------------- loading */

typedef struct checkpoint_file {
    const char *name;
    hd_dict **to; /* gets the file's dictionary; NULL: the caller does not want it */
    int fd;       /* the open file; -1: it is not open */
    int cause;    /* if fd is -1: the errno that says why */
} checkpoint_file;

enum { MODEL_FILE, STATE_FILE, ALL_FILES };

/* Opens the directory dir, and both files through it, so the files belong to the same checkpoint
 * even if another process replaces dir meanwhile. Sets fd and cause of both files; sets no error.
 * Returns the open directory, which the caller closes, or -1 if it cannot be opened. */
static int files_open_once(const char *dir, checkpoint_file *f)
{
    int fd = hd__sys_open_directory(dir, true), cause = errno;
    for (int i = 0; i < ALL_FILES; i++) {
        f[i].fd = fd < 0 ? -1 : hd__sys_open(fd, f[i].name);
        f[i].cause = fd < 0 ? cause : errno;
    }
    return fd;
}

static void files_close(checkpoint_file *f)
{
    for (int i = 0; i < ALL_FILES; i++) {
        hd__sys_drop(f[i].fd);
        f[i].fd = -1;
    }
}

/* Opens both files of dir, and sets fd and cause of each. If a file is missing because another
 * process has replaced dir meanwhile, opens the files of the new checkpoint. Sets no error:
 * load_from makes one from `cause`. */
static void files_open(const char *dir, checkpoint_file *f)
{
    for (;;) {
        int fd = files_open_once(dir, f), unknown;
        bool done = fd < 0 || (f[MODEL_FILE].fd >= 0 && f[STATE_FILE].fd >= 0) ||
                    hd__folder_still_at(fd, dir, true, &unknown) || unknown != 0;
        hd__sys_drop(fd);
        if (done) {
            return;
        }
        files_close(f);
    }
}

static hd_dict *load_from(const char *dir, checkpoint_file *f, bool is_state)
{
    HD__SCOPE_OR(NULL);
    const char *path = hd__io_path_in(dir, strlen(dir), f->name);
    if (!path || f->fd < 0) {
        return path ? hd__file_fail(path, "open", f->cause) : NULL;
    }
    hd_dict *d = hd__safetensors_load_fd(path, f->fd);
    f->fd = -1;
    if (d && is_state && !decode_all(d, path)) {
        hd_dict_free(d);
        return NULL;
    }
    return d;
}

bool hd_checkpoint_load(const char *dir, hd_dict **model, hd_dict **state)
{
    HD__CALL("hd_checkpoint_load");
    checkpoint_file f[ALL_FILES] = {{.name = model_file, .to = model},
                                    {.name = state_file, .to = state}};
    for (int i = 0; i < ALL_FILES; i++) {
        if (f[i].to) {
            *f[i].to = NULL;
        }
    }
    if (!hd__arg_given("dir", dir)) {
        return false;
    }
    bool ok = true;
    files_open(dir, f);
    for (int i = 0; i < ALL_FILES && ok; i++) {
        if (f[i].to) {
            *f[i].to = load_from(dir, &f[i], i == STATE_FILE);
            ok = *f[i].to;
        }
    }
    files_close(f);
    if (!ok && model) { /* the state or the model could not be loaded */
        hd_dict_free(*model);
        *model = NULL;
    }
    return ok;
}
