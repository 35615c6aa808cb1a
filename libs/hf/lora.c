/* lora.c - LoRA: puts low-rank adapters in the place of Linear and Conv1D modules, merges them into
 * the weights, and reads and writes their files.
 *
 *     y = x @ W^T + b + (lora_alpha / r) * B(A(dropout(x)))
 *
 * hd_lora_apply and hd_lora_load first find the modules, and make all adapters outside of the
 * model. hd_lora_load then fills them from the file. Then both exchange the modules, which needs no
 * memory. Last, hd_lora_apply draws the weights. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hf/hf_internal.h"

/* An adapter in the place of a Linear or a Conv1D, with the parameters of that module. */
typedef struct lora {
    hd_module base;
    hd_tensor *weight;          /* (out, in), or (in, out) if it is a Conv1D's */
    hd_tensor *bias;            /* (out,) or HD_NONE */
    hd_module *lora_dropout;    /* NULL: no dropout */
    hd_module *lora_A, *lora_B; /* Linear(in, r), Linear(r, out) */
    hd_module *plain;           /* the replaced module; no child, so a state dict lacks it */
    hd_lora_options o;
} lora;

static bool is_conv1d(const hd_module *m)
{
    return strcmp(m->type->name, "Conv1D") == 0;
}

/* ---------------------------------------------------------------- running */

/* Returns y, by the formula at the top of the file; NULL on failure. Multiplies A's result by
 * lora_alpha / r, because this result is the smallest tensor. */
static hd_tensor *lora_forward(hd_module *self, hd_tensor *x)
{
    lora *m = (lora *)self;
    hd_tensor *y = hd_linear(x, is_conv1d(m->plain) ? hd_t(m->weight) : m->weight, m->bias);
    hd_tensor *low = hd_forward(m->lora_A, m->lora_dropout ? hd_forward(m->lora_dropout, x) : x);
    low = hd_mul_scalar(low, m->o.lora_alpha / (double)m->o.r);
    return hd_add(y, hd_forward(m->lora_B, low));
}

static void lora_free(hd_module *self)
{
    hd_module_free(((lora *)self)->plain);
}

static const hd_module_type lora_type =
    HD_MODULE_TYPE(lora, "lora.Linear", lora_forward, lora_free);

/* ---------------------------------------------------------------- finding */

typedef struct lora_search {
    const hd_lora_options *o; /* NULL: the search is for adapters; else for o->target_modules */
    hd_dict *names;
} lora_search;

static bool takes_lora(const hd_module *m)
{
    return is_conv1d(m) || strcmp(m->type->name, "Linear") == 0;
}

static bool is_target(const hd_lora_options *o, const hd_module *m, const char *name)
{
    bool found = false;
    for (int64_t i = 0; i < o->num_target_modules && !found; i++) {
        const char *end = o->target_modules[i];
        size_t n = strlen(name), k = strlen(end);
        found = strcmp(end, "all-linear") == 0 ? takes_lora(m) && strcmp(name, "lm_head") != 0
                                               : n >= k && strcmp(name + n - k, end) == 0 &&
                                                     (n == k || name[n - k - 1] == '.');
    }
    return found;
}

static bool lora_visit(hd_module *m, const char *name, void *user)
{
    const lora_search *s = user;
    bool has = m->type == &lora_type;
    if (has && s->o) {
        return hd_fail(HD_STATE, "'%s' has an adapter already. Call hd_lora_merge first", name);
    }
    bool wanted = *name && (s->o ? is_target(s->o, m, name) : has);
    return !wanted || hd_dict_set_int(s->names, name, 0);
}

/* If o is NULL, returns the names of the adapters in m. Fails if there are none. Otherwise returns
 * the names of the modules that o->target_modules names. Fails if there are none, or if m already
 * has an adapter. A failure returns NULL with an error. */
static hd_dict *lora_names(hd_module *m, const hd_lora_options *o)
{
    lora_search s = {o, hd__arg_given("m", m) ? hd_dict_new() : NULL};
    bool ok = s.names && hd__hf_visit(m, lora_visit, &s);
    if (ok && hd_dict_len(s.names) == 0) {
        const char *first = o && o->num_target_modules > 0 ? o->target_modules[0] : "an empty list";
        ok = o ? hd_fail(HD_VALUE, "target_modules: %s matches no module of %s", first,
                         m->type->name)
               : hd_fail(HD_STATE, "%s has no adapters. Call hd_lora_apply first", m->type->name);
    }
    return hd__hf_dict_if(ok, s.names);
}

/* ---------------------------------------------------------------- making */

static bool lora_options_ok(const hd_lora_options *o)
{
    bool ok = HD__SIZE_OK(o, "hd_lora_defaults()") &&
              hd__arg_given("o->target_modules", o->target_modules);
    for (int64_t i = 0; ok && i < o->num_target_modules; i++) {
        ok = hd__arg_given("an entry of o->target_modules", o->target_modules[i]);
    }
    return ok && ((o->r > 0 && isfinite(o->lora_alpha)) ||
                  hd_fail(HD_VALUE,
                          "r %" PRId64 " and lora_alpha %g: expected r of at least 1, and a "
                          "finite lora_alpha",
                          o->r, o->lora_alpha));
}

/* Returns a new adapter for the module `plain` of this name, with A and B zero. Returns NULL with
 * an error if `plain` is no Linear or Conv1D. */
static hd_module *lora_new(const hd_lora_options *o, const hd_module *plain, const char *name)
{
    hd_list *own = hd_module_parameters(plain);
    int64_t n = hd_list_len(own);
    if (own && (!takes_lora(plain) || n < 1 || n > 2 || hd_ndim(hd_list_get(own, 0)) != 2)) {
        return hd_fail(HD_VALUE, "'%s' is %s: expected a Linear or a Conv1D", name,
                       plain->type->name);
    }
    lora *m = own ? (lora *)hd_module_new(&lora_type) : NULL;
    if (!m) {
        return NULL;
    }
    m->o = *o;
    m->o.target_modules = NULL; /* the caller may free the names */
    hd_tensor *weight = hd_list_get(own, 0);
    int64_t out = is_conv1d(plain), in = !out; /* the indices of weight's output and input dims */
    hd_register_parameter(&m->base, "weight", &m->weight, weight);
    hd_register_parameter(&m->base, "bias", &m->bias, n == 2 ? hd_list_get(own, 1) : HD_NONE);
    if (o->lora_dropout != 0) {
        hd_register_module(&m->base, "lora_dropout", &m->lora_dropout,
                           hd_dropout_new(o->lora_dropout, false));
    }
    hd_register_module(&m->base, "lora_A", &m->lora_A,
                       hd_linear_new(hd_size(weight, (int)in), o->r, false));
    hd_register_module(&m->base, "lora_B", &m->lora_B,
                       hd_linear_new(o->r, hd_size(weight, (int)out), false));
    hd_module *ready = hd_module_ready(&m->base);
    bool ok = ready && hd_module_train(ready, hd_module_training(plain)) &&
              (hd_dtype_of(weight) != HD_FLOAT64 || hd_module_to(ready, HD_FLOAT64));
    return hd__hf_module_if(ok, ready);
}

/* Returns a ModuleList of new adapters, one for each module of m whose name is in `names`, or NULL
 * on failure. */
static hd_module *lora_list(const hd_lora_options *o, hd_module *m, const hd_dict *names)
{
    HD_NO_INIT;
    HD__SCOPE_OR(NULL);
    hd_module *list = hd_module_list_n(0, NULL);
    bool ok = list;
    for (int64_t i = 0; ok && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        ok = hd_module_list_append(list, lora_new(o, hd_module_get(m, name), name));
    }
    return hd_module_ready(list);
}

/* Freezes m, and puts adapter i of `list` in the place of the module of m with name i of `names`.
 * The adapter keeps the old module as its `plain`. On failure, returns false with an error and
 * changes nothing. */
static bool lora_attach(hd_module *m, const hd_dict *names, hd_module *list)
{
    bool ok = hd_module_freeze(m, "");
    for (int64_t i = 0; ok && i < hd_dict_len(names); i++) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, i);
        hd_module *made = hd_module_take(list, number);
        ((lora *)made)->plain = hd_module_take(m, hd_dict_name(names, i));
        ok = hd_module_set(m, hd_dict_name(names, i), made);
    }
    return ok;
}

/* Draws A, B and again A, as peft does, so that A has the same random numbers as in peft. Then sets
 * B to 0. Returns false with an error on failure. */
static bool lora_draw(const lora *m)
{
    hd_tensor *A = hd_module_get_parameter(m->lora_A, "weight");
    hd_tensor *B = hd_module_get_parameter(m->lora_B, "weight");
    hd_tensor *const drawn[] = {A, B, A};
    bool ok = true;
    for (int i = 0; ok && i < 3; i++) {
        ok = hd_init_kaiming_uniform_(drawn[i], sqrt(5), HD_FAN_IN, "leaky_relu");
    }
    return ok && hd_init_zeros_(B);
}

/* ---------------------------------------------------------------- the tensors of files */

/* Returns a dict of the weights of A and B of all adapters, under peft's names, or NULL on failure.
 * `names` has the names of the adapted modules. The adapters are in `list`, or in m if `list` is
 * NULL. */
static hd_dict *adapter_tensors(const hd_dict *names, hd_module *list, hd_module *m)
{
    hd_dict *d = hd_dict_new();
    hd__text key = {0};
    bool ok = d;
    for (int64_t i = 0; ok && i < 2 * hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i / 2);
        lora *from = (lora *)(list ? hd_module_list_get(list, i / 2) : hd_module_get(m, name));
        hd__text_cut(&key, 0);
        hd__text_format(&key, "base_model.model.%s.lora_%c.weight", name, i % 2 ? 'B' : 'A');
        hd_module *part = i % 2 ? from->lora_B : from->lora_A;
        ok = !key.failed && hd_dict_set(d, key.s, hd_module_get_parameter(part, "weight"));
    }
    hd_free(key.s);
    return hd__hf_dict_if(ok, d);
}

/* Copies the file's tensors into those of the same names in `adapters`. Returns false with an error
 * if one is missing in the file, or has another shape. */
static bool fill_adapters(const char *path, const hd_safetensors *f, const hd_dict *adapters)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(false);
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(adapters); i++) {
        const char *name = hd_dict_name(adapters, i);
        hd_tensor *to = hd_dict_get(adapters, name);
        int64_t at = hd_safetensors_find(f, name);
        const char *wanted = HD__SIZES(hd_ndim(to), hd_sizes(to));
        const char *found =
            at < 0 ? "missing" : HD__SIZES(hd_safetensors_ndim(f, at), hd_safetensors_sizes(f, at));
        ok = strcmp(found, wanted) == 0 ? hd_copy_(to, hd_safetensors_read(f, at))
                                        : hd_fail(at < 0 ? HD_VALUE : HD_SHAPE,
                                                  "'%.*s': %s is %s: expected %s for this model",
                                                  HD__CUT(path), name, found, wanted);
    }
    return ok;
}

/* Returns x as float32, to compare it with another weight. If `rounded` is true, because x or the
 * other weight is bfloat16, rounds x to bfloat16 first. NULL on failure. */
static hd_tensor *comparable(hd_tensor *x, bool rounded)
{
    return hd_to(rounded ? hd_to(x, HD_BFLOAT16) : x, HD_FLOAT32);
}

/* Returns false with an error unless tensor `at` of the file equals the model's weight. */
static bool same_weight(const char *path, const hd_safetensors *f, int64_t at, hd_tensor *weight)
{
    HD__SCOPE_OR(false);
    const char *name = hd_safetensors_name(f, at);
    const char *wanted = HD__SIZES(hd_ndim(weight), hd_sizes(weight));
    const char *found = HD__SIZES(hd_safetensors_ndim(f, at), hd_safetensors_sizes(f, at));
    if (strcmp(found, wanted) != 0) {
        return hd_fail(HD_SHAPE,
                       "'%.*s': %s is %s: expected %s, as in this model. Load "
                       "the adapter into a model whose vocabulary was resized in the same way",
                       HD__CUT(path), name, found, wanted);
    }
    bool rounded =
        hd_dtype_of(weight) == HD_BFLOAT16 || strcmp(hd_safetensors_type(f, at), "BF16") == 0;
    hd_tensor *read = hd_safetensors_read(f, at);
    hd_tensor *copy = read ? comparable(read, rounded) : NULL;
    hd_tensor *own = copy ? comparable(weight, rounded) : NULL;
    return own && (hd_equal(copy, own) ||
                   hd_fail(HD_VALUE,
                           "'%.*s': %s differs from the weight of this model: expected a copy of "
                           "it. Load the adapter into the model on which it was trained",
                           HD__CUT(path), name));
}

/* Removes peft's additions from `name`, the name of a tensor in the file, and returns the weight of
 * the remaining name in `weights`. Returns NULL if there is none. peft adds a prefix, and
 * base_layer in a module with an adapter. */
static hd_tensor *copied_weight(const hd_dict *weights, const char *name)
{
    static const char prefix[] = "base_model.model.", layer[] = ".base_layer.";
    const size_t n = strlen(prefix);
    const char *own = strncmp(name, prefix, n) == 0 ? name + n : name, *at = strstr(own, layer);
    hd__text text = {0};
    hd__text_add(&text, own, at ? (size_t)(at - own) : strlen(own));
    hd__text_puts(&text, at ? at + strlen(layer) - 1 : "");
    bool known = !text.failed && hd_dict_kind_of(weights, text.s) == HD_DICT_TENSOR;
    hd_tensor *weight = known ? hd_dict_get(weights, text.s) : NULL;
    hd_free(text.s);
    return weight;
}

/* Returns false with an error if the file has a tensor that is neither an adapter's nor a copy of a
 * weight of m. peft writes such copies, for example of resized embeddings. */
static bool others_are_copies(const char *path, const hd_safetensors *f, const hd_dict *adapters,
                              hd_module *m)
{
    HD_NO_GRAD;
    hd_dict *weights = hd_module_state_dict(m);
    bool ok = weights;
    for (int64_t i = 0; ok && i < hd_safetensors_len(f); i++) {
        const char *name = hd_safetensors_name(f, i);
        bool adapter = hd_dict_kind_of(adapters, name) != HD_DICT_MISSING;
        hd_tensor *weight = adapter ? NULL : copied_weight(weights, name);
        if (weight) {
            ok = same_weight(path, f, i, weight);
        } else if (!adapter) {
            ok = hd_fail(HD_VALUE,
                         "'%.*s' has %s: expected only adapters of "
                         "target_modules, and copies of this model's weights",
                         HD__CUT(path), name);
        }
    }
    hd_dict_free(weights);
    return ok;
}

/* Fills the adapters in `list`, which are for m, from a file. Returns false with an error if the
 * file does not fit. */
static bool read_adapters(const char *path, const hd_safetensors *f, const hd_dict *names,
                          hd_module *list, hd_module *m)
{
    hd_dict *adapters = adapter_tensors(names, list, NULL);
    bool ok =
        adapters && fill_adapters(path, f, adapters) && others_are_copies(path, f, adapters, m);
    hd_dict_free(adapters);
    return ok;
}

/* ---------------------------------------------------------------- applying */

hd_lora_options hd_lora_defaults(void)
{
    static const char *const all[] = {"all-linear"};
    return (hd_lora_options){sizeof(hd_lora_options), 8, 8, 0, all, 1};
}

/* Returns false with an error if the file is too small to have adapters of rank r. */
static bool rank_fits(const char *path, const hd_safetensors *f, int64_t r)
{
    int64_t bytes = hd__hf_file_bytes(f);
    return r <= bytes || hd_fail(HD_FORMAT,
                                 "'%.*s' has only %" PRId64
                                 " bytes of weights: too few for adapters with r %" PRId64,
                                 HD__CUT(path), bytes, r);
}

/* Puts adapters with the options o into m. If path is NULL, draws their weights; otherwise reads
 * them from this file. Returns false with an error on failure. */
static bool lora_put(hd_module *m, const hd_lora_options *o, const char *path)
{
    bool begun = HD__SIBLING_OK() && lora_options_ok(o);
    hd_dict *names = begun ? lora_names(m, o) : NULL;
    hd_safetensors *f = names && path ? hd_safetensors_open(path, NULL) : NULL;
    bool fits = names && (!path || (f && rank_fits(path, f, o->r)));
    hd_module *list = fits ? lora_list(o, m, names) : NULL;
    bool ok =
        list && (!path || read_adapters(path, f, names, list, m)) && lora_attach(m, names, list);
    for (int64_t i = 0; ok && !path && i < hd_dict_len(names); i++) {
        ok = lora_draw((const lora *)hd_module_get(m, hd_dict_name(names, i)));
    }
    hd_module_free(list);
    hd_safetensors_close(f);
    hd_dict_free(names);
    return ok;
}

bool hd_lora_apply(hd_module *m, const hd_lora_options *options)
{
    HD__CALL("hd_lora_apply");
    hd_lora_options o = hd_lora_defaults();
    return lora_put(m, options ? options : &o, NULL);
}

/* ---------------------------------------------------------------- merging */

/* Sets the weight of m->plain to W + (lora_alpha / r) * B @ A, and its bias and mode to those of m.
 * The weight is a new tensor with the dtype of A and B, so parameters that are tied to W do not
 * change. Returns false with an error on failure. */
static bool lora_add(lora *m)
{
    HD_NO_GRAD;
    HD__SCOPE_OR(false);
    hd_module *plain = m->plain;
    hd_tensor *delta = hd_matmul(hd_module_get_parameter(m->lora_B, "weight"),
                                 hd_module_get_parameter(m->lora_A, "weight")); /* (out, in) */
    delta =
        hd_mul_scalar_(is_conv1d(plain) ? hd_t(delta) : delta, m->o.lora_alpha / (double)m->o.r);
    hd_tensor *sum = hd_parameter(hd_add_(delta, hd_to(m->weight, hd_dtype_of(delta))), false);
    return sum && hd_module_to(plain, hd_dtype_of(sum)) &&
           hd_module_set_parameter(plain, "weight", sum) &&
           (m->bias == HD_NONE || hd_module_set_parameter(plain, "bias", m->bias)) &&
           hd_module_train(plain, hd_module_training(&m->base));
}

bool hd_lora_merge(hd_module *m)
{
    HD__CALL("hd_lora_merge");
    hd_dict *names = lora_names(m, NULL);
    bool ok = names;
    for (int64_t i = 0; ok && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        lora *each = (lora *)hd_module_get(m, name);
        ok = lora_add(each) && hd_module_take(m, name);
        if (ok) {
            ok = hd_module_set(m, name, each->plain);
            each->plain = NULL;
            hd_module_free(&each->base);
        }
    }
    hd_dict_free(names);
    return ok;
}

/* ---------------------------------------------------------------- folders */

static const char config_name[] = "adapter_config.json";
static const char tensors_name[] = "adapter_model.safetensors";

/* Appends the text of adapter_config.json for the adapters in m, whose names are `names`, to t.
 * Returns false with an error if their options differ. */
static bool config_text(hd__text *t, const hd_dict *names, hd_module *m)
{
    const lora *first = (lora *)hd_module_get(m, hd_dict_name(names, 0));
    const hd_lora_options *o = &first->o;
    hd__text list = {0};
    bool conv1d = false, ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(names); i++) {
        const char *name = hd_dict_name(names, i);
        const lora *each = (lora *)hd_module_get(m, name);
        conv1d |= is_conv1d(each->plain);
        hd__text_puts(&list, i ? ",\n    " : "\n    ");
        hd__text_json(&list, name, strlen(name), true);
        ok = (each->o.r == o->r && each->o.lora_alpha == o->lora_alpha &&
              each->o.lora_dropout == o->lora_dropout) ||
             hd_fail(HD_VALUE,
                     "'%s' and '%s' differ in r, lora_alpha or lora_dropout: expected the same "
                     "in all adapters",
                     hd_dict_name(names, 0), name);
    }
    hd__text_format(t,
                    "{\n  \"base_model_name_or_path\": null,\n  \"bias\": \"none\",\n"
                    "  \"fan_in_fan_out\": %s,\n  \"inference_mode\": true,\n"
                    "  \"lora_alpha\": %s,\n  \"lora_dropout\": %s,\n"
                    "  \"peft_type\": \"LORA\",\n  \"r\": %" PRId64 ",\n"
                    "  \"target_modules\": [%s\n  ],\n  \"task_type\": null,\n"
                    "  \"use_rslora\": false\n}",
                    conv1d ? "true" : "false", HD__SHORT(o->lora_alpha), HD__SHORT(o->lora_dropout),
                    o->r, list.s ? list.s : "");
    ok = ok && !list.failed;
    hd_free(list.s);
    return ok;
}

/* Writes the two files of the adapters in m into the new folder f. Returns false with an error on
 * failure. */
static bool write_adapter(hd__folder *f)
{
    hd_module *m = f->user;
    hd__text config = {0};
    hd_dict *names = lora_names(m, NULL);
    hd_dict *tensors = names ? adapter_tensors(names, NULL, m) : NULL;
    bool ok = tensors && config_text(&config, names, m) && hd__hf_files_write(f, &config, tensors);
    hd_dict_free(tensors);
    hd_dict_free(names);
    hd_free(config.s);
    return ok;
}

bool hd_lora_save(hd_module *m, const char *folder)
{
    HD__CALL("hd_lora_save");
    static const char *const files[] = {config_name, tensors_name, NULL};
    hd__folder f = {
        .path = folder, .what = "adapter", .names = files, .fill = write_adapter, .user = m};
    return HD__SIBLING_OK() && hd__arg_given("m", m) && hd__arg_given("folder", folder) &&
           hd__arg_may_save() && hd__folder_write(&f);
}

bool hd_lora_load(hd_module *m, const char *folder)
{
    HD__CALL("hd_lora_load");
    if (!HD__SIBLING_OK() || !hd__arg_given("m", m) || !hd__arg_given("folder", folder)) {
        return false;
    }
    hd_lora_options o = hd_lora_defaults();
    hd__text path = {0};
    hd_dict *d = hd__hf_path_of(folder, config_name, &path) ? hd__hf_json_values(path.s) : NULL;
    const char **names = d ? hd__arg_alloc_items(hd_dict_len(d) + 1, sizeof *names) : NULL;
    o.target_modules = names;
    o.num_target_modules = 0;
    bool ok = names && hd__hf_adapter_config(path.s, d, &o) &&
              hd__hf_path_of(folder, tensors_name, &path) && lora_put(m, &o, path.s);
    hd_free(names);
    hd_dict_free(d);
    hd_free(path.s);
    return ok;
}
