/* save.c - hd_save_pretrained: writes a model as a folder that transformers loads. */
#include <errno.h>
#include <string.h>

#include "base/files/whole_file.h"
#include "base/system/shared.h"
#include "hf/family.h"

/* The names of the folder's files. heed writes the first COPIED of them. It copies the others from
 * o->source, if this folder has them. */
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
enum { COPIED = 2, SAVED_MOST = 1 << 30 };

hd_save_pretrained_options hd_save_pretrained_defaults(void)
{
    return (hd_save_pretrained_options){.size = sizeof(hd_save_pretrained_options),
                                        .dtype = HD_FLOAT32};
}

/* ---------------------------------------------------------------- the files */

/* Writes n bytes to the file `name` in the new folder f. Returns false with an error on failure. */
static bool file_write(const hd__folder *f, const char *name, const void *bytes, size_t n)
{
    hd__text path = {0};
    bool ok = hd__hf_path_of(f->hidden, name, &path) && hd__file_whole_write(path.s, bytes, n);
    hd_free(path.s);
    return ok;
}

bool hd__hf_files_write(const hd__folder *f, const hd__text *config, hd_dict *tensors)
{
    hd__text path = {0};
    bool ok = !config->failed && file_write(f, f->names[0], config->s, config->len) &&
              hd__hf_path_of(f->hidden, f->names[1], &path) &&
              hd_dict_set_string(tensors, "format", "pt");
    ok = ok && hd_save_safetensors(path.s, tensors);
    hd_free(path.s);
    return ok;
}

/* Replaces the dict's tensors by tensors of dtype d. Returns false with an error on failure. */
static bool convert(hd_dict *weights, hd_dtype d)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(false);
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        ok = hd_dict_set(weights, name, hd_to(hd_dict_get(weights, name), d));
    }
    return ok;
}

typedef struct model_saving {
    const hd__hf_model *m;
    const hd__hf_config *config;
    const hd_save_pretrained_options *o;
} model_saving;

/* Returns a dict of the tensors for the file, or NULL on failure. Leaves out a tied head, as
 * transformers does. The dict has other tied tensors under each of their names, because
 * transformers looks for each name. */
static hd_dict *weights_of(const model_saving *s)
{
    hd_dict *d = hd_module_state_dict(&s->m->base);
    const bool tied = hd__hf_config_bool(s->config, "tie_word_embeddings");
    return hd__hf_dict_if(
        d && (!tied || hd_dict_remove(d, "lm_head.weight")) && convert(d, s->o->dtype), d);
}

/* Copies the file `name` from the folder `from` to the new folder f, if `from` has it. Returns
 * false with an error if it cannot be copied. */
static bool copy_if_there(const hd__folder *f, const char *from, const char *name)
{
    hd__text path = {0};
    size_t n;
    int found = hd__hf_look_for(from, name, &path);
    char *bytes = found > 0 ? hd__file_whole_read(path.s, SAVED_MOST, &n) : NULL;
    bool ok = found == 0 || (bytes && file_write(f, name, bytes, n));
    hd_free(bytes);
    hd_free(path.s);
    return ok;
}

/* Writes `text`, which the model kept from its own folder, as generation_config.json, unless
 * o->source had this file. Returns false with an error on failure. */
static bool write_generation(const hd__folder *f, const char *text)
{
    hd__text path = {0};
    int found = hd__hf_look_for(f->hidden, files[COPIED], &path);
    bool ok = found > 0 || (found == 0 && file_write(f, files[COPIED], text, strlen(text)));
    hd_free(path.s);
    return ok;
}

/* Writes all files of the model into the new folder f. Returns false with an error on failure. */
static bool write_files(hd__folder *f)
{
    const model_saving *s = f->user;
    hd__text config = {0};
    hd_dict *weights = weights_of(s);
    hd__hf_config_write(s->config, s->o->dtype, &config);
    bool ok = weights && hd__hf_files_write(f, &config, weights);
    for (int i = COPIED; ok && s->o->source && files[i]; i++) {
        ok = copy_if_there(f, s->o->source, files[i]);
    }
    ok = ok && (!s->m->generation || write_generation(f, s->m->generation));
    hd_dict_free(weights);
    hd_free(config.s);
    return ok;
}

/* ---------------------------------------------------------------- the folder */

/* Returns false with an error unless source is a folder with a tokenizer. */
static bool source_ok(const char *source)
{
    static const char *const tokenizers[] = {"tokenizer.json", "tokenizer.model", "vocab.json"};
    hd__sys_info info;
    if (hd__sys_stat(HD__SYS_HERE, source, true, &info) != 0) {
        return hd__file_fail(source, "find the folder of the tokenizer", errno);
    }
    if (info.kind != HD__SYS_DIRECTORY) {
        return hd_fail(HD_IO, "o->source '%.*s' is a file: expected the folder of the tokenizer",
                       HD__CUT(source));
    }
    hd__text path = {0};
    int found = 0;
    for (int i = 0; found == 0 && i < 3; i++) {
        found = hd__hf_look_for(source, tokenizers[i], &path);
    }
    hd_free(path.s);
    return found > 0 ||
           (found == 0 && hd_fail(HD_IO,
                                  "o->source '%.*s' has no tokenizer.json, "
                                  "tokenizer.model or vocab.json: expected a folder with a "
                                  "tokenizer, or NULL",
                                  HD__CUT(source)));
}

bool hd_save_pretrained(hd_module *module, const char *folder, const hd_save_pretrained_options *o)
{
    HD__CALL("hd_save_pretrained");
    hd_save_pretrained_options defaults = hd_save_pretrained_defaults();
    o = o ? o : &defaults;
    hd__hf_model *m = hd__hf_model_of(module);
    if (!m || !hd__arg_given("folder", folder) ||
        !HD__SIZE_OK(o, "hd_save_pretrained_defaults()") || !hd__arg_may_save()) {
        return false;
    }
    hd__hf_config config = {.values = NULL};
    hd__folder f = {.path = folder,
                    .what = "model",
                    .names = files,
                    .fill = write_files,
                    .user = &(model_saving){m, &config, o}};
    bool ok = hd__hf_dtype_ok(o->dtype) && (!o->source || source_ok(o->source)) &&
              hd__hf_config_now(m, &config) && hd__folder_write(&f);
    hd_free(config.values);
    return ok;
}
