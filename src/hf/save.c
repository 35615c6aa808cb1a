/* save.c - a model written as a folder that transformers loads. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "hf/hf_internal.h"

static const char function[] = "hd_save_pretrained";

/* The files: what follows the first two is copied from another folder, if it is there. */
static const char *const files[] = {"config.json",
                                    "model.safetensors",
                                    "generation_config.json",
                                    "tokenizer.json",
                                    "tokenizer_config.json",
                                    "special_tokens_map.json",
                                    "added_tokens.json",
                                    "vocab.json",
                                    "merges.txt",
                                    "tokenizer.model",
                                    "chat_template.jinja",
                                    NULL};
enum { COPIED = 2, MOST = 1 << 30 };

hd_save_pretrained_options hd_save_pretrained_defaults(void)
{
    return (hd_save_pretrained_options){.size = sizeof(hd_save_pretrained_options),
                                        .dtype = HD_FLOAT32};
}

/* ---------------------------------------------------------------- the files */

/* Writes a file of the folder, which messages name by its later path. */
static bool file_write(const hd__folder *f, const char *name, const void *bytes, size_t n)
{
    hd__whole w;
    hd__text path = {0}, shown = {0};
    bool ok = hd__path_of(f->hidden, name, &path) && hd__path_of(f->path, name, &shown);
    if (ok) {
        hd__whole_begin(&w, f->function, path.s, shown.s);
        hd__whole_add(&w, bytes, n);
        ok = hd__whole_end(&w, true);
    }
    hd_free(path.s);
    hd_free(shown.s);
    return ok;
}

/* The standing error gets f's function and path in place of hd_save_safetensors and the hidden
 * directory. Returns false. */
static bool error_of_folder(const hd__folder *f)
{
    const hd_code code = hd_error_code();
    const char *at = strstr(hd_error_message(), f->hidden);
    hd__text message = {0};
    if (at) {
        hd__text_format(&message, "%s: '%s%s", f->function, f->path, at + strlen(f->hidden));
    }
    if (at && !message.failed) {
        hd_error_clear();
        hd_error_set(code, "%s", message.s);
    }
    hd_free(message.s);
    return false;
}

bool hd__files_write(const hd__folder *f, const hd__text *config, hd_dict *tensors)
{
    hd__text path = {0};
    bool ok = !config->failed && file_write(f, f->names[0], config->s, config->len) &&
              hd__path_of(f->hidden, f->names[1], &path) &&
              hd_dict_set_string(tensors, "format", "pt");
    ok = ok && (hd_save_safetensors(path.s, tensors) || error_of_folder(f));
    hd_free(path.s);
    return ok;
}

/* The weights become tensors of dtype d. */
static bool convert(hd_dict *weights, hd_dtype d)
{
    HD_NO_GRAD;
    HD__OWN_SCOPE(scope);
    bool ok = scope;
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        ok = hd_dict_set(weights, name, hd_to(hd_dict_get(weights, name), d));
    }
    return ok;
}

static bool copy_file(const hd__folder *f, const char *from, const char *name)
{
    size_t n;
    char *bytes = hd__whole_read(function, from, MOST, &n);
    bool ok = bytes && file_write(f, name, bytes, n);
    hd_free(bytes);
    return ok;
}

typedef struct saving {
    const hd__model *m;
    const hd_save_pretrained_options *o;
} saving;

/* Fills the new directory. */
static bool write_files(hd__folder *f)
{
    const hd__model *m = ((const saving *)f->user)->m;
    const hd_save_pretrained_options *o = ((const saving *)f->user)->o;
    hd__config c = m->config;
    hd__text from = {0}, config = {0};
    hd_dict *weights = hd_module_named_parameters(&m->base); /* without a tied head */
    *(c.is_gpt2 ? &c.gpt2.tie_word_embeddings : &c.llama.tie_word_embeddings) =
        weights && hd_dict_kind_of(weights, "lm_head.weight") == HD_DICT_MISSING;
    hd__config_write(&c, m->base.type->name, o->dtype, &config);
    bool ok = weights && convert(weights, o->dtype) && hd__files_write(f, &config, weights);
    for (int i = COPIED; ok && o->source && files[i]; i++) {
        int found = hd__look_for(function, o->source, files[i], &from);
        ok = found == 0 || (found > 0 && copy_file(f, from.s, files[i]));
    }
    hd_dict_free(weights);
    hd_free(config.s);
    hd_free(from.s);
    return ok;
}

/* ---------------------------------------------------------------- the folder */

static bool no_adapter(hd_module *m, const char *name, void *user)
{
    (void)user;
    return strcmp(m->type->name, "lora.Linear") != 0 ||
           hd_error_set(HD_STATE,
                        "%s: '%s' has an adapter: merge them with hd_lora_merge or save them with "
                        "hd_lora_save",
                        function, name);
}

/* Has the model no adapters, and the head that its configuration says? */
static bool may_be_saved(hd__model *m)
{
    const int64_t wanted[] = {m->vocab, m->width};
    bool ok = hd_module_visit(&m->base, no_adapter, NULL);
    hd_dict *own = ok ? hd_module_named_parameters(m->head) : NULL;
    int64_t n = own ? hd_dict_len(own) : 0;
    hd_tensor *w = n > 0 ? hd_dict_get(own, hd_dict_name(own, 0)) : NULL;
    const char *expected = HD__SIZES(2, wanted);
    const char *found = w ? HD__SIZES(hd_ndim(w), hd_sizes(w)) : "missing";
    ok = own && ((n == 1 && strcmp(found, expected) == 0) ||
                 hd_error_set(HD_SHAPE,
                              "%s: lm_head.weight: found %s, the first of %" PRId64
                              " in a %s: expected %s alone, as in m's configuration",
                              function, found, n, m->head->type->name, expected));
    hd_dict_free(own);
    return ok;
}

/* Is there the folder whose files are to be copied? */
static bool source_ok(const char *source)
{
    hd__sys_info info;
    return !source || hd__sys_stat(HD__SYS_HERE, source, true, &info) == 0 ||
           hd__io_fail(function, source, "find the folder of the tokenizer", errno);
}

bool hd_save_pretrained(hd_module *module, const char *folder, const hd_save_pretrained_options *o)
{
    hd_save_pretrained_options defaults = hd_save_pretrained_defaults();
    o = o ? o : &defaults;
    hd__model *m = hd__model_of(module, function);
    if (!m || !hd__given_to(function, "folder", folder) ||
        !HD__SIZE_OK_TO(function, o, "hd_save_pretrained_defaults()") || !hd__may_save(function)) {
        return false;
    }
    hd__folder f = {.function = function,
                    .path = folder,
                    .what = "model",
                    .names = files,
                    .fill = write_files,
                    .user = &(saving){m, o}};
    return hd__hf_dtype_ok(function, o->dtype) && may_be_saved(m) && source_ok(o->source) &&
           hd__folder_write(&f);
}
