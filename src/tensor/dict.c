/* dict.c - an ordered map from names to tensors, strings and numbers.
 *
 * The array `entries` points to the entries in the order of their insertion. The array `slots` is
 * an open-addressed hash table that finds a name. A slot is 0 if it is free; otherwise it is a
 * position in `entries` plus 1. At most half of the slots are in use. Entries never move in memory,
 * so a returned name or string is valid until its entry changes or is removed. */
#include <inttypes.h>

#include "tensor/copy.h"
#include "tensor/dict.h"
#include "tensor/tensor_args.h"

static const char *const dict_kinds[] = {"missing", "a tensor", "a string", "an integer",
                                         "a double"};

/* ---------------------------------------------------------------- finding */

/* Returns the position of name in d->entries, or -1 without an error if d has no such name. */
static int64_t dict_find(const hd_dict *d, const char *name)
{
    uint64_t hash = hd__text_hash(name, strlen(name));
    for (uint64_t s = hash; d->slots; s++) {
        uint32_t at = d->slots[s % (uint64_t)d->places];
        if (at == 0) {
            break;
        }
        const hd__dict_entry *e = d->entries[at - 1];
        if (e->hash == hash && strcmp(e->name, name) == 0) {
            return at - 1;
        }
    }
    return -1;
}

static void put_slot(hd_dict *d, int64_t position)
{
    uint64_t s = d->entries[position]->hash;
    while (d->slots[s % (uint64_t)d->places]) {
        s++;
    }
    d->slots[s % (uint64_t)d->places] = (uint32_t)position + 1;
}

static void fill_slots(hd_dict *d)
{
    memset(d->slots, 0, (size_t)d->places * sizeof *d->slots);
    for (int64_t i = 0; i < d->len; i++) {
        put_slot(d, i);
    }
}

/* Makes space in d for `more` additional entries. Returns false with HD_MEMORY if memory runs out
 * or d has too many names; then neither array has grown. */
static bool grow(hd_dict *d, int64_t more)
{
    int64_t n = d->len + more, places = 4 * n + 16; /* at least twice d->room after hd__text_grow */
    if (n <= d->room) {
        return true;
    }
    if (n > INT32_MAX) {
        return hd_fail(HD_MEMORY, "d has %" PRId64 " names: expected fewer", d->len);
    }
    uint32_t *slots = hd__arg_alloc_items(places, sizeof *slots);
    if (!slots || !hd__text_grow(&d->entries, &d->room, n, sizeof *d->entries)) {
        hd_free(slots);
        return false;
    }
    hd__assert(places >= 2 * d->room);
    hd_free(d->slots);
    d->slots = slots;
    d->places = places;
    fill_slots(d);
    return true;
}

/* ---------------------------------------------------------------- arguments */

static bool check_name(const hd_dict *d, const char *name)
{
    return hd__object("d", d) && hd__arg_given("name", name) &&
           (*name || hd_fail(HD_VALUE, "an empty name: expected some text"));
}

/* ---------------------------------------------------------------- names that are missing */

enum { PREFIXES = 160 };

/* Returns the length of name's part before its first dot, or 0 if it has no dot. */
static size_t prefix_length(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

/* True if one of the first n names in d has the same prefix as `name`. */
static bool among_prefixes(const hd_dict *d, int64_t n, const char *name)
{
    size_t length = prefix_length(name);
    for (int64_t i = 0; i < n; i++) {
        const char *each = d->entries[i]->name;
        if (prefix_length(each) == length && memcmp(each, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes to `text` the end of the message about a missing name, such as ". The prefixes in d are
 * 'optim', 'rng'". Writes nothing if a name in d has the same prefix as `name`. */
static void name_prefixes(const hd_dict *d, const char *name, char text[PREFIXES])
{
    size_t len = 0;
    if (among_prefixes(d, d->len, name)) {
        return;
    }
    for (int64_t i = 0; i < d->len && len < PREFIXES - 64; i++) {
        const char *each = d->entries[i]->name;
        size_t n = prefix_length(each);
        if (n > 0 && !among_prefixes(d, i, each)) {
            len += (size_t)snprintf(text + len, PREFIXES - len, "%s'%.*s'",
                                    len ? ", " : ". The prefixes in d are ",
                                    hd__text_clip(each, n < 24 ? n : 24), each);
        }
    }
    if (len == 0) {
        snprintf(text, PREFIXES, ". %s", d->len ? "No name in d has a prefix" : "d is empty");
    }
}

/* Returns d's entry called `name` if its kind is `kind` or `or_kind`. Returns NULL with an error if
 * there is no such entry, or if an argument is wrong. */
static const hd__dict_entry *expect(const hd_dict *d, const char *name, hd_dict_kind kind,
                                    hd_dict_kind or_kind)
{
    if (!check_name(d, name)) {
        return NULL;
    }
    int64_t at = dict_find(d, name);
    const hd__dict_entry *e = at < 0 ? NULL : d->entries[at];
    if (!e || (e->kind != kind && e->kind != or_kind)) {
        char prefixes[PREFIXES] = "";
        if (!e) {
            name_prefixes(d, name, prefixes);
        }
        return hd_fail(HD_VALUE, "'%s' is %s: expected %s%s", name,
                       dict_kinds[e ? e->kind : HD_DICT_MISSING], dict_kinds[kind], prefixes);
    }
    return e;
}

/* ---------------------------------------------------------------- writing */

static void drop_value(hd__dict_entry *e)
{
    if (e->kind == HD_DICT_TENSOR) {
        hd__tensor_drop(e->v.tensor);
    } else if (e->kind == HD_DICT_STRING) {
        hd_free(e->v.string);
    }
}

/* Gives e a new kind and value. Frees e's old value last, because the new one may be a part of
 * it. */
static void replace_value(hd__dict_entry *e, hd_dict_kind kind, hd__dict_value v)
{
    hd__dict_entry old = {.kind = e->kind, .v = e->v};
    e->kind = kind;
    e->v = v;
    drop_value(&old);
}

static hd__dict_entry *append(hd_dict *d, const char *name)
{
    size_t length = strlen(name);
    hd__dict_entry *e = grow(d, 1) ? hd_alloc(sizeof *e + length + 1) : NULL;
    if (e) {
        e->hash = hd__text_hash(name, length);
        e->kind = HD_DICT_MISSING;
        memcpy(e->name, name, length + 1);
        d->entries[d->len] = e;
        put_slot(d, d->len++);
    }
    return e;
}

/* Sets d's entry called `name`, which may be new, to v. From then on d owns v's tensor or string.
 * Returns false with an error if memory runs out; then the caller still owns the tensor or
 * string. */
static bool set(hd_dict *d, const char *name, hd_dict_kind kind, hd__dict_value v)
{
    int64_t at = dict_find(d, name);
    hd__dict_entry *e = at < 0 ? append(d, name) : d->entries[at];
    if (e) {
        replace_value(e, kind, v);
    }
    return e;
}

bool hd_dict_set(hd_dict *d, const char *name, hd_tensor *t)
{
    HD__CALL("hd_dict_set");
    if (!check_name(d, name) || !hd__tensor_any_arg("t", t, false)) {
        return false;
    }
    hd__tensor_hold(t); /* held before the old value is dropped, which may be t itself */
    bool ok = set(d, name, HD_DICT_TENSOR, (hd__dict_value){.tensor = t});
    if (!ok) {
        hd__tensor_drop(t);
    }
    return ok;
}

bool hd_dict_set_string(hd_dict *d, const char *name, const char *text)
{
    HD__CALL("hd_dict_set_string");
    if (!check_name(d, name) || !hd__arg_given("text", text)) {
        return false;
    }
    hd__text copy = {0};
    hd__text_puts(&copy, text);
    bool ok = !copy.failed && set(d, name, HD_DICT_STRING, (hd__dict_value){.string = copy.s});
    if (!ok) {
        hd_free(copy.s);
    }
    return ok;
}

bool hd_dict_set_int(hd_dict *d, const char *name, int64_t v)
{
    HD__CALL("hd_dict_set_int");
    return check_name(d, name) && set(d, name, HD_DICT_INT, (hd__dict_value){.i = v});
}

bool hd_dict_set_double(hd_dict *d, const char *name, double v)
{
    HD__CALL("hd_dict_set_double");
    return check_name(d, name) && set(d, name, HD_DICT_DOUBLE, (hd__dict_value){.d = v});
}

static void remove_at(hd_dict *d, int64_t at)
{
    hd__dict_entry *e = d->entries[at];
    d->len--;
    memmove(d->entries + at, d->entries + at + 1, (size_t)(d->len - at) * sizeof *d->entries);
    fill_slots(d);
    drop_value(e);
    hd_free(e);
}

bool hd_dict_remove(hd_dict *d, const char *name)
{
    HD__CALL("hd_dict_remove");
    if (!check_name(d, name)) {
        return false;
    }
    int64_t at = dict_find(d, name);
    if (at < 0) {
        return hd_fail(HD_VALUE, "'%s' is missing: expected a name in d", name);
    }
    remove_at(d, at);
    return true;
}

/* ---------------------------------------------------------------- all or nothing */

bool hd__dict_set_removed(hd_dict *fresh, const char *name)
{
    return set(fresh, name, HD_DICT_MISSING, (hd__dict_value){0});
}

/* Moves e to d, which has space for it. If d already has an entry of this name, moves only e's
 * value to that entry, and frees e. */
static void dict_move(hd_dict *d, hd__dict_entry *e)
{
    int64_t at = dict_find(d, e->name);
    if (at < 0) {
        d->entries[d->len] = e;
        put_slot(d, d->len++);
        return;
    }
    replace_value(d->entries[at], e->kind, e->v);
    hd_free(e);
}

static void dict_take(hd_dict *d, hd_dict *fresh)
{
    for (int64_t i = 0; i < fresh->len; i++) {
        hd__dict_entry *e = fresh->entries[i];
        if (e->kind != HD_DICT_MISSING) {
            dict_move(d, e);
            continue;
        }
        int64_t at = dict_find(d, e->name);
        if (at >= 0) {
            remove_at(d, at);
        }
        hd_free(e);
    }
    fresh->len = 0;
}

bool hd__dict_commit(hd_dict *d, hd_dict *fresh, bool complete)
{
    bool ok = fresh && complete && grow(d, fresh->len);
    if (ok) {
        dict_take(d, fresh);
    }
    hd_dict_free(fresh);
    return ok;
}

const char *hd__dict_field(const char *prefix, const char *field)
{
    hd__text t = {0};
    hd__text_format(&t, "%s%s%s", prefix, *prefix ? "." : "", field);
    return hd__tensor_text_give(&t);
}

bool hd__dict_state_write(const void *object, hd_dict *d, const char *prefix,
                          bool (*write)(const void *object, hd_dict *fresh, const char *prefix))
{
    if (!hd__arg_may_save()) {
        return false;
    }
    HD__SCOPE_OR(false);
    hd_dict *fresh = hd_dict_new();
    return hd__dict_commit(d, fresh, fresh && write(object, fresh, prefix));
}

/* ---------------------------------------------------------------- making, freeing and reading */

hd_dict *hd_dict_new(void)
{
    HD__CALL("hd_dict_new");
    return hd__object_new(HD__DICT, sizeof(hd_dict));
}

void hd_dict_free(hd_dict *d)
{
    HD__CALL("hd_dict_free");
    if (hd__object_may_free("d", d, HD_NONE)) {
        for (int64_t i = 0; i < d->len; i++) {
            drop_value(d->entries[i]);
            hd_free(d->entries[i]);
        }
        hd_free(d->entries);
        hd_free(d->slots);
        hd__mem_retire_object(d, hd__call_kept());
    }
}

int64_t hd_dict_len(const hd_dict *d)
{
    HD__CALL("hd_dict_len");
    return hd__object("d", d) ? d->len : -1;
}

const char *hd_dict_name(const hd_dict *d, int64_t i)
{
    HD__CALL("hd_dict_name");
    int64_t at = hd__object("d", d) ? hd__arg_index(i, d->len, "names") : -1;
    return at < 0 ? NULL : d->entries[at]->name;
}

hd_dict_kind hd_dict_kind_of(const hd_dict *d, const char *name)
{
    HD__CALL("hd_dict_kind_of");
    int64_t at = check_name(d, name) ? dict_find(d, name) : -1;
    return at < 0 ? HD_DICT_MISSING : d->entries[at]->kind;
}

hd_tensor *hd_dict_get(const hd_dict *d, const char *name)
{
    HD__CALL("hd_dict_get");
    const hd__dict_entry *e = expect(d, name, HD_DICT_TENSOR, HD_DICT_TENSOR);
    return e ? e->v.tensor : NULL;
}

hd_tensor *hd__dict_copy(const char *of, const hd_dict *d, const char *key, const hd_tensor *x)
{
    hd_tensor *t = hd_dict_get(d, key);
    if (t && (t->dtype != x->dtype || !hd__tensor_same_shape(t, x))) {
        return hd_fail(HD_SHAPE, "%s%s'%s' is %s %s: expected %s %s", of, *of ? ": " : "", key,
                       hd_dtype_name(t->dtype), HD__SHAPE(t), hd_dtype_name(x->dtype),
                       HD__SHAPE(x));
    }
    return t ? hd__tensor_clone(t) : NULL;
}

const char *hd_dict_get_string(const hd_dict *d, const char *name)
{
    HD__CALL("hd_dict_get_string");
    const hd__dict_entry *e = expect(d, name, HD_DICT_STRING, HD_DICT_STRING);
    return e ? e->v.string : NULL;
}

bool hd_dict_get_int(const hd_dict *d, const char *name, int64_t *v)
{
    HD__CALL("hd_dict_get_int");
    const hd__dict_entry *e = expect(d, name, HD_DICT_INT, HD_DICT_INT);
    if (e && v) {
        *v = e->v.i;
    }
    return e;
}

bool hd__dict_int_within(const hd_dict *d, const char *name, int64_t least, int64_t most,
                         int64_t *v)
{
    return hd_dict_get_int(d, name, v) &&
           ((*v >= least && *v <= most) ||
            hd_fail(HD_VALUE, "'%s' is %" PRId64 ": expected %" PRId64 " to %" PRId64, name, *v,
                    least, most));
}

bool hd_dict_get_double(const hd_dict *d, const char *name, double *v)
{
    HD__CALL("hd_dict_get_double");
    const hd__dict_entry *e = expect(d, name, HD_DICT_DOUBLE, HD_DICT_INT);
    if (e && v) {
        *v = e->kind == HD_DICT_INT ? (double)e->v.i : e->v.d;
    }
    return e;
}
