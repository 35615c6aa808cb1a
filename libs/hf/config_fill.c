/* config_fill.c - fills a configuration with a file's values, by a table of keys. */
#include <stdio.h>
#include <string.h>

#include "hf/config_fill.h"

/* ---------------------------------------------------------------- values */

/* If the name of value i in f->values begins with f->inside, returns the rest of the name. Returns
 * NULL otherwise. */
static const char *name_at(const hd__hf_config_file *f, int64_t i)
{
    const char *name = hd_dict_name(f->values, i);
    size_t n = strlen(f->inside);
    return strncmp(name, f->inside, n) == 0 ? name + n : NULL;
}

static hd__hf_value config_value(const hd__hf_config_file *f, int64_t i)
{
    const char *name = hd_dict_name(f->values, i);
    hd_dict_kind kind = hd_dict_kind_of(f->values, name);
    hd__hf_value v = {.name = name_at(f, i)};
    if (kind == HD_DICT_STRING) {
        v.text = hd_dict_get_string(f->values, name);
        v.quoted = *v.text == '"';
        v.text += v.quoted;
    } else {
        v.text = hd_dict_get_double(f->values, name, &v.number) ? NULL : "";
        v.whole = kind == HD_DICT_INT && hd_dict_get_int(f->values, name, &v.integer);
    }
    return v;
}

hd__hf_value hd__hf_value_of(const hd__hf_config_file *f, const char *name)
{
    for (int64_t i = 0; i < hd_dict_len(f->values); i++) {
        const char *at = name_at(f, i);
        if (at && strcmp(at, name) == 0) {
            return config_value(f, i);
        }
    }
    return (hd__hf_value){0};
}

int64_t hd__hf_count_inside(const hd__hf_config_file *f)
{
    int64_t n = 0;
    for (int64_t i = 0; i < hd_dict_len(f->values); i++) {
        n += name_at(f, i) != NULL;
    }
    return n;
}

/* True if the key, which has n bytes, stands for `name`. See hd__hf_config_key for the keys that
 * stand for several names. */
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

/* Returns v as text, for messages and comparisons. A number gets the fewest digits that read back
 * as the same number. */
static const char *shown(const hd__hf_value *v, char room[HD__FLOAT_TEXT])
{
    return v->text ? v->text : hd__text_shortest(v->number, room);
}

/* A text in the file matches none of these words. The text "true", for example, is not the value
 * true. */
static const char not_texts[] = "null true false {} [] 0 1";

bool hd__hf_is_word(const hd__hf_value *v, const char *words)
{
    char room[HD__FLOAT_TEXT];
    const char *text = shown(v, room);
    return words && is_among(words, text) && !(v->quoted && is_among(not_texts, text));
}

/* ---------------------------------------------------------------- a key */

enum { EXPECTED = 100 };

/* Writes the words, which are separated by blanks, to room with " or " between them. Returns
 * room. */
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

/* Returns words for the values that key k takes, for a message after "expected". `other` is the
 * member `other` of k's table. */
static const char *expected_of(const hd__hf_config_key *k, const char *other, char room[EXPECTED])
{
    switch (k->kind) {
    case HD__DERIVED: return "a whole number above 0, or null";
    case HD__FLOAT: return "a number with a point or an exponent, such as 1.0";
    case HD__NUMBER: return "a number";
    case HD__BOOL: return "true or false";
    case HD__ACTIVATION: return HD__ACTIVATIONS;
    case HD__OBJECT: return "an object";
    case HD__ONLY: return other ? other : words_text(k->words, room);
    case HD__ENDS: return "a whole number, and at most 16 of them";
    case HD__NAMES: return "a list of names, or all-linear";
    case HD__FULL: return "a list of full_attention, or null";
    case HD__FLAGS: return "a list of at most 128 whole numbers";
    default: return "a whole number";
    }
}

bool hd__hf_refuse_value(const hd__hf_config_file *f, const hd__hf_value *v,
                         const hd__hf_config_key *k, const char *other)
{
    char room[HD__FLOAT_TEXT], expected[EXPECTED];
    const char *found = v->text || v->whole ? shown(v, room) : HD__FLOAT(v->number);
    bool named = k->kind == HD__ACTIVATION || k->kind == HD__ONLY || k->kind == HD__NAMES ||
                 k->kind == HD__FULL;
    const char *mark = v->quoted && (!named || is_among(not_texts, found)) ? "\"" : "";
    return hd_fail(HD_VALUE, "'%.*s': %s%.*s: found %s%.*s%s: expected %s", HD__CUT(f->path),
                   f->inside, HD__CUT(v->name), mark, HD__CUT(found), mark,
                   expected_of(k, other, expected));
}

static bool put_whole(const hd__hf_value *v, int64_t *at)
{
    *at = v->integer;
    return v->whole;
}

static bool put_token(const hd__hf_value *v, int64_t *at)
{
    *at = v->whole ? v->integer : HD_NO_PADDING;
    return v->whole || hd__hf_is_word(v, "null");
}

static bool put_number(const hd__hf_value *v, double *at)
{
    *at = v->number;
    return !v->text;
}

static bool put_name(const hd__hf_value *v, hd_lora_options *o)
{
    ((const char **)o->target_modules)[o->num_target_modules++] = v->text;
    return v->quoted;
}

static bool put_flag(const hd__hf_value *v, int64_t *n)
{
    bool *flags = (bool *)(n + 1);
    if (!v->whole || *n == HD_LAYERS_MOST) {
        return false;
    }
    flags[(*n)++] = v->integer != 0;
    return true;
}

/* Sets the field of key k in config to the value v. Returns false, without an error, if k does not
 * take v. */
static bool config_set(const hd__hf_value *v, const hd__hf_config_key *k, void *config)
{
    union {
        int64_t whole;
        double number;
        bool yes;
    } nowhere;
    void *at = k->offset == HD__NOWHERE ? (void *)&nowhere : (char *)config + k->offset;
    const char *dot = strchr(v->name, '.');
    bool listed = dot && hd__text_is_digit(dot[1]), element = listed && !strchr(dot + 1, '.');
    hd_generate_options *o = config;
    if ((!dot && hd__hf_is_word(v, k->words)) ||
        (k->kind == HD__INT && hd__hf_is_word(v, "null"))) {
        return true;
    }
    switch (k->kind) {
    case HD__DERIVED:
        return put_whole(v, at) ? v->integer != 0 : hd__hf_is_word(v, "null"); /* null sets 0 */
    case HD__TOKEN: return put_token(v, at);
    case HD__FLOAT: return put_number(v, at) && !v->whole;
    case HD__NUMBER: return put_number(v, at);
    case HD__BOOL: *(bool *)at = hd__hf_is_word(v, "true"); return hd__hf_is_word(v, "true false");
    case HD__ACTIVATION:
        *(const char **)at = v->quoted ? hd__hf_activation(v->text) : NULL;
        return *(const char **)at;
    case HD__ANY: return true;
    case HD__OBJECT: return dot && !listed;
    case HD__ONLY: return false;
    case HD__ENDS:
        return (!dot || element) && o->num_eos < HD_EOS_MOST &&
               put_whole(v, &o->eos_token_id[o->num_eos++]);
    case HD__NAMES:
        return (element || (!dot && hd__hf_is_word(v, "all-linear"))) && put_name(v, config);
    case HD__FULL: return element && hd__hf_is_word(v, "full_attention");
    case HD__FLAGS: return element && put_flag(v, at);
    default: return put_whole(v, at);
    }
}

/* Sets the field of key k in config to the values in f for which k stands. Returns false with an
 * error if k does not take a value. */
static bool key_take(const hd__hf_config_file *f, const hd__hf_config_keys *t,
                     const hd__hf_config_key *k, void *config)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < hd_dict_len(f->values); i++) {
        const char *name = name_at(f, i);
        if (!name || !stands_for(k->name, strlen(k->name), name)) {
            continue;
        }
        hd__hf_value v = config_value(f, i);
        if (t->null_is_left_out && !strchr(name, '.') && hd__hf_is_word(&v, "null")) {
            continue;
        }
        ok = config_set(&v, k, config) || hd__hf_refuse_value(f, &v, k, t->other);
        if (ok && k->offset == HD__NOWHERE && k->kind <= HD__ANY && k->words &&
            !hd__hf_is_word(&v, k->words)) {
            hd_warn("'%.*s': %s%.*s has no effect on this model", HD__CUT(f->path), f->inside,
                    HD__CUT(v.name));
        }
    }
    return ok;
}

/* ---------------------------------------------------------------- a table */

/* Returns the key that stands for the name. If none does, returns the last row, whose name is
 * NULL. */
static const hd__hf_config_key *known_key(const hd__hf_config_keys *t, const char *name)
{
    const hd__hf_config_key *k = t->keys;
    while (k->name && !stands_for(k->name, strlen(k->name), name)) {
        k++;
    }
    return k;
}

/* If `name` is inside a list or an object, such as "eps.0" in "eps", returns the key "eps" of t,
 * unless its kind is HD__ANY. Returns NULL if t has no such key, or if `name` has no dot. */
static const hd__hf_config_key *key_around(const hd__hf_config_keys *t, const char *name)
{
    size_t n = strcspn(name, ".");
    const hd__hf_config_key *k = t->keys;
    while (k->name && (k->kind == HD__ANY || strlen(k->name) != n || strncmp(k->name, name, n))) {
        k++;
    }
    return name[n] && k->name ? k : NULL;
}

/* Warns of a value for which no key stands, unless it is null or empty. Returns false with an error
 * if the value is in a list or an object where a single value is expected, or if the table's
 * `other` makes it an error. */
static bool unknown_ok(const hd__hf_config_file *f, const hd__hf_config_keys *t,
                       const hd__hf_value *v)
{
    const hd__hf_config_key *around = key_around(t, v->name), *last = known_key(t, v->name);
    if (around) {
        return hd_fail(HD_VALUE, "'%.*s': %s%s: found a list or an object: expected %s",
                       HD__CUT(f->path), f->inside, around->name,
                       expected_of(around, t->other, (char[EXPECTED]){0}));
    }
    if (hd__hf_is_word(v, "null {} []")) {
        return true;
    }
    if (t->other) {
        return hd__hf_is_word(v, last->words) || hd__hf_refuse_value(f, v, last, t->other);
    }
    hd_warn("'%.*s': %s%.*s has no effect: heed does not know this key", HD__CUT(f->path),
            f->inside, HD__CUT(v->name));
    return true;
}

bool hd__hf_config_fill(const hd__hf_config_file *f, const hd__hf_config_keys *t, void *config)
{
    bool ok = true;
    for (const hd__hf_config_key *k = t->keys; ok && k->name; k++) {
        ok = key_take(f, t, k, config);
    }
    for (int64_t i = 0; ok && t->idle && i < hd_dict_len(f->values); i++) {
        const char *name = name_at(f, i);
        if (name && !known_key(t, name)->name && !is_among(t->idle, name)) {
            hd__hf_value v = config_value(f, i);
            ok = unknown_ok(f, t, &v);
        }
    }
    return ok;
}
