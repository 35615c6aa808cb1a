/* config_write.c - finds the configuration that a model has now, and writes config.json.
 *
 * The user may have replaced modules. So hd__hf_config_now reads sizes, eps, dropouts and the
 * activation from the modules. Then it makes a model of this configuration, without memory for
 * weights, and compares it with the user's. If a module differs, no config.json describes the
 * user's model. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hf/family.h"

/* ---------------------------------------------------------------- read from the modules */

/* True if m has the class of `like`. Frees `like`. False if `like` is NULL because memory ran
 * out. */
static bool of_class(const hd_module *m, hd_module *like)
{
    bool is = like && m->type == like->type;
    hd_module_free(like);
    return is;
}

/* Returns the parameter of this name that belongs to m itself. Returns NULL if there is none, and
 * NULL with an error if memory runs out. */
static const hd_tensor *own_parameter(const hd_module *m, const char *name)
{
    hd_dict *all = hd_module_named_parameters(m);
    bool has = all && hd_dict_kind_of(all, name) == HD_DICT_TENSOR;
    const hd_tensor *x = has ? hd_dict_get(all, name) : NULL;
    hd_dict_free(all);
    return x;
}

/* Returns transformers' name of the activation m. If m has several names, and the configuration's
 * name `now` is one of them, returns `now`. If heed knows no name for m, also returns `now`. */
static const char *activation_read(const hd_module *m, const char *now)
{
    if (of_class(m, hd_relu_new(false))) {
        return "relu";
    }
    if (!of_class(m, hd_gelu_new("none"))) {
        return now;
    }
    if (strcmp(hd_gelu_approximate(m), "none") == 0) {
        return "gelu";
    }
    return strcmp(now, "gelu_pytorch_tanh") == 0 ? now : "gelu_new";
}

/* Sets *at to m's value of this kind; leaves *at as it is if m has none. Returns false with an
 * error if memory runs out. */
static bool value_read(hd__hf_known_kind kind, const hd_module *m, void *at)
{
    const hd_tensor *w = own_parameter(m, "weight");
    switch (kind) {
    case HD__ROWS:
    case HD__COLUMNS:
        if (w && hd_ndim(w) == 2) {
            *(int64_t *)at = hd_size(w, kind == HD__COLUMNS);
        }
        break;
    case HD__BIAS: *(bool *)at = own_parameter(m, "bias"); break;
    case HD__LENGTH:
        if (of_class(m, hd_module_list_n(0, NULL))) {
            *(int64_t *)at = hd_module_list_len(m);
        }
        break;
    case HD__EPS:
        if (of_class(m, hd_layer_norm_new(1)) || of_class(m, hd_rms_norm_new(1, 1))) {
            *(double *)at = hd_norm_eps(m);
        }
        break;
    case HD__P:
        if (of_class(m, hd_dropout_new(0, false))) {
            *(double *)at = hd_dropout_p(m);
        }
        break;
    case HD__ACT: *(const char **)at = activation_read(m, *(const char **)at); break;
    }
    return hd_error_code() == HD_OK; /* not HD_OK if memory has run out */
}

/* Sets the values of the configuration `user` that can be read from m. Returns false with an error
 * if memory runs out. */
static bool module_read(hd_module *m, const char *name, void *user)
{
    hd__hf_config *c = user;
    const hd__hf_family *family = c->family;
    bool ok = true;
    for (const hd__hf_known *k = family->known; ok && k->key; k++) {
        void *at = hd__hf_ends_in(name, k->module) ? hd__hf_config_at(c, k->key) : NULL;
        ok = !at || value_read(k->kind, m, at);
    }
    if (ok && family->read) {
        family->read(m, c->values);
    }
    return ok;
}

/* ---------------------------------------------------------------- compared */

enum { EXTRA = 256, TEXT = 2 * EXTRA };

/* Writes m to text as hd_module_summary shows it, without the parts that no configuration has.
 * Returns text, such as "Linear(in_features=16, out_features=2, bias=True)" or "GPT2Attention()
 * with 2 heads". */
static const char *described(const hd_module *m, int64_t heads, char text[TEXT])
{
    static const char *const unsaid[] = {", padding_idx=", ", inplace=", "inplace="};
    char extra[EXTRA] = "";
    if (m->type->extra) {
        m->type->extra(m, extra, EXTRA);
        extra[EXTRA - 1] = '\0';
    }
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        char *at = strstr(extra, unsaid[i]);
        if (at) {
            *at = '\0';
        }
    }
    int n = snprintf(text, TEXT, "%s(%s)", m->type->name, extra);
    if (heads > 0) {
        snprintf(text + n, (size_t)(TEXT - n), " with %" PRId64 " heads", heads);
    }
    return text;
}

typedef struct comparison {
    const hd__hf_family *family;
    hd_module *made; /* the model that heed makes from the configuration */
    hd_dict *names;  /* the names of the modules that both models have */
} comparison;

static bool module_unlike(const char *name, const char *found, const char *expected)
{
    return hd_fail(HD_STATE,
                   "%.*s is %s, but the configuration says %s. transformers has no "
                   "such model. Save it with hd_checkpoint_save",
                   HD__CUT(*name ? name : "m"), found, expected);
}

/* Returns false with an error if m is an adapter, from which no values can be read. */
static bool module_plain(hd_module *m, const char *name, void *user)
{
    (void)user;
    return strcmp(m->type->name, "lora.Linear") != 0 ||
           hd_fail(HD_STATE,
                   "'%s' has an adapter. Merge the adapters with hd_lora_merge, or save them with "
                   "hd_lora_save",
                   name);
}

/* True if both modules have a parameter of this name with the same shape, or neither has one. */
static bool same_shape(const hd_module *m, const hd_module *wanted, const char *name)
{
    const hd_tensor *w = own_parameter(m, name), *v = own_parameter(wanted, name);
    return w && v ? hd_ndim(w) == hd_ndim(v) &&
                        memcmp(hd_sizes(w), hd_sizes(v), (size_t)hd_ndim(w) * sizeof(int64_t)) == 0
                  : w == v;
}

/* True if m and wanted, which have the same class, have the same p, eps or `approximate`, if
 * any. */
static bool same_numbers(const hd_module *m, const hd_module *wanted)
{
    const char *class = m->type->name;
    if (strcmp(class, "Dropout") == 0) {
        return hd_dropout_p(m) == hd_dropout_p(wanted);
    }
    if (strcmp(class, "GELU") == 0) {
        return strcmp(hd_gelu_approximate(m), hd_gelu_approximate(wanted)) == 0;
    }
    bool norm = strcmp(class, "LayerNorm") == 0 || strcmp(class, "RMSNorm") == 0;
    return !norm || hd_norm_eps(m) == hd_norm_eps(wanted);
}

/* Returns false with an error if m, a module of the user's model, differs from the module of this
 * name in the configuration's model. That module exists, because the parents of m were compared
 * before. */
static bool module_same(hd_module *m, const char *name, void *user)
{
    const comparison *c = user;
    const hd_module *wanted = *name ? hd_module_get(c->made, name) : c->made;
    char found[TEXT], room[TEXT];
    int64_t heads = c->family->heads(m), wanted_heads = c->family->heads(wanted);
    const char *expected = described(wanted, wanted_heads, room);
    if (m->type != wanted->type && strcmp(m->type->name, wanted->type->name) == 0) {
        return module_unlike(name, "a class of your own", expected);
    }
    bool same = m->type == wanted->type && heads == wanted_heads &&
                same_shape(m, wanted, "weight") && same_shape(m, wanted, "bias") &&
                same_numbers(m, wanted);
    if (hd_error_code() != HD_OK) { /* not HD_OK if memory has run out */
        return false;
    }
    if (!same) {
        return module_unlike(name, described(m, heads, found), expected);
    }
    return !*name || hd_dict_set_int(c->names, name, 0);
}

/* Returns false with an error if the user's model lacks m, a module of the configuration's
 * model. */
static bool module_there(hd_module *m, const char *name, void *user)
{
    const comparison *c = user;
    char expected[TEXT];
    return !*name || hd_dict_kind_of(c->names, name) != HD_DICT_MISSING ||
           module_unlike(name, "missing", described(m, c->family->heads(m), expected));
}

/* Returns false with an error if transformers would refuse a config.json with these numbers. */
static bool numbers_ok(const hd__hf_config *c)
{
    for (const hd__hf_config_key *k = c->family->keys.keys; k->name; k++) {
        bool number = k->kind == HD__FLOAT || k->kind == HD__NUMBER;
        const double *v = number ? hd__hf_config_at(c, k->name) : NULL;
        if (v && !isfinite(*v)) {
            return hd_fail(HD_VALUE, "%s %s: expected a finite number", k->name, HD__FLOAT(*v));
        }
    }
    return !c->family->heads_divide ||
           hd__hf_divides_ok(c, "num_attention_heads", hd__hf_config_int(c, "num_attention_heads"),
                             "hidden_size", hd__hf_config_int(c, "hidden_size"));
}

/* True if the head and the embedding share one weight. */
static bool is_tied(hd__hf_model *m)
{
    hd_module *words = hd_module_get(&m->base, m->config.family->words);
    return hd_module_get_parameter(&m->base, "lm_head.weight") ==
           hd_module_get_parameter(words, "weight");
}

bool hd__hf_config_now(hd__hf_model *m, hd__hf_config *c)
{
    HD_NO_INIT;
    const hd_dtype d = HD_FLOAT32;
    const hd__hf_family *family = m->config.family;
    comparison both = {.family = family};
    if (!hd__hf_visit(&m->base, module_plain, &both) ||
        !hd__hf_config_begin(c, family, m->config.values)) {
        return false;
    }
    c->kept = m->config.kept;
    if (!hd__hf_visit(&m->base, module_read, c)) {
        return false;
    }
    both.made = hd__hf_model_make(family, c->values, &d);
    both.names = hd_dict_new();
    bool ok = both.made && both.names && numbers_ok(c) &&
              hd__hf_visit(&m->base, module_same, &both) &&
              hd__hf_visit(both.made, module_there, &both);
    if (ok) {
        *(bool *)hd__hf_config_at(c, "tie_word_embeddings") = is_tied(m);
    }
    hd_module_free(both.made);
    hd_dict_free(both.names);
    return ok;
}

/* ---------------------------------------------------------------- written */

static void add_special(hd__text *t, int64_t id)
{
    if (id == HD_NO_PADDING) {
        hd__text_puts(t, "null");
    } else {
        hd__text_format(t, "%" PRId64, id);
    }
}

static void add_flags(hd__text *t, const int64_t *n)
{
    const bool *flags = (const bool *)(n + 1);
    for (int64_t i = 0; i < *n; i++) {
        hd__text_format(t, "%s%d", i ? ", " : "[", flags[i]);
    }
    hd__text_puts(t, *n ? "]" : "null");
}

/* Appends to t the keys that have a field in the configuration, with their values. */
static void add_members(hd__text *t, const hd__hf_config *c)
{
    for (const hd__hf_config_key *k = c->family->keys.keys; k->name; k++) {
        if (k->offset == HD__NOWHERE || k->kind == HD__ALIAS) {
            continue;
        }
        const void *at = (const char *)c->values + k->offset;
        const int n = (int)strcspn(k->name, "."); /* without the dot of a list */
        hd__text_format(t, ",\n  \"%.*s\": ", n, k->name);
        switch (k->kind) {
        case HD__FLOAT:
        case HD__NUMBER: hd__text_puts(t, HD__FLOAT(*(const double *)at)); break;
        case HD__BOOL: hd__text_puts(t, *(const bool *)at ? "true" : "false"); break;
        case HD__FLAGS: add_flags(t, at); break;
        case HD__ACTIVATION: hd__text_format(t, "\"%s\"", *(const char *const *)at); break;
        default: add_special(t, *(const int64_t *)at); break;
        }
    }
}

/* Appends to t the options of the rotary positions in both forms. transformers 5 reads
 * rope_parameters; version 4 reads only rope_scaling, and rope_theta, which add_members has
 * appended. */
static void add_rope(hd__text *t, const hd_rotary_options *o)
{
    bool scaled = o->original_max_position_embeddings > 0;
    for (int i = 0; i <= scaled; i++) {
        hd__text_format(t, ",\n  \"%s\": {\"rope_type\": \"%s\"",
                        i ? "rope_scaling" : "rope_parameters", scaled ? "llama3" : "default");
        if (scaled) {
            hd__text_format(t,
                            ", \"factor\": %s, \"low_freq_factor\": %s, "
                            "\"high_freq_factor\": %s, "
                            "\"original_max_position_embeddings\": %" PRId64,
                            HD__FLOAT(o->factor), HD__FLOAT(o->low_freq_factor),
                            HD__FLOAT(o->high_freq_factor), o->original_max_position_embeddings);
        }
        if (i == 0) {
            hd__text_format(t, ", \"rope_theta\": %s", HD__FLOAT(o->theta));
        }
        hd__text_puts(t, "}");
    }
}

/* Appends to t the end tokens: one as a number, several as a list, none as null. */
static void add_ends(hd__text *t, const hd_generate_options *o)
{
    const char *open = o->num_eos > 1 ? "[" : "";
    hd__text_format(t, ",\n  \"eos_token_id\": %s", o->num_eos ? open : "null");
    for (int64_t i = 0; i < o->num_eos; i++) {
        hd__text_format(t, "%s%" PRId64, i ? ", " : "", o->eos_token_id[i]);
    }
    hd__text_puts(t, o->num_eos > 1 ? "]" : "");
}

void hd__hf_config_write(const hd__hf_config *c, hd_dtype d, hd__text *t)
{
    const hd__hf_family *family = c->family;
    hd__text_format(t, "{\n  \"architectures\": [\"%s\"],\n  \"model_type\": \"%s\"",
                    family->type.name, family->model_type);
    add_members(t, c);
    hd__text_puts(t, ",\n  \"bos_token_id\": ");
    add_special(t, c->kept.bos_token_id);
    if (!hd__hf_config_at(c, "pad_token_id")) {
        hd__text_puts(t, ",\n  \"pad_token_id\": ");
        add_special(t, c->kept.pad_token_id);
    }
    if (family->rope != HD__NOWHERE) {
        add_rope(t, hd__hf_config_rope(c));
    }
    add_ends(t, &c->kept.ends);
    hd__text_format(t, ",\n  \"use_cache\": %s,\n  \"dtype\": \"%s\"\n}\n",
                    c->kept.use_cache ? "true" : "false", hd_dtype_name(d));
}
