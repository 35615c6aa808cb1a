/* config.c - reads config.json, generation_config.json and adapter_config.json by the tables of
 * config_keys.c. */
#include <inttypes.h>
#include <string.h>

#include "hf/config_fill.h"

/* ---------------------------------------------------------------- config.json */

/* The text of this name, but not if it is one of these words; NULL: there is none. */
static const char *text_value(const hd__config_file *f, const char *name, const char *none)
{
    hd__value v = hd__value_of(f, name);
    return !v.name || hd__is_word(&v, none) ? NULL : v.text ? v.text : "a number";
}

static const char *config_type(const hd__config_file *f)
{
    return text_value(f, "model_type", "null");
}

static const char *config_class(const hd__config_file *f)
{
    const char *first = text_value(f, "architectures.0", NULL);
    return first ? first : text_value(f, "architectures", "null []");
}

/* The family that model_type and architectures name, which must agree if both are there; NULL:
 * there is none. */
static const hd__family *family_named(const char *type, const char *class)
{
    for (int i = 0; (type || class) && i < HD__FAMILIES; i++) {
        const hd__family *each = &hd__families[i];
        if ((!type || strcmp(type, each->model_type) == 0) &&
            (!class || strcmp(class, each->architecture) == 0)) {
            return each;
        }
    }
    return NULL;
}

/* The same, or an error that names both */
static const hd__family *family_of(const hd__config_file *f)
{
    const char *type = config_type(f), *class = config_class(f);
    const hd__family *family = family_named(type, class);
    type = type ? type : "none";
    class = class ? class : "none";
    return family ? family
                  : hd_error_set(HD_VALUE,
                                 "%s: '%.*s': model_type %.*s and architectures %.*s: expected "
                                 "gpt2 and GPT2LMHeadModel, llama and LlamaForCausalLM, or qwen2 "
                                 "and Qwen2ForCausalLM",
                                 f->function, HD__CUT(f->path), HD__CUT(type), HD__CUT(class));
}

/* Has the type llama3 what it needs, which has no default? */
static bool llama3_ok(const hd__config_file *f)
{
    for (const hd__config_key *k = hd__rope_llama3.keys; k->kind == HD__NUMBER; k++) {
        if (!hd__value_of(f, k->name).name) {
            return hd_error_set(HD_VALUE,
                                "%s: '%.*s': %s%s is missing: expected a number, which the "
                                "rope_type llama3 needs",
                                f->function, HD__CUT(f->path), f->inside, k->name);
        }
    }
    return true;
}

/* Are they numbers that make waves? */
static bool rope_numbers_ok(const hd__config_file *f, const hd_rotary_options *o)
{
    return (o->theta > 0 && o->factor > 0 && o->low_freq_factor > 0 &&
            o->low_freq_factor < o->high_freq_factor) ||
           hd_error_set(HD_VALUE,
                        "%s: '%.*s': rope_theta %s, factor %s, low_freq_factor %s and "
                        "high_freq_factor %s: expected numbers above 0, and low_freq_factor "
                        "below high_freq_factor",
                        f->function, HD__CUT(f->path), HD__SHORT(o->theta), HD__SHORT(o->factor),
                        HD__SHORT(o->low_freq_factor), HD__SHORT(o->high_freq_factor));
}

/* Does all that rope_parameters says stand in rope_scaling, or beside it, too? So it is in folders
 * that several versions of transformers are to read. */
static bool said_again(const hd__config_file *in, const hd__config_file *scaling,
                       const hd__config_file *f)
{
    bool same = true;
    for (const hd__config_key *k = hd__rope_llama3.keys; same && k->name; k++) {
        hd__value v = hd__value_of(in, k->name), again = hd__value_of(scaling, k->name);
        again = again.name ? again : hd__value_of(f, k->name);
        same = !v.name || (again.name && v.number == again.number &&
                           strcmp(v.text ? v.text : "", again.text ? again.text : "") == 0);
    }
    return same;
}

/* Rotary positions: rope_scaling as a whole counts for more than rope_parameters, and what is
 * inside of it for more than rope_theta beside it. */
static bool rope_read(const hd__config_file *f, hd_llama_config *c)
{
    hd__config_file scaling = *f, in = *f;
    double theta = c->rope.theta;
    scaling.inside = "rope_scaling.";
    in.inside = "rope_parameters.";
    if (hd__count_inside(&scaling)) {
        if (!said_again(&in, &scaling, f)) {
            hd_warn("%s: '%.*s': rope_parameters has no effect beside rope_scaling", f->function,
                    HD__CUT(f->path));
        }
        in.inside = scaling.inside;
    }
    hd__value type = hd__value_of(&in, "rope_type");
    type = type.name ? type : hd__value_of(&in, "type");
    bool llama3 = type.quoted && strcmp(type.text, "llama3") == 0;
    if (type.name && !llama3 && !hd__is_word(&type, "default")) {
        return hd__refuse_value(
            &in, &type, &(hd__config_key){"", HD__ONLY, HD__NOWHERE, "default llama3"}, NULL);
    }
    c->rope.original_max_position_embeddings = llama3 ? c->max_position_embeddings : 0;
    bool ok = hd__config_fill(&in, llama3 ? &hd__rope_llama3 : &hd__rope_default, c) &&
              (!llama3 || (llama3_ok(&in) && hd__config_fill(f, &hd__rope_beside, c))) &&
              rope_numbers_ok(f, &c->rope);
    if (ok && hd__value_of(f, "rope_theta").name && c->rope.theta != theta) {
        hd_warn("%s: '%.*s': rope_theta %s has no effect: %srope_theta is %s", f->function,
                HD__CUT(f->path), HD__SHORT(theta), in.inside, HD__SHORT(c->rope.theta));
    }
    return ok;
}

/* Has layer_types, if it is there, a type for each layer, and no layer a sliding window? */
static bool layers_ok(const hd__config_file *f, const hd_llama_config *c)
{
    hd__config_file types = *f;
    types.inside = "layer_types.";
    int64_t n = hd__count_inside(&types);
    if (n > 0) {
        return n == c->num_hidden_layers ||
               hd_error_set(HD_VALUE,
                            "%s: '%.*s': layer_types has %" PRId64 " entries: expected %" PRId64
                            ", the num_hidden_layers",
                            f->function, HD__CUT(f->path), n, c->num_hidden_layers);
    }
    hd__value use = hd__value_of(f, "use_sliding_window"),
              window = hd__value_of(f, "sliding_window"),
              first = hd__value_of(f, "max_window_layers");
    bool some = c->qkv_bias && hd__is_word(&use, "true") && !hd__is_word(&window, "null") &&
                (first.name ? first.integer : 28) < c->num_hidden_layers;
    return !some || hd_error_set(HD_VALUE,
                                 "%s: '%.*s': use_sliding_window: found true: expected false, as "
                                 "heed has no attention with a window",
                                 f->function, HD__CUT(f->path));
}

/* A size that is not there, and has no other name */
static const char *left_out(const hd__config_file *f, const hd__config_keys *t)
{
    for (const hd__config_key *k = t->keys; k->name; k++) {
        const hd__config_key *also = k;
        while (also->name && (also->offset != k->offset || !hd__value_of(f, also->name).name)) {
            also++;
        }
        if (k->kind == HD__SIZE && k->offset != HD__NOWHERE && !also->name) {
            return k->name;
        }
    }
    return NULL;
}

/* The end tokens of config.json */
static bool ends_read(const hd__config_file *f, hd_generate_options *o)
{
    const hd__family *family = family_named(config_type(f), config_class(f));
    if (!hd__config_fill(f, &hd__ends_keys, o)) {
        return false;
    }
    if (family && family->eos_token_id != HD_NO_PADDING && !hd__value_of(f, "eos_token_id").name &&
        o->num_eos == 0) {
        o->eos_token_id[o->num_eos++] = family->eos_token_id;
    }
    return true;
}

/* What is kept to be written back, whose kinds the table has checked. */
static void kept_read(const hd__config_file *f, const hd__family *family, hd__kept *c)
{
    hd__value bos = hd__value_of(f, "bos_token_id"), pad = hd__value_of(f, "pad_token_id"),
              use_cache = hd__value_of(f, "use_cache");
    c->bos_token_id = bos.name ? HD_NO_PADDING : family->bos_token_id;
    c->bos_token_id = bos.whole ? bos.integer : c->bos_token_id;
    c->pad_token_id = pad.whole ? pad.integer : HD_NO_PADDING;
    c->use_cache = !hd__is_word(&use_cache, "false");
}

static bool config_of(const hd__config_file *f, hd__config *c)
{
    const hd__family *family = family_of(f);
    if (!family) {
        return false;
    }
    family->defaults(c);
    c->left_out = left_out(f, &family->table);
    kept_read(f, family, &c->kept);
    return hd__config_fill(f, &family->table, &c->gpt2) &&
           (c->is_gpt2 || (rope_read(f, &c->llama) && layers_ok(f, &c->llama))) &&
           ends_read(f, &c->kept.ends);
}

bool hd__config_read(const char *function, const char *path, hd__config *c)
{
    hd_dict *d = hd__json_values(function, path);
    const hd__config_file f = {function, path, d, ""};
    bool ok = d && config_of(&f, c);
    hd_dict_free(d);
    return ok;
}

bool hd__sizes_ok(const char *function, const hd__config *c)
{
    for (const hd__config_key *k = hd__family_of(c)->table.keys; k->name; k++) {
        if ((k->kind != HD__SIZE && k->kind != HD__DERIVED) || k->offset == HD__NOWHERE) {
            continue;
        }
        int64_t v = *(const int64_t *)(const void *)((const char *)&c->gpt2 + k->offset);
        if (v < (k->kind == HD__SIZE) || v > INT32_MAX) {
            return hd_error_set(HD_VALUE, "%s: %s %" PRId64 ": expected 1 to 2147483647", function,
                                k->name, v);
        }
    }
    return true;
}

bool hd__adapter_config(const char *function, const char *path, const hd_dict *d,
                        hd_lora_options *o)
{
    return hd__config_fill(&(hd__config_file){function, path, d, ""}, &hd__adapter_keys, o);
}

/* ---------------------------------------------------------------- generation_config.json */

bool hd_generate_options_load(const char *folder, hd_generate_options *o)
{
    static const char function[] = "hd_generate_options_load";
    if (!HD__SIBLING_OK(function) || !hd__given_to(function, "folder", folder) ||
        !hd__given_to(function, "o", o)) {
        return false;
    }
    *o = hd_generate_defaults();
    hd__text path = {0};
    int own = hd__look_for(function, folder, "generation_config.json", &path);
    bool given = own > 0 || (own == 0 && hd__path_of(folder, "config.json", &path));
    hd_dict *d = given ? hd__json_values(function, path.s) : NULL;
    const hd__config_file f = {function, path.s, d, ""};
    bool ok = d && (own ? hd__config_fill(&f, &hd__generation_keys, o) : ends_read(&f, o));
    if (!ok) {
        *o = hd_generate_defaults();
    }
    hd_dict_free(d);
    hd_free(path.s);
    return ok;
}
