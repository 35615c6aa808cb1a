/* config.c - reads config.json, generation_config.json and adapter_config.json by the tables of
 * config_keys.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hf/config_keys.h"

/* ---------------------------------------------------------------- values */

/* A file that was read, or what is inside of one of its keys. */
typedef struct config_file {
    const char *function, *path; /* for messages */
    const hd_dict *values;
    const char *inside; /* "", or a key with a dot at its end */
} config_file;

typedef struct value {
    const char *name; /* from what it is inside of; NULL: it is elsewhere */
    const char *text; /* of a text, or null, true, false, {} or []; NULL: it is a number */
    bool quoted;      /* it is a text */
    bool whole;       /* it is a whole number */
    int64_t integer;
    double number;
} value;

static value value_at(const config_file *f, int64_t i)
{
    const char *name = hd_dict_name(f->values, i);
    size_t n = strlen(f->inside);
    hd_dict_kind kind = hd_dict_kind_of(f->values, name);
    value v = {.name = strncmp(name, f->inside, n) == 0 ? name + n : NULL,
               .whole = kind == HD_DICT_INT};
    if (kind == HD_DICT_STRING) {
        v.text = hd_dict_get_string(f->values, name);
        v.quoted = *v.text == '"';
        v.text += v.quoted;
    } else {
        hd_dict_get_double(f->values, name, &v.number);
    }
    if (v.whole) {
        hd_dict_get_int(f->values, name, &v.integer);
    }
    return v;
}

/* The value of this name; one without a name if there is none. */
static value value_of(const config_file *f, const char *name)
{
    for (int64_t i = 0; i < hd_dict_len(f->values); i++) {
        value v = value_at(f, i);
        if (v.name && strcmp(v.name, name) == 0) {
            return v;
        }
    }
    return (value){0};
}

static bool has_any(const config_file *f)
{
    int64_t i = 0;
    while (i < hd_dict_len(f->values) && !value_at(f, i).name) {
        i++;
    }
    return i < hd_dict_len(f->values);
}

/* Does the key of n bytes stand for the name? */
static bool stands_for(const char *key, size_t n, const char *name)
{
    bool inside = key[n - 1] == '.', all = key[n - 1] == '_';
    n -= inside;
    return strncmp(name, key, n) == 0 && (all || !name[n] || (inside && name[n] == '.'));
}

static bool is_among(const char *words, const char *name)
{
    while (*words && !stands_for(words, strcspn(words, " "), name)) {
        words += strcspn(words, " ");
        words += *words == ' ';
    }
    return *words;
}

/* The value as it is shown and compared: a number in few digits */
static const char *shown(const value *v, char room[HD__FLOAT_TEXT])
{
    return v->text ? v->text : hd__short_text(v->number, room);
}

/* Is it one of these words? The text "true" is not the word true. */
static bool is_word(const value *v, const char *words)
{
    char room[HD__FLOAT_TEXT];
    const char *text = shown(v, room);
    return words && is_among(words, text) &&
           !(v->quoted && is_among("null true false {} [] 0 1", text));
}

/* ---------------------------------------------------------------- a key */

enum { EXPECTED = 100 };

/* The words with "or" between them */
static const char *words_text(const char *words, char room[EXPECTED])
{
    size_t n = 0, length;
    for (; *words && n < EXPECTED; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        n +=
            (size_t)snprintf(room + n, EXPECTED - n, "%s%.*s", n ? " or " : "", (int)length, words);
    }
    return room;
}

/* What the key takes, for a message */
static const char *expected_of(const hd__config_key *k, const char *other, char room[EXPECTED])
{
    switch (k->kind) {
    case HD__FLOAT: return "a number with a point or an exponent, as 1.0";
    case HD__NUMBER: return "a number";
    case HD__BOOL: return "true or false";
    case HD__ACTIVATION: return HD__ACTIVATIONS;
    case HD__OBJECT: return "an object";
    case HD__ONLY: return other ? other : words_text(k->words, room);
    case HD__ENDS: return "a whole number, and at most 16 of them";
    case HD__NAMES: return "a list of names, or all-linear";
    default: return "a whole number";
    }
}

static bool refuse(const config_file *f, const value *v, const hd__config_key *k, const char *other)
{
    char room[HD__FLOAT_TEXT], expected[EXPECTED];
    const char *found = shown(v, room), *mark = v->quoted && k->kind < HD__ACTIVATION ? "\"" : "";
    return hd_error_set(HD_VALUE, "%s: '%.*s': %s%.*s: found %s%.*s%s: expected %s", f->function,
                        HD__CUT(f->path), f->inside, HD__CUT(v->name), mark, HD__CUT(found), mark,
                        expected_of(k, other, expected));
}

static bool put_whole(const value *v, int64_t *at)
{
    *at = v->integer;
    return v->whole;
}

static bool put_number(const value *v, double *at)
{
    *at = v->number;
    return !v->text;
}

static bool put_name(const value *v, hd_lora_options *o)
{
    ((const char **)o->target_modules)[o->num_target_modules++] = v->text;
    return v->quoted && (strchr(v->name, '.') || strcmp(v->text, "all-linear") == 0);
}

/* Puts the value into its place in the configuration; false if it is of another kind. */
static bool config_set(const value *v, const hd__config_key *k, void *config)
{
    int64_t nowhere[1];
    void *at = k->offset == HD__NOWHERE ? nowhere : (void *)((char *)config + k->offset);
    const char *dot = strchr(v->name, '.');
    hd_generate_options *o = config;
    if (is_word(v, k->words) || (k->kind == HD__INT && is_word(v, "null"))) {
        return true;
    }
    switch (k->kind) {
    case HD__DERIVED:
        return put_whole(v, at) ? v->integer != 0 : is_word(v, "null"); /* 0 if it is null */
    case HD__FLOAT: return put_number(v, at) && !v->whole;
    case HD__NUMBER: return put_number(v, at);
    case HD__BOOL: *(bool *)at = is_word(v, "true"); return is_word(v, "true false");
    case HD__ACTIVATION:
        *(const char **)at = v->quoted ? hd__activation(v->text) : NULL;
        return *(const char **)at;
    case HD__ANY: return true;
    case HD__OBJECT: return dot && !hd__is_digit(dot[1]);
    case HD__ONLY: return false;
    case HD__ENDS: return o->num_eos < HD_EOS_MOST && put_whole(v, &o->eos_token_id[o->num_eos++]);
    case HD__NAMES: return put_name(v, config);
    default: return put_whole(v, at);
    }
}

/* Sets what the key says, if the file has it. */
static bool key_take(const config_file *f, const hd__config_keys *t, const hd__config_key *k,
                     void *config)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(f->values); i++) {
        value v = value_at(f, i);
        if (!v.name || !stands_for(k->name, strlen(k->name), v.name) ||
            (t->null_is_left_out && is_word(&v, "null"))) {
            continue;
        }
        ok = config_set(&v, k, config) || refuse(f, &v, k, t->other);
        if (ok && k->offset == HD__NOWHERE && k->kind <= HD__ANY && k->words &&
            !is_word(&v, k->words)) {
            hd_warn("%s: '%.*s': %s%.*s has no effect on this model", f->function, HD__CUT(f->path),
                    f->inside, HD__CUT(v.name));
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- a table */

/* The key that stands for the name; the last one, which has no name, if none does. */
static const hd__config_key *key_of(const hd__config_keys *t, const char *name)
{
    const hd__config_key *k = t->keys;
    while (k->name && !stands_for(k->name, strlen(k->name), name)) {
        k++;
    }
    return k;
}

/* A value that no key of the table stands for: a warning, or an error if it is a list or an object
 * that stands in place of a single value. */
static bool unknown_ok(const config_file *f, const hd__config_keys *t, const value *v)
{
    size_t first = strcspn(v->name, ".");
    for (const hd__config_key *k = t->keys; k->name; k++) {
        if (v->name[first] && strlen(k->name) == first && strncmp(k->name, v->name, first) == 0) {
            return hd_error_set(HD_VALUE,
                                "%s: '%.*s': %s%s: found a list or an object: expected %s",
                                f->function, HD__CUT(f->path), f->inside, k->name,
                                expected_of(k, t->other, (char[EXPECTED]){0}));
        }
    }
    const hd__config_key *last = key_of(t, v->name);
    if (is_word(v, "null {} []")) {
        return true;
    }
    if (t->other) {
        return is_word(v, last->words) || refuse(f, v, last, t->other);
    }
    hd_warn("%s: '%.*s': %s%.*s has no effect: heed does not know this key", f->function,
            HD__CUT(f->path), f->inside, HD__CUT(v->name));
    return true;
}

/* Fills `config` with what the file has for the keys, whatever their order is in it. */
static bool config_fill(const config_file *f, const hd__config_keys *t, void *config)
{
    bool ok = true;
    for (const hd__config_key *k = t->keys; ok && k->name; k++) {
        ok = key_take(f, t, k, config);
    }
    for (int64_t i = 0; ok && t->idle && i < hd_dict_len(f->values); i++) {
        value v = value_at(f, i);
        ok =
            !v.name || key_of(t, v.name)->name || is_among(t->idle, v.name) || unknown_ok(f, t, &v);
    }
    return ok;
}

/* ---------------------------------------------------------------- config.json */

/* The text of this name; NULL: there is none. */
static const char *text_of(const config_file *f, const char *name)
{
    value v = value_of(f, name);
    return v.quoted ? v.text : NULL;
}

/* The family that model_type and architectures name, which must agree if both are there; NULL: there
 * is none. */
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
static const hd__family *family_of(const config_file *f)
{
    const char *type = text_of(f, "model_type"), *class = text_of(f, "architectures.0");
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
static bool llama3_ok(const config_file *f)
{
    for (const hd__config_key *k = hd__rope_llama3.keys; k->kind == HD__NUMBER; k++) {
        if (!value_of(f, k->name).name) {
            return hd_error_set(HD_VALUE,
                                "%s: '%.*s': %s%s is missing: expected a number, which the "
                                "rope_type llama3 needs",
                                f->function, HD__CUT(f->path), f->inside, k->name);
        }
    }
    return true;
}

/* Does what is inside of `in` stand inside of `scaling`, or beside it, too? Folders that are to be
 * read by several versions of transformers say it twice. */
static bool said_again(const config_file *in, const config_file *scaling, const config_file *f)
{
    bool same = true;
    for (int64_t i = 0; same && i < hd_dict_len(f->values); i++) {
        value v = value_at(in, i);
        if (v.name) {
            char room[HD__FLOAT_TEXT], other_room[HD__FLOAT_TEXT];
            value other = value_of(scaling, v.name);
            other = other.name ? other : value_of(f, v.name);
            same = other.name && strcmp(shown(&v, room), shown(&other, other_room)) == 0;
        }
    }
    return same;
}

/* Rotary positions: rope_scaling as a whole counts for more than rope_parameters, and what is
 * inside of it for more than rope_theta beside it. */
static bool rope_read(const config_file *f, hd_llama_config *c)
{
    config_file scaling = *f, in = *f;
    double theta = c->rope.theta;
    scaling.inside = "rope_scaling.";
    in.inside = "rope_parameters.";
    if (has_any(&scaling)) {
        if (!said_again(&in, &scaling, f)) {
            hd_warn("%s: '%.*s': rope_parameters has no effect beside rope_scaling", f->function,
                    HD__CUT(f->path));
        }
        in.inside = scaling.inside;
    }
    value type = value_of(&in, "rope_type");
    type = type.name ? type : value_of(&in, "type");
    bool llama3 = type.quoted && strcmp(type.text, "llama3") == 0;
    if (type.name && !llama3 && !is_word(&type, "default")) {
        return refuse(&in, &type, &(hd__config_key){"", HD__ONLY, HD__NOWHERE, "default llama3"},
                      NULL);
    }
    c->rope.original_max_position_embeddings = llama3 ? c->max_position_embeddings : 0;
    bool ok = config_fill(&in, llama3 ? &hd__rope_llama3 : &hd__rope_default, c) &&
              (!llama3 || (llama3_ok(&in) && config_fill(f, &hd__rope_beside, c)));
    if (ok && value_of(f, "rope_theta").name && c->rope.theta != theta) {
        hd_warn("%s: '%.*s': rope_theta %s has no effect: %srope_theta is %s", f->function,
                HD__CUT(f->path), HD__SHORT(theta), in.inside, HD__SHORT(c->rope.theta));
    }
    return ok;
}

/* Has Qwen 2 no layer with a sliding window? */
static bool sliding_ok(const config_file *f, const hd_llama_config *c)
{
    value use = value_of(f, "use_sliding_window"), window = value_of(f, "sliding_window"),
          first = value_of(f, "max_window_layers"), layers = value_of(f, "layer_types.0");
    bool some = is_word(&use, "true") && !is_word(&window, "null") && !layers.name &&
                (first.name ? first.integer : 28) < c->num_hidden_layers;
    return !some || hd_error_set(HD_VALUE,
                                 "%s: '%.*s': use_sliding_window: found true: expected false, as "
                                 "heed has no attention with a window",
                                 f->function, HD__CUT(f->path));
}

/* A size that is not there, and has no other name */
static const char *left_out(const config_file *f, const hd__config_keys *t)
{
    for (const hd__config_key *k = t->keys; k->name; k++) {
        const hd__config_key *also = k;
        while (also->name && (also->offset != k->offset || !value_of(f, also->name).name)) {
            also++;
        }
        if (k->kind == HD__SIZE && k->offset != HD__NOWHERE && !also->name) {
            return k->name;
        }
    }
    return NULL;
}

/* The end tokens of config.json */
static bool ends_read(const config_file *f, hd_generate_options *o)
{
    const hd__family *family =
        family_named(text_of(f, "model_type"), text_of(f, "architectures.0"));
    if (!config_fill(f, &hd__ends_keys, o)) {
        return false;
    }
    if (family && family->eos_token_id != HD_NO_PADDING && !value_of(f, "eos_token_id").name &&
        o->num_eos == 0) {
        o->eos_token_id[o->num_eos++] = family->eos_token_id;
    }
    return true;
}

/* What is kept to be written back, whose kinds the table has checked. */
static void kept_read(const config_file *f, const hd__family *family, hd__kept *c)
{
    value bos = value_of(f, "bos_token_id"), pad = value_of(f, "pad_token_id"),
          use_cache = value_of(f, "use_cache");
    c->bos_token_id = bos.name ? HD_NO_PADDING : family->bos_token_id;
    c->bos_token_id = bos.whole ? bos.integer : c->bos_token_id;
    c->pad_token_id = pad.whole ? pad.integer : HD_NO_PADDING;
    c->use_cache = !is_word(&use_cache, "false");
}

static bool config_of(const config_file *f, hd__config *c)
{
    const hd__family *family = family_of(f);
    if (!family) {
        return false;
    }
    family->defaults(c);
    c->left_out = left_out(f, &family->table);
    kept_read(f, family, &c->kept);
    return config_fill(f, &family->table, &c->gpt2) &&
           (c->is_gpt2 ||
            (rope_read(f, &c->llama) && (!c->llama.qkv_bias || sliding_ok(f, &c->llama)))) &&
           ends_read(f, &c->kept.ends);
}

bool hd__config_read(const char *function, const char *path, hd__config *c)
{
    hd_dict *d = hd__json_values(function, path);
    const config_file f = {function, path, d, ""};
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
    return config_fill(&(config_file){function, path, d, ""}, &hd__adapter_keys, o);
}

/* ---------------------------------------------------------------- generation_config.json */

bool hd_generate_options_load(const char *folder, hd_generate_options *o)
{
    static const char function[] = "hd_generate_options_load";
    if (!hd__given_to(function, "folder", folder) || !hd__given_to(function, "o", o)) {
        return false;
    }
    *o = hd_generate_defaults();
    hd__text path = {0};
    int own = hd__look_for(function, folder, "generation_config.json", &path);
    bool given = own > 0 || (own == 0 && hd__path_of(folder, "config.json", &path));
    hd_dict *d = given ? hd__json_values(function, path.s) : NULL;
    const config_file f = {function, path.s, d, ""};
    bool ok = d && (own ? config_fill(&f, &hd__generation_keys, o) : ends_read(&f, o));
    if (!ok) {
        *o = hd_generate_defaults();
    }
    hd_dict_free(d);
    hd_free(path.s);
    return ok;
}
