/* save.c - a model written as a folder that transformers loads. The folder is made under another
 * name beside the place that it gets, which it takes in one step when it is whole. */
#include <errno.h>
#include <string.h>

#include "base/text/whole.h"
#include "hf/hf_internal.h"

static const char function[] = "hd_save_pretrained";
static const char config_name[] = "config.json", weights_name[] = "model.safetensors";

/* What is copied from another folder, if it is there. */
static const char *const copied[] = {"generation_config.json",
                                     "tokenizer.json",
                                     "tokenizer_config.json",
                                     "special_tokens_map.json",
                                     "added_tokens.json",
                                     "vocab.json",
                                     "merges.txt",
                                     "tokenizer.model",
                                     "chat_template.jinja"};
enum { COPIED = sizeof copied / sizeof copied[0], MOST = 1 << 30 };

hd_save_pretrained_options hd_save_pretrained_defaults(void)
{
    return (hd_save_pretrained_options){.size = sizeof(hd_save_pretrained_options),
                                        .dtype = HD_FLOAT32};
}

/* ---------------------------------------------------------------- the files */

static bool write_weights(const char *path, hd_dict *weights)
{
    return hd_dict_set_string(weights, "format", "pt") && hd_save_safetensors(path, weights);
}

static bool write_config(const hd__model *m, const char *path, bool tied)
{
    hd__config c = m->config;
    *(c.is_gpt2 ? &c.gpt2.tie_word_embeddings : &c.llama.tie_word_embeddings) = tied;
    hd__text t = {0};
    hd__config_write(&c, m->base.type->name, &t);
    bool ok = !t.failed && hd__whole_write(function, path, t.s, t.len);
    hd_free(t.s);
    return ok;
}

static bool copy_file(const char *from, const char *path)
{
    size_t n;
    char *bytes = hd__whole_read(function, from, MOST, &n);
    bool ok = bytes && hd__whole_write(function, path, bytes, n);
    hd_free(bytes);
    return ok;
}

/* Fills the new directory. */
static bool write_files(const hd__model *m, const char *hidden, const char *source)
{
    hd__text to = {0}, from = {0};
    hd_dict *weights = hd_module_named_parameters(&m->base); /* without a tied head */
    bool tied = weights && hd_dict_kind_of(weights, "lm_head.weight") == HD_DICT_MISSING;
    bool ok = weights && hd__path_of(hidden, config_name, &to) && write_config(m, to.s, tied) &&
              hd__path_of(hidden, weights_name, &to) && write_weights(to.s, weights);
    for (int i = 0; ok && source && i < COPIED; i++) {
        int found = hd__look_for(function, source, copied[i], &from);
        ok = found == 0 ||
             (found > 0 && hd__path_of(hidden, copied[i], &to) && copy_file(from.s, to.s));
    }
    hd_dict_free(weights);
    hd_free(to.s);
    hd_free(from.s);
    return ok;
}

/* ---------------------------------------------------------------- the folder */

static int removed(int fd, const char *name)
{
    return hd__sys_unlink(fd, name) == 0 || errno == ENOENT ? 0 : errno;
}

/* Removes the new directory, which allocates nothing, and warns if that fails. */
static void hidden_remove(const char *hidden)
{
    int fd = hd__sys_open_directory(hidden, false), cause = fd < 0 ? errno : 0;
    cause = cause ? cause : removed(fd, config_name);
    cause = cause ? cause : removed(fd, weights_name);
    for (int i = 0; cause == 0 && i < COPIED; i++) {
        cause = removed(fd, copied[i]);
    }
    hd__sys_drop(fd);
    cause = cause || hd__sys_rmdir(hidden) == 0 ? cause : errno;
    if (cause) {
        hd_warn("%s: '%.*s' is left, which cannot be removed: %s", function, HD__CUT(hidden),
                HD__WHY(cause));
    }
}

/* Gives the new directory its name. */
static bool hidden_show(const char *hidden, const char *folder)
{
    int parent = hd__parent_open(folder);
    int cause = parent < 0 || hd__sys_rename(hidden, folder) != 0 ? errno : 0;
    if (cause) {
        hd__sys_drop(parent);
        hidden_remove(hidden);
        return hd__create_fail(function, folder, "a directory", cause);
    }
    cause = hd__sync_close(parent);
    return cause == 0 ||
           hd__io_fail(function, folder, "sync its folder, although it is written", cause);
}

bool hd_save_pretrained(hd_module *module, const char *folder, const hd_save_pretrained_options *o)
{
    hd_save_pretrained_options defaults = hd_save_pretrained_defaults();
    hd__sys_info info;
    o = o ? o : &defaults;
    hd__model *m = hd__model_of(module, function);
    if (!m || !hd__given_to(function, "folder", folder) ||
        !HD__SIZE_OK_TO(function, o, "hd_save_pretrained_defaults()") || !hd__may_save(function)) {
        return false;
    }
    if (o->dtype != HD_FLOAT32) {
        return hd_error_set(HD_DTYPE, "%s: o->dtype %s: expected float32", function,
                            hd_dtype_name(o->dtype));
    }
    if (hd__sys_stat(HD__SYS_HERE, folder, false, &info) == 0) {
        return hd__create_fail(function, folder, "a directory", EEXIST);
    }
    hd__text hidden = {0};
    hd__text_add(&hidden, folder, hd__parent_length(folder));
    hd__text_format(&hidden, "%s.heed-%lx-%llx.tmp", hidden.len > 0 ? "/" : "", hd__sys_process(),
                    (unsigned long long)hd__sys_nanoseconds());
    bool ok = !hidden.failed;
    if (ok && hd__sys_mkdir(hidden.s) != 0) {
        ok = hd__create_fail(function, folder, "a directory", errno);
    } else if (ok) {
        ok = write_files(m, hidden.s, o->source);
        if (ok) {
            ok = hidden_show(hidden.s, folder);
        } else {
            hidden_remove(hidden.s);
        }
    }
    hd_free(hidden.s);
    return ok;
}
