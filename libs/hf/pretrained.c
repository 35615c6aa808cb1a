/* pretrained.c - hd_from_pretrained: makes a model from a folder's configuration, without memory
 * for weights, and then reads the weights one by one. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/files/whole_file.h"
#include "base/system/shared.h"
#include "hf/family.h"

enum { GENERATION_MOST = 1 << 24 }; /* the largest generation_config.json, in bytes */
static const char head_name[] = "lm_head.weight";

hd_pretrained_options hd_pretrained_defaults(void)
{
    return (hd_pretrained_options){sizeof(hd_pretrained_options), HD_FLOAT32, .map = true};
}

bool hd__hf_dtype_ok(hd_dtype d)
{
    return d == HD_FLOAT32 || d == HD_BFLOAT16 ||
           hd_fail(HD_DTYPE, "o->dtype %s: expected float32 or bfloat16", hd_dtype_name(d));
}

/* ---------------------------------------------------------------- weights */

int64_t hd__hf_file_bytes(const hd_safetensors *f)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < hd_safetensors_len(f); i++) {
        bytes += hd_safetensors_bytes(f, i);
    }
    return bytes;
}

typedef struct weights {
    const char *path; /* the path of the file with the weights */
    const hd_safetensors *f;
    const char *hint; /* the end of messages: ". config.json has no n_layer", or "" */
    const hd__hf_family *family;
} weights;

/* In some families, files may leave out the prefix that names the body, such as "transformer.". If
 * the family is one of these and `name` has the prefix, returns `name` without it. Otherwise
 * returns NULL. */
static const char *bare_name(const weights *from, const char *name)
{
    const size_t n = strlen(from->family->body);
    bool bare = from->family->bare_names && strncmp(name, from->family->body, n) == 0;
    return bare && name[n] == '.' ? name + n + 1 : NULL;
}

/* Returns the index, in the file, of the tensor for the parameter `name`; -1 if there is none. */
static int64_t find(const weights *from, const char *name)
{
    int64_t i = hd_safetensors_find(from->f, name);
    const char *bare = bare_name(from, name);
    return i < 0 && bare ? hd_safetensors_find(from->f, bare) : i;
}

/* Returns the file's tensor for the parameter w of this name. Returns NULL with an error if it is
 * missing or has another shape than w. */
static hd_tensor *read_weight(const weights *from, const char *name, const hd_tensor *w)
{
    const hd_safetensors *f = from->f;
    int64_t i = find(from, name);
    const char *wanted = HD__SIZES(hd_ndim(w), hd_sizes(w));
    if (i < 0) {
        return hd_fail(HD_FORMAT, "'%.*s' has no %s, which is %s in the model%s",
                       HD__CUT(from->path), name, wanted, from->hint);
    }
    const char *found = HD__SIZES(hd_safetensors_ndim(f, i), hd_safetensors_sizes(f, i));
    return strcmp(found, wanted) == 0
               ? hd_safetensors_read(f, i)
               : hd_fail(HD_SHAPE, "'%.*s': %s is %s: expected %s%s", HD__CUT(from->path), name,
                         found, wanted, from->hint);
}

/* True if the name of a tensor ends in one of the words in `ends`, which blanks separate. No module
 * needs a tensor with such a name. GPT-2's attention masks are an example. */
static bool passed_over(const char *ends, const char *name)
{
    size_t length = strlen(name), n = strcspn(ends, " ");
    while (n > 0 && (length < n || strncmp(name + length - n, ends, n) != 0)) {
        ends += n + (ends[n] == ' ');
        n = strcspn(ends, " ");
    }
    return n > 0;
}

/* Returns false with an error if the file has a tensor that the model neither has nor ignores. */
static bool tensors_known(const weights *from, const hd_dict *weights)
{
    const hd_safetensors *f = from->f;
    const hd__hf_family *family = from->family;
    hd__text longer = {0};
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_safetensors_len(f); i++) {
        const char *name = hd_safetensors_name(f, i);
        hd__text_cut(&longer, 0);
        hd__text_format(&longer, "%s.%s", family->body, name);
        bool bare = family->bare_names && !longer.failed &&
                    hd_dict_kind_of(weights, longer.s) != HD_DICT_MISSING;
        ok = !longer.failed &&
             (hd_dict_kind_of(weights, name) != HD_DICT_MISSING || bare ||
              strcmp(name, head_name) == 0 || passed_over(family->passed_over, name) ||
              hd_fail(HD_FORMAT, "'%.*s' has %.*s, which the model lacks%s", HD__CUT(from->path),
                      HD__CUT(name), from->hint));
    }
    hd_free(longer.s);
    return ok;
}

/* Reads the head's weight from a file that has one, although config.json ties the head to the
 * embedding. If this weight differs from the embedding's, warns, and makes the head's weight a
 * parameter of its own. Returns false with an error on failure. */
static bool load_tied_head(hd_module *m, const weights *from)
{
    HD__SCOPE_OR(false);
    hd_tensor *w = hd_module_get_parameter(m, head_name);
    hd_tensor *own = hd_to(read_weight(from, head_name, w), hd_dtype_of(w)); /* (vocab, e) */
    if (!own || hd_equal(hd_to(own, HD_FLOAT32), hd_to(w, HD_FLOAT32))) {
        return own;
    }
    hd_warn("'%.*s': tie_word_embeddings is true, but %s differs from the embedding, so it is not "
            "tied",
            HD__CUT(from->path), head_name);
    return hd_module_set_parameter(m, head_name, hd_parameter(own, hd_requires_grad(w)));
}

/* Replaces the parameter w of this name by the file's tensor, which may stay in the mapped file. A
 * head that is tied to w gets the tensor, too. Then the file may have the tensor under this name or
 * under the head's name. Returns false with an error on failure. */
static bool load_weight(hd_module *m, const weights *from, const char *name, hd_tensor *w)
{
    HD__SCOPE_OR(false);
    const char *also = hd_module_get_parameter(m, head_name) == w ? head_name : name;
    hd_tensor *read = read_weight(from, find(from, name) < 0 ? also : name, w);
    read = hd_parameter(hd_to(read, hd_dtype_of(w)), hd_requires_grad(w));
    return hd_module_set_parameter(m, name, read) && hd_module_set_parameter(m, also, read);
}

static bool load_weights(hd_module *m, const weights *from)
{
    HD_NO_GRAD;
    hd_dict *weights = hd_module_named_parameters(m); /* has each tied parameter once */
    bool ok = weights && tensors_known(from, weights);
    for (int64_t i = 0; ok && i < hd_dict_len(weights); i++) {
        const char *name = hd_dict_name(weights, i);
        ok = load_weight(m, from, name, hd_dict_get(weights, name));
    }
    bool own_head = ok && hd_dict_kind_of(weights, head_name) == HD_DICT_MISSING &&
                    hd_safetensors_find(from->f, head_name) >= 0;
    hd_dict_free(weights);
    return own_head ? load_tied_head(m, from) : ok;
}

/* ---------------------------------------------------------------- the folder */

const char *hd__hf_path_of(const char *folder, const char *name, hd__text *path)
{
    hd__text_cut(path, 0);
    hd__text_format(path, "%s/%s", folder, name);
    return path->failed ? NULL : path->s;
}

int hd__hf_look_for(const char *folder, const char *name, hd__text *path)
{
    hd__sys_info info;
    if (!hd__hf_path_of(folder, name, path)) {
        return -1;
    }
    if (hd__sys_stat(HD__SYS_HERE, path->s, true, &info) == 0) {
        return 1;
    }
    int cause = errno;
    return cause == ENOENT || cause == ENOTDIR ? 0
                                               : (hd__file_fail(path->s, "look for it", cause), -1);
}

/* Opens the folder's weights, and sets `path` to the path of their file. Returns NULL with an error
 * if the folder has no weights, or if their file is malformed. */
static hd_safetensors *weights_open(const char *folder, hd__text *path,
                                    const hd_pretrained_options *given)
{
    hd_safetensors_options o = hd_safetensors_defaults();
    o.map = given->map;
    o.keep_bfloat16 = given->dtype == HD_BFLOAT16;
    int found = hd__hf_look_for(folder, "model.safetensors", path);
    found = found ? found : hd__hf_look_for(folder, "model.safetensors.index.json", path);
    if (found == 0) {
        hd_fail(HD_IO,
                "'%.*s' has no weights: expected model.safetensors or "
                "model.safetensors.index.json",
                HD__CUT(folder));
    }
    hd_safetensors *f = found > 0 ? hd_safetensors_open(path->s, &o) : NULL;
    int64_t i = 0;
    while (f && i < hd_safetensors_len(f) && strcmp(hd_safetensors_type(f, i), "BF16") != 0) {
        i++;
    }
    if (f && o.keep_bfloat16 &&
        i == hd_safetensors_len(f)) { /* a map is of no use, because heed converts all weights */
        hd_safetensors_close(f);
        o.map = false;
        f = hd_safetensors_open(path->s, &o);
    }
    return f;
}

/* Returns false with an error if the weights' file is too small for a model of the configuration c.
 * `path` is that of config.json. */
static bool weights_fit(const char *path, const hd__hf_config *c, const weights *from)
{
    int64_t tensors = hd_safetensors_len(from->f), bytes = hd__hf_file_bytes(from->f);
    int64_t layers = hd__hf_config_int(c, c->family->layers);
    if (layers > tensors) {
        return hd_fail(HD_FORMAT,
                       "'%.*s': %s is %" PRId64 ", but the weights are only %" PRId64 " tensors%s",
                       HD__CUT(path), c->family->layers, layers, tensors, from->hint);
    }
    const double elements = c->family->elements(c);
    return elements <= (double)bytes || /* an element has one byte or more */
           hd_fail(HD_FORMAT,
                   "'%.*s': the model has at least %.0f weights, but their file has only "
                   "%" PRId64 " bytes%s",
                   HD__CUT(path), elements, bytes, from->hint);
}

/* Returns a model of the configuration c, without weights, and takes c->values over. Returns NULL
 * with an error if c is wrong, or needs more weights than the file has. */
static hd_module *model_of(const char *path, hd__hf_config *c, const weights *from, hd_dtype d)
{
    HD_NO_INIT;
    c->path = path;
    bool ok = hd__hf_config_resolve(c) && weights_fit(path, c, from);
    c->path = NULL;
    return ok ? hd__hf_model_new(c, &d) : NULL;
}

/* Sets m->generation to the text of generation_config.json, if the folder has this file. Returns
 * false with an error if it cannot be read. */
static bool keep_generation(hd__hf_model *m, const char *folder)
{
    hd__text path = {0};
    size_t n;
    int found = hd__hf_look_for(folder, "generation_config.json", &path);
    m->generation = found > 0 ? hd__file_whole_read(path.s, GENERATION_MOST, &n) : NULL;
    hd_free(path.s);
    return found == 0 || m->generation;
}

hd_module *hd_from_pretrained(const char *folder, const hd_pretrained_options *o)
{
    HD__CALL("hd_from_pretrained");
    hd_pretrained_options defaults = hd_pretrained_defaults();
    o = o ? o : &defaults;
    if (!HD__SIBLING_OK() || !hd__arg_given("folder", folder) ||
        !HD__SIZE_OK(o, "hd_pretrained_defaults()") || !hd__hf_dtype_ok(o->dtype)) {
        return NULL;
    }
    hd__text config_path = {0}, path = {0}, hint = {0};
    hd__hf_config config = {0};
    bool ok = hd__hf_path_of(folder, "config.json", &config_path) &&
              hd__hf_config_read(config_path.s, &config);
    if (config.left_out) {
        hd__text_format(&hint, ". config.json has no %s", config.left_out);
    }
    hd_safetensors *f = ok && !hint.failed ? weights_open(folder, &path, o) : NULL;
    const weights from = {path.s, f, hint.s ? hint.s : "", config.family};
    hd_module *m = f ? model_of(config_path.s, &config, &from, o->dtype) : NULL;
    ok = m && load_weights(m, &from) && keep_generation((hd__hf_model *)m, folder) &&
         hd_module_eval(m);
    m = hd__hf_module_if(ok, m);
    hd_safetensors_close(f);
    hd_free(config.values);
    hd_free(config_path.s);
    hd_free(path.s);
    hd_free(hint.s);
    return m;
}
