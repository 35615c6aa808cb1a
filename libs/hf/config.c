/* config.c - reads config.json, generation_config.json and adapter_config.json. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hf/family.h"

/* ---------------------------------------------------------------- config.json */

/* Returns the value of this name in f. For a number, returns "a number". Returns NULL if the value
 * is missing or is one of the words in `none`. */
static const char *text_value(const hd__hf_config_file *f, const char *name, const char *none)
{
    hd__hf_value v = hd__hf_value_of(f, name);
    return !v.name || hd__hf_is_word(&v, none) ? NULL : v.text ? v.text : "a number";
}

static const char *config_type(const hd__hf_config_file *f)
{
    return text_value(f, "model_type", "null");
}

static const char *config_class(const hd__hf_config_file *f)
{
    const char *first = text_value(f, "architectures.0", NULL);
    return first ? first : text_value(f, "architectures", "null []");
}

/* Returns the family with this model_type and class. If one of the two is NULL, the other decides.
 * Returns NULL, without an error, if there is no such family or both are NULL. */
static const hd__hf_family *family_named(const char *type, const char *class)
{
    const hd__hf_family *const *f = hd__hf_families;
    while (*f && ((type && strcmp(type, (*f)->model_type) != 0) ||
                  (class && strcmp(class, (*f)->type.name) != 0))) {
        f++;
    }
    return type || class ? *f : NULL;
}

/* Returns the family that config.json names. If heed does not have it, returns NULL with an error
 * that names all families. */
static const hd__hf_family *family_of(const hd__hf_config_file *f)
{
    const char *type = config_type(f), *class = config_class(f);
    const hd__hf_family *family = family_named(type, class);
    if (family) {
        return family;
    }
    hd__text all = {0};
    for (int i = 0; hd__hf_families[i]; i++) {
        const char *between = i == 0 ? "" : hd__hf_families[i + 1] ? ", " : ", or ";
        hd__text_format(&all, "%s%s and %s", between, hd__hf_families[i]->model_type,
                        hd__hf_families[i]->type.name);
    }
    if (!all.failed) {
        type = type ? type : "none";
        class = class ? class : "none";
        hd_fail(HD_VALUE, "'%.*s': model_type %.*s and architectures %.*s: expected %s",
                HD__CUT(f->path), HD__CUT(type), HD__CUT(class), all.s);
    }
    hd_free(all.s);
    return NULL;
}

/* Returns false with an error if a number is missing that the rope_type llama3 requires. */
static bool llama3_ok(const hd__hf_config_file *f)
{
    for (const hd__hf_config_key *k = hd__hf_rope_llama3.keys; k->kind == HD__NUMBER; k++) {
        if (!hd__hf_value_of(f, k->name).name) {
            return hd_fail(HD_VALUE,
                           "'%.*s': %s%s is missing: expected a number. The rope_type llama3 "
                           "needs it",
                           HD__CUT(f->path), f->inside, k->name);
        }
    }
    return true;
}

/* Returns false with an error unless all numbers are above 0 and low_freq_factor is below
 * high_freq_factor. */
static bool rope_numbers_ok(const hd__hf_config_file *f, const hd_rotary_options *o)
{
    return (o->theta > 0 && o->factor > 0 && o->low_freq_factor > 0 &&
            o->low_freq_factor < o->high_freq_factor) ||
           hd_fail(HD_VALUE,
                   "'%.*s': rope_theta %s, factor %s, low_freq_factor %s and "
                   "high_freq_factor %s: expected numbers above 0, and low_freq_factor "
                   "below high_freq_factor",
                   HD__CUT(f->path), HD__SHORT(o->theta), HD__SHORT(o->factor),
                   HD__SHORT(o->low_freq_factor), HD__SHORT(o->high_freq_factor));
}

/* True if rope_scaling repeats each value of rope_parameters (`in`). For a key that rope_scaling
 * lacks, f itself must repeat the value. Files for several versions of transformers repeat
 * values. */
static bool said_again(const hd__hf_config_file *in, const hd__hf_config_file *scaling,
                       const hd__hf_config_file *f)
{
    bool same = true;
    for (const hd__hf_config_key *k = hd__hf_rope_llama3.keys; same && k->name; k++) {
        hd__hf_value v = hd__hf_value_of(in, k->name), again = hd__hf_value_of(scaling, k->name);
        again = again.name ? again : hd__hf_value_of(f, k->name);
        same = !v.name || (again.name && v.number == again.number &&
                           strcmp(v.text ? v.text : "", again.text ? again.text : "") == 0);
    }
    return same;
}

/* Reads the options of the rotary positions into c, from rope_scaling if f has it, else from
 * rope_parameters. A rope_theta inside this object overrides a rope_theta at the top level of the
 * file. Returns false with an error if a value is wrong. */
static bool rope_read(const hd__hf_config_file *f, const hd__hf_config *c)
{
    hd__hf_config_file scaling = *f, in = *f;
    hd_rotary_options *o = hd__hf_config_rope(c);
    double theta = o->theta;
    scaling.inside = "rope_scaling.";
    in.inside = "rope_parameters.";
    if (hd__hf_count_inside(&scaling)) {
        if (!said_again(&in, &scaling, f)) {
            hd_warn("'%.*s': rope_parameters has no effect beside rope_scaling", HD__CUT(f->path));
        }
        in.inside = scaling.inside;
    }
    hd__hf_value type = hd__hf_value_of(&in, "rope_type");
    type = type.name ? type : hd__hf_value_of(&in, "type");
    bool llama3 = type.quoted && strcmp(type.text, "llama3") == 0;
    if (type.name && !llama3 && !hd__hf_is_word(&type, "default")) {
        return hd__hf_refuse_value(
            &in, &type, &(hd__hf_config_key){"", HD__ONLY, HD__NOWHERE, "default llama3"}, NULL);
    }
    o->original_max_position_embeddings =
        llama3 ? hd__hf_config_int(c, "max_position_embeddings") : 0;
    bool ok = hd__hf_config_fill(&in, llama3 ? &hd__hf_rope_llama3 : &hd__hf_rope_default, o) &&
              (!llama3 || (llama3_ok(&in) && hd__hf_config_fill(f, &hd__hf_rope_beside, o))) &&
              rope_numbers_ok(f, o);
    if (ok && hd__hf_value_of(f, "rope_theta").name && o->theta != theta) {
        hd_warn("'%.*s': rope_theta %s has no effect: %srope_theta is %s", HD__CUT(f->path),
                HD__SHORT(theta), in.inside, HD__SHORT(o->theta));
    }
    return ok;
}

/* Returns the name of the first size that the file lacks, under all names that the size may have.
 * Returns NULL if no size is missing. */
static const char *left_out(const hd__hf_config_file *f, const hd__hf_config_keys *t)
{
    for (const hd__hf_config_key *k = t->keys; k->name; k++) {
        const hd__hf_config_key *also = k;
        while (also->name && (also->offset != k->offset || !hd__hf_value_of(f, also->name).name)) {
            also++;
        }
        if (k->kind == HD__SIZE && k->offset != HD__NOWHERE && !also->name) {
            return k->name;
        }
    }
    return NULL;
}

/* Sets o's end tokens to those in config.json, or to the family's default. Returns false with an
 * error if a value is wrong. */
static bool ends_read(const hd__hf_config_file *f, hd_generate_options *o)
{
    const hd__hf_family *family = family_named(config_type(f), config_class(f));
    if (!hd__hf_config_fill(f, &hd__hf_ends_keys, o)) {
        return false;
    }
    if (family && family->eos_token_id != HD_NO_PADDING &&
        !hd__hf_value_of(f, "eos_token_id").name && o->num_eos == 0) {
        o->eos_token_id[o->num_eos++] = family->eos_token_id;
    }
    return true;
}

/* Sets bos_token_id, pad_token_id and use_cache of c to the values in the file, or to defaults.
 * heed does not use these values; it only writes them to a new config.json. The family's table of
 * keys checks them. */
static void kept_read(const hd__hf_config_file *f, const hd__hf_family *family, hd__hf_kept *c)
{
    hd__hf_value bos = hd__hf_value_of(f, "bos_token_id"), pad = hd__hf_value_of(f, "pad_token_id"),
                 use_cache = hd__hf_value_of(f, "use_cache");
    c->bos_token_id = bos.name ? HD_NO_PADDING : family->bos_token_id;
    c->bos_token_id = bos.whole ? bos.integer : c->bos_token_id;
    c->pad_token_id = pad.whole ? pad.integer : HD_NO_PADDING;
    c->use_cache = !hd__hf_is_word(&use_cache, "false");
}

static bool config_of(const hd__hf_config_file *f, hd__hf_config *c)
{
    const hd__hf_family *family = family_of(f);
    if (!family || !hd__hf_config_begin(c, family, NULL)) {
        return false;
    }
    c->left_out = left_out(f, &family->keys);
    kept_read(f, family, &c->kept);
    return hd__hf_config_fill(f, &family->keys, c->values) &&
           (family->rope == HD__NOWHERE || rope_read(f, c)) &&
           (!family->file_ok || family->file_ok(f, c)) && ends_read(f, &c->kept.ends);
}

bool hd__hf_config_read(const char *path, hd__hf_config *c)
{
    hd_dict *d = hd__hf_json_values(path);
    const hd__hf_config_file f = {path, d, ""};
    bool ok = d && config_of(&f, c);
    hd_dict_free(d);
    return ok;
}

void *hd__hf_config_at(const hd__hf_config *c, const char *key)
{
    const hd__hf_config_key *k = c->family->keys.keys;
    while (k->name && strcmp(k->name, key) != 0) {
        k++;
    }
    return k->name && k->offset != HD__NOWHERE ? (char *)c->values + k->offset : NULL;
}

int64_t hd__hf_config_int(const hd__hf_config *c, const char *key)
{
    return *(const int64_t *)hd__hf_config_at(c, key);
}

double hd__hf_config_double(const hd__hf_config *c, const char *key)
{
    return *(const double *)hd__hf_config_at(c, key);
}

bool hd__hf_config_bool(const hd__hf_config *c, const char *key)
{
    const bool *at = hd__hf_config_at(c, key);
    return at && *at;
}

const bool *hd__hf_config_flags(const hd__hf_config *c, const char *key)
{
    const int64_t *n = hd__hf_config_at(c, key);
    return n ? (const bool *)(n + 1) : NULL;
}

hd_rotary_options *hd__hf_config_rope(const hd__hf_config *c)
{
    return (void *)((char *)c->values + c->family->rope);
}

bool hd__hf_config_begin(hd__hf_config *c, const hd__hf_family *family, const void *values)
{
    *c = (hd__hf_config){.family = family,
                         .values = hd_alloc(family->size),
                         .kept = {HD_NO_PADDING, HD_NO_PADDING, .use_cache = true}};
    if (c->values && values) {
        memcpy(c->values, values, family->size);
    } else if (c->values) {
        family->defaults(c->values);
    }
    return c->values;
}

bool hd__hf_config_refuse(const hd__hf_config *c, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return c->path ? hd_fail(HD_VALUE, "'%.*s': %s", HD__CUT(c->path), text)
                   : hd_fail(HD_VALUE, "%s", text);
}

bool hd__hf_config_resolve(hd__hf_config *c)
{
    for (const hd__hf_config_key *k = c->family->keys.keys; k->name; k++) {
        if ((k->kind != HD__SIZE && k->kind != HD__DERIVED) || k->offset == HD__NOWHERE) {
            continue;
        }
        int64_t v = hd__hf_config_int(c, k->name);
        if (v < (k->kind == HD__SIZE) || v > INT32_MAX) {
            return hd__hf_config_refuse(c, "%s %" PRId64 ": expected 1 to 2147483647", k->name, v);
        }
    }
    return c->family->resolve(c);
}

bool hd__hf_adapter_config(const char *path, const hd_dict *d, hd_lora_options *o)
{
    return hd__hf_config_fill(&(hd__hf_config_file){path, d, ""}, &hd__hf_adapter_keys, o);
}

/* ---------------------------------------------------------------- generation_config.json */

bool hd_generate_options_load(const char *folder, hd_generate_options *o)
{
    HD__CALL("hd_generate_options_load");
    if (!HD__SIBLING_OK() || !hd__arg_given("folder", folder) || !hd__arg_given("o", o)) {
        return false;
    }
    *o = hd_generate_defaults();
    hd__text path = {0};
    int own = hd__hf_look_for(folder, "generation_config.json", &path);
    bool given = own > 0 || (own == 0 && hd__hf_path_of(folder, "config.json", &path));
    hd_dict *d = given ? hd__hf_json_values(path.s) : NULL;
    const hd__hf_config_file f = {path.s, d, ""};
    bool ok = d && (own ? hd__hf_config_fill(&f, &hd__hf_generation_keys, o) : ends_read(&f, o));
    if (!ok) {
        *o = hd_generate_defaults();
    }
    hd_dict_free(d);
    hd_free(path.s);
    return ok;
}
