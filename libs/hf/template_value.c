/* template_value.c - the values of a template and their memory, and how a run fails. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "hf/template.h"

/* ---------------------------------------------------------------- memory */

enum { ARENA_BLOCK = 4096 - 64 };

static void *arena_take(hd__template_arena *a, size_t n)
{
    n = n / 16 * 16 + 16;
    if ((size_t)(a->end - a->at) < n) {
        size_t size = 16 + (n > ARENA_BLOCK ? n : ARENA_BLOCK);
        char *block = hd_alloc(size);
        if (!block) {
            return NULL;
        }
        *(void **)block = a->blocks;
        *a = (hd__template_arena){block, block + 16, block + size};
    }
    char *taken = a->at;
    a->at += n;
    return memset(taken, 0, n);
}

void hd__template_arena_free(hd__template_arena *a)
{
    for (void *block = a->blocks, *before; block; block = before) {
        before = *(void **)block;
        hd_free(block);
    }
    *a = (hd__template_arena){0};
}

void *hd__template_take(hd__template_run *r, size_t n)
{
    if (!r->failed && n > r->bytes) {
        hd__template_fail_at(
            r, HD_VALUE,
            "the template needs more memory than heed allows for messages of this length");
    }
    void *p = r->failed ? NULL : arena_take(r->arena, n);
    r->bytes -= p ? n : 0;
    r->failed = !p;
    return p;
}

void hd__template_spend(hd__template_run *r, size_t n)
{
    if (!r->failed && n > r->steps) {
        hd__template_fail_at(
            r, HD_VALUE,
            "the template needs more steps than heed allows for messages of this length");
    }
    r->steps -= r->failed ? 0 : n;
}

/* ---------------------------------------------------------------- failing, and writing text */

hd__template_value hd__template_fail_at(hd__template_run *r, hd_code code, const char *format, ...)
{
    char what[320];
    const hd__template_token *last = r->t > r->first ? r->t - 1 : r->first;
    size_t at = r->first ? r->first->at : 0, end = r->first ? last->end : 0;
    int line = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (size_t i = 0; i < at; i++) {
        line += r->text[i] == '\n';
    }
    if (!r->failed) {
        hd_fail(code, "'%.*s', line %d: '%.*s': %s", HD__CUT(r->name), line,
                HD__CLIP(r->text + at, end > at ? end - at : 0), what);
    }
    r->failed = true;
    return HD__NOTHING;
}

void hd__template_write(hd__template_run *r, const char *s, size_t n)
{
    if (n > r->bytes) {
        hd__template_fail_at(
            r, HD_VALUE, "the template writes more than heed allows for messages of this length");
    }
    if (!r->failed) {
        r->bytes -= n;
        hd__text_add(&r->out, s, n);
        r->failed = r->out.failed;
    }
}

hd__template_value hd__template_written(hd__template_run *r, size_t mark)
{
    hd__template_value text =
        hd__template_value_copy(r, r->out.s + mark, r->failed ? 0 : r->out.len - mark);
    hd__text_cut(&r->out, mark);
    return text;
}

/* ---------------------------------------------------------------- kinds, truth, texts */

const char *const hd__template_kind_names[HD__KINDS] = {
    "something undefined", "none",   "a bool",      "a number", "a string",   "a list",
    "a generator",         "a dict", "a namespace", "a loop",   "a function",
};

/* True if a and b are strings with the same bytes. */
static bool value_same(hd__template_value a, hd__template_value b)
{
    return a.kind == HD__STRING && b.kind == HD__STRING && a.n == b.n &&
           memcmp(a.s, b.s, (size_t)a.n) == 0;
}

bool hd__template_value_is(hd__template_value v, const char *s)
{
    return value_same(v, HD__TEXT(s, strlen(s)));
}

bool hd__template_truth(hd__template_value v)
{
    int64_t n = v.kind == HD__DICT_VALUE ? v.table->n : v.n;
    return n != 0 || v.kind == HD__SERIES || v.kind > HD__DICT_VALUE;
}

bool hd__template_equal(hd__template_run *r, hd__template_value a, hd__template_value b)
{
    hd__template_spend(r, 1 + (a.kind == HD__STRING ? (size_t)a.n / 64 : 0));
    if (hd__template_is_number(a) && hd__template_is_number(b)) {
        return a.n == b.n;
    }
    if (a.kind != b.kind || a.kind <= HD__NONE_VALUE) {
        return a.kind == b.kind;
    }
    if (a.kind != HD__STRING) {
        hd__template_fail_at(r, HD_FORMAT, "heed cannot compare %s with another of its kind",
                             hd__template_kind_names[a.kind]);
    }
    return value_same(a, b);
}

hd__template_value hd__template_value_copy(hd__template_run *r, const char *s, size_t n)
{
    char *copy = hd__template_take(r, n);
    if (!copy) {
        return HD__TEXT("", 0);
    }
    return n ? HD__TEXT(memcpy(copy, s, n), n) : HD__TEXT("", 0);
}

hd__template_value hd__template_value_text(hd__template_run *r, hd__template_value v)
{
    char digits[24];
    switch (v.kind) {
    case HD__STRING: return v;
    case HD__UNDEFINED: return HD__TEXT("", 0);
    case HD__NONE_VALUE: return HD__LITERAL("None");
    case HD__BOOL_VALUE: return v.n ? HD__LITERAL("True") : HD__LITERAL("False");
    case HD__TEMPLATE_INT:
        return hd__template_value_copy(r, digits,
                                       (size_t)snprintf(digits, sizeof digits, "%" PRId64, v.n));
    default:
        return hd__template_fail_at(r, HD_FORMAT,
                                    "heed cannot write %s as text. Write |tojson after it",
                                    hd__template_kind_names[v.kind]);
    }
}

const char *hd__template_value_find(hd__template_run *r, hd__template_value all, const char *from,
                                    hd__template_value part)
{
    const char *end = all.s + all.n;
    for (; part.n <= end - from; from++) {
        from = part.n ? memchr(from, *part.s, (size_t)(end - from - part.n + 1)) : from;
        hd__template_spend(r, 1 + (size_t)part.n / 64);
        if (!from || r->failed) {
            return NULL;
        }
        if (memcmp(from, part.s, (size_t)part.n) == 0) {
            return from;
        }
    }
    return NULL;
}

int64_t hd__template_length(hd__template_value v)
{
    int64_t n = v.kind == HD__DICT_VALUE ? v.table->n / 2 : v.n;
    for (int64_t i = 0; v.kind == HD__STRING && i < v.n; i++) {
        n -= (v.s[i] & 0xc0) == 0x80;
    }
    return n;
}

/* ---------------------------------------------------------------- lists and tables */

void hd__template_push(hd__template_run *r, hd__template_table *t, hd__template_value v)
{
    if (t->n == t->room) {
        int64_t room = t->room ? 2 * t->room : 4;
        hd__template_value *items = hd__template_take(r, (size_t)room * sizeof *items);
        if (!items) {
            return;
        }
        if (t->n) {
            memcpy(items, t->items, (size_t)t->n * sizeof *items);
        }
        t->items = items;
        t->room = room;
    }
    t->items[t->n++] = v;
}

hd__template_value *hd__template_table_find(hd__template_run *r, const hd__template_table *t,
                                            hd__template_value key)
{
    hd__template_spend(r, (size_t)t->n / 8);
    for (int64_t i = 0; i < t->n; i += 2) {
        if (value_same(t->items[i], key)) {
            return &t->items[i + 1];
        }
    }
    return NULL;
}

void hd__template_table_put(hd__template_run *r, hd__template_table *t, hd__template_value key,
                            hd__template_value v)
{
    hd__template_value *have = hd__template_table_find(r, t, key);
    if (v.kind == HD__SERIES) {
        hd__template_fail_at(r, HD_FORMAT, "heed cannot store a generator. Write |list after it");
    } else if (key.kind != HD__STRING) {
        hd__template_fail_at(r, HD_FORMAT, "a key is %s: expected a string",
                             hd__template_kind_names[key.kind]);
    } else if (have) {
        *have = v;
    } else {
        hd__template_push(r, t, key);
        hd__template_push(r, t, v);
    }
}

hd__template_value hd__template_dict_of(hd__template_run *r, hd__template_kind kind,
                                        hd__template_table t)
{
    hd__template_table *copy = hd__template_take(r, sizeof *copy);
    if (!copy) {
        return HD__NOTHING;
    }
    *copy = t;
    return (hd__template_value){kind, 0, {.table = copy}};
}

const hd__template_value *hd__template_argument(const hd__template_table *args, int64_t i,
                                                hd__template_value name)
{
    for (int64_t k = 0; k < args->n; k += 2) {
        hd__template_value given = args->items[k];
        if (given.n > 0 ? value_same(given, name) : k == 2 * i) {
            return &args->items[k + 1];
        }
    }
    return NULL;
}

hd__template_value hd__template_items_of(hd__template_run *r, hd__template_value v)
{
    hd__template_table keys = {0};
    if (hd__template_is_list(v)) {
        return v;
    }
    if (v.kind != HD__DICT_VALUE && v.kind != HD__UNDEFINED) {
        return hd__template_fail_at(r, v.kind == HD__STRING ? HD_FORMAT : HD_VALUE,
                                    "found %s: expected a list or a dict",
                                    hd__template_kind_names[v.kind]);
    }
    for (int64_t i = 0; v.kind == HD__DICT_VALUE && i < v.table->n; i += 2) {
        hd__template_push(r, &keys, v.table->items[i]);
    }
    return hd__template_list_of(HD__LIST, keys);
}

/* ---------------------------------------------------------------- white space */

/* True if the character `code` is in the string `chars`, or is white space if `chars` is NULL. */
static bool value_strips(uint32_t code, const hd__template_value *chars)
{
    for (int64_t i = 0; chars && i < chars->n;) {
        uint32_t c;
        i += hd__utf8_next(chars->s + i, chars->n - i, &c);
        if (c == code) {
            return true;
        }
    }
    return !chars &&
           ((code >= 9 && code <= 13) || (code >= 28 && code <= 32) || code == 0x85 ||
            code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
            code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000);
}

size_t hd__template_strip_left(const char *s, size_t n, const hd__template_value *chars)
{
    size_t at = 0;
    while (at < n) {
        uint32_t code;
        int size = hd__utf8_next(s + at, (int64_t)(n - at), &code);
        if (!value_strips(code, chars)) {
            break;
        }
        at += (size_t)size;
    }
    return at;
}

size_t hd__template_strip_right(const char *s, size_t n, const hd__template_value *chars)
{
    while (n > 0) {
        uint32_t code;
        size_t last = n - 1;
        while (last > 0 && (s[last] & 0xc0) == 0x80) {
            last--;
        }
        hd__utf8_next(s + last, (int64_t)(n - last), &code);
        if (!value_strips(code, chars)) {
            break;
        }
        n = last;
    }
    return n;
}
