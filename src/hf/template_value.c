/* template_value.c - the values of a template, the memory in which they lie, and failing. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "hf/template.h"

/* ---------------------------------------------------------------- memory */

enum { ARENA_BLOCK = 4096 - 64 };

void *hd__arena_take(hd__arena *a, size_t n)
{
    n = n / 16 * 16 + 16;
    if ((size_t)(a->end - a->at) < n) {
        size_t size = 16 + (n > ARENA_BLOCK ? n : ARENA_BLOCK);
        char *block = hd_alloc(size);
        if (!block) {
            return NULL;
        }
        *(void **)block = a->blocks;
        *a = (hd__arena){block, block + 16, block + size};
    }
    char *taken = a->at;
    a->at += n;
    return memset(taken, 0, n);
}

void hd__arena_free(hd__arena *a)
{
    for (void *block = a->blocks, *before; block; block = before) {
        before = *(void **)block;
        hd_free(block);
    }
    *a = (hd__arena){0};
}

void *hd__take(hd__run *r, size_t n)
{
    if (!r->failed && n > r->bytes) {
        hd__template_fail(r, HD_VALUE, "it needs more memory than a text of this length may have");
    }
    void *p = r->failed ? NULL : hd__arena_take(r->arena, n);
    r->bytes -= p ? n : 0;
    r->failed = !p;
    return p;
}

bool hd__spend(hd__run *r, size_t n)
{
    if (!r->failed && n > r->steps) {
        hd__template_fail(r, HD_VALUE, "it needs more steps than a text of this length may have");
    }
    r->steps -= r->failed ? 0 : n;
    return !r->failed;
}

/* ---------------------------------------------------------------- failing */

hd__value hd__template_fail(hd__run *r, hd_code code, const char *format, ...)
{
    static const hd__node whole = {0};
    const hd__template *t = r->template;
    const hd__node *n = r->node ? r->node : &whole;
    char what[320];
    int line = 1;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    for (size_t i = 0; i < n->at; i++) {
        line += t->text[i] == '\n';
    }
    if (!r->failed) {
        hd_error_set(code, "%s: '%.*s', line %d: '%.*s': %s", r->function, HD__CUT(t->name), line,
                     HD__CLIP(t->text + n->at, n->end - n->at), what);
    }
    r->failed = true;
    return (hd__value){0};
}

/* ---------------------------------------------------------------- what values are */

const char *const hd__kind_names[HD__KINDS] = {
    "something undefined", "none",    "a bool",      "a whole number", "a number", "a string",
    "a list",              "a tuple", "a generator", "a dict", "a namespace", "a loop",   "a function",
};

bool hd__truth(hd__value v)
{
    switch (v.kind) {
    case HD__UNDEFINED:
    case HD__NONE_VALUE: return false;
    case HD__DOUBLE: return v.number != 0;
    case HD__DICT: return v.table->n > 0;
    case HD__SERIES:
    case HD__NAMESPACE:
    case HD__LOOP:
    case HD__MACRO: return true;
    default: return v.n != 0;
    }
}

/* Equal items in the same order; or, of a dict, equal values of the same keys */
static bool value_parts_equal(hd__run *r, hd__value a, hd__value b, int depth)
{
    bool dict = a.kind == HD__DICT;
    int64_t n = dict ? a.table->n : a.n;
    bool equal = n == (dict ? b.table->n : b.n);
    for (int64_t i = 0; equal && i < n; i++) {
        hd__value *other = dict ? hd__table_find(r, b.table, a.table->pairs[2 * i]) : NULL;
        equal = dict ? other && hd__equal(r, a.table->pairs[2 * i + 1], *other, depth + 1)
                     : hd__equal(r, a.items[i], b.items[i], depth + 1);
    }
    return equal;
}

bool hd__equal(hd__run *r, hd__value a, hd__value b, int depth)
{
    if (depth > HD__DEEPEST) {
        hd__template_fail(r, HD_VALUE, "the values are nested too deep");
    }
    if (!hd__spend(r, 1) || (a.kind != b.kind && !(hd__is_number(a) && hd__is_number(b)))) {
        return false;
    }
    switch (a.kind) {
    case HD__BOOL_VALUE:
    case HD__INT:
    case HD__DOUBLE:
        return a.kind == HD__DOUBLE || b.kind == HD__DOUBLE ? hd__number_of(a) == hd__number_of(b)
                                                            : a.n == b.n;
    case HD__STRING: return a.n == b.n && memcmp(a.s, b.s, (size_t)a.n) == 0;
    case HD__LIST:
    case HD__TUPLE:
    case HD__DICT: return value_parts_equal(r, a, b, depth);
    case HD__NAMESPACE: return a.table == b.table;
    case HD__LOOP: return a.loop == b.loop;
    case HD__MACRO: return a.macro == b.macro;
    default: return true;
    }
}

hd__value hd__copied(hd__run *r, const char *s, size_t n)
{
    char *copy = hd__take(r, n);
    if (!copy) {
        return HD__TEXT("", 0);
    }
    return n ? HD__TEXT(memcpy(copy, s, n), n) : HD__TEXT("", 0);
}

hd__value hd__text_of(hd__run *r, hd__value v)
{
    char digits[24];
    switch (v.kind) {
    case HD__STRING: return v;
    case HD__UNDEFINED: return HD__TEXT("", 0);
    case HD__NONE_VALUE: return HD__LITERAL("None");
    case HD__BOOL_VALUE: return v.n ? HD__LITERAL("True") : HD__LITERAL("False");
    case HD__INT: snprintf(digits, sizeof digits, "%" PRId64, v.n); break;
    case HD__DOUBLE: {
        const char *s = HD__FLOAT(v.number);
        return hd__copied(r, s, strlen(s));
    }
    default:
        return hd__template_fail(r, HD_FORMAT, "%s as a text: heed writes it by |tojson only",
                                 hd__kind_names[v.kind]);
    }
    return hd__copied(r, digits, strlen(digits));
}

const char *hd__find(hd__run *r, hd__value all, const char *from, hd__value part)
{
    const char *end = all.s + all.n;
    for (; part.n <= end - from; from++) {
        from = part.n ? memchr(from, *part.s, (size_t)(end - from - part.n + 1)) : from;
        if (!from || !hd__spend(r, 1 + (size_t)part.n / 64)) {
            return NULL;
        }
        if (memcmp(from, part.s, (size_t)part.n) == 0) {
            return from;
        }
    }
    return NULL;
}

int64_t hd__length(hd__value v)
{
    int64_t n = v.kind == HD__DICT ? v.table->n : v.n;
    for (int64_t i = 0; v.kind == HD__STRING && i < v.n; i++) {
        n -= (v.s[i] & 0xc0) == 0x80;
    }
    return n;
}

/* ---------------------------------------------------------------- lists and tables */

hd__value hd__list_of(hd__run *r, int64_t n)
{
    hd__value *items = hd__take(r, (size_t)n * sizeof *items);
    return (hd__value){HD__LIST, 0, {.items = items}};
}

hd__value *hd__table_find(hd__run *r, const hd__table *t, hd__value key)
{
    hd__spend(r, (size_t)t->n / 4);
    for (int64_t i = 0; i < t->n; i++) {
        hd__value have = t->pairs[2 * i];
        bool same = have.kind == HD__STRING && key.kind == HD__STRING
                        ? have.n == key.n && memcmp(have.s, key.s, (size_t)key.n) == 0
                        : have.kind != HD__STRING && hd__equal(r, have, key, 0);
        if (same) {
            return &t->pairs[2 * i + 1];
        }
    }
    return NULL;
}

void hd__table_put(hd__run *r, hd__table *t, hd__value key, hd__value v)
{
    hd__value *have = hd__table_find(r, t, key);
    if (v.kind == HD__SERIES) {
        hd__template_fail(r, HD_FORMAT, "heed keeps no generator: expected |list after it");
    }
    if (have) {
        *have = v;
        return;
    }
    if (t->n == t->room) {
        int64_t room = t->room ? 2 * t->room : 4;
        hd__value *pairs = hd__take(r, (size_t)room * 2 * sizeof *pairs);
        if (!pairs) {
            return;
        }
        if (t->n) {
            memcpy(pairs, t->pairs, (size_t)t->n * 2 * sizeof *pairs);
        }
        t->pairs = pairs;
        t->room = room;
    }
    t->pairs[2 * t->n] = key;
    t->pairs[2 * t->n++ + 1] = v;
}

hd__value hd__items_of(hd__run *r, hd__value v)
{
    if (hd__is_list(v) || v.kind == HD__SERIES) {
        return v;
    }
    if (v.kind != HD__DICT && v.kind != HD__UNDEFINED) {
        return hd__template_fail(r, v.kind == HD__STRING ? HD_FORMAT : HD_VALUE,
                                 "%s in place of a list", hd__kind_names[v.kind]);
    }
    int64_t n = v.kind == HD__DICT ? v.table->n : 0;
    hd__value list = hd__list_of(r, n), *keys = (hd__value *)list.items;
    for (; keys && list.n < n; list.n++) {
        keys[list.n] = v.table->pairs[2 * list.n];
    }
    return list;
}

/* ---------------------------------------------------------------- white space */

/* Is it one of the characters, or white space if there are none? */
static bool value_strips(uint32_t code, const hd__value *chars)
{
    for (int64_t i = 0; chars && i < chars->n;) {
        uint32_t c;
        i += hd__utf8_next(chars->s + i, chars->n - i, &c);
        if (c == code) {
            return true;
        }
    }
    return !chars && ((code >= 9 && code <= 13) || (code >= 28 && code <= 32) || code == 0x85 ||
                      code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) ||
                      code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
                      code == 0x3000);
}

size_t hd__strip_left(const char *s, size_t n, const hd__value *chars)
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

size_t hd__strip_right(const char *s, size_t n, const hd__value *chars)
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
