/* template_call.c - parts of values, tests, and the filters, methods and functions of templates,
 * whose table stands at the end. */
#include <stdio.h>
#include <time.h>

#include "hf/template.h"

/* Is it a string? */
static bool call_is_text(hd__run *r, hd__value v)
{
    if (v.kind != HD__STRING) {
        hd__fail_at(r, HD_FORMAT, "%s in place of a string", hd__kind_names[v.kind]);
    }
    return !r->failed;
}

/* The i-th character of a string */
static hd__value call_character(hd__value text, int64_t i)
{
    const char *s = text.s, *end = text.s + text.n;
    uint32_t code;
    while (i-- > 0) {
        s += hd__utf8_next(s, end - s, &code);
    }
    return HD__TEXT(s, hd__utf8_next(s, end - s, &code));
}

hd__value hd__item_of(hd__run *r, hd__value v, hd__value key)
{
    bool table = v.kind == HD__DICT || v.kind == HD__NAMESPACE;
    if (v.kind == HD__UNDEFINED) {
        return hd__fail_at(r, HD_VALUE, "a part of something undefined");
    }
    if (hd__is_whole(key) && (hd__is_list(v) || v.kind == HD__STRING)) {
        hd__spend(r, (size_t)v.n / 16);
        int64_t n = hd__length(v), i = key.n < 0 ? key.n + n : key.n;
        return i < 0 || i >= n        ? HD__NOTHING
               : v.kind == HD__STRING ? call_character(v, i)
                                      : v.items[i];
    }
    const hd__value *found = table ? hd__table_find(r, v.table, key) : NULL;
    return found ? *found : HD__NOTHING;
}

/* ---------------------------------------------------------------- tests */

enum { NUMBERS = 1 << HD__BOOL_VALUE | 1 << HD__INT | 1 << HD__DOUBLE };
enum {
    SEQUENCES =
        1 << HD__UNDEFINED | 1 << HD__STRING | 1 << HD__LIST | 1 << HD__TUPLE | 1 << HD__DICT
};

static const struct {
    const char *name;
    int kinds;
} kind_tests[] = {
    {"defined", ~(1 << HD__UNDEFINED)},
    {"undefined", 1 << HD__UNDEFINED},
    {"none", 1 << HD__NONE_VALUE},
    {"string", 1 << HD__STRING},
    {"boolean", 1 << HD__BOOL_VALUE},
    {"integer", 1 << HD__INT},
    {"float", 1 << HD__DOUBLE},
    {"number", NUMBERS},
    {"mapping", 1 << HD__DICT},
    {"sequence", SEQUENCES},
    {"iterable", SEQUENCES | 1 << HD__SERIES},
};

/* A test of v itself in *is; false: there is none of the name */
static bool call_plain_test(hd__value name, hd__value v, bool *is)
{
    bool truth = hd__value_is(name, "true");
    if (truth || hd__value_is(name, "false")) {
        *is = v.kind == HD__BOOL_VALUE && v.n == truth;
        return true;
    }
    size_t i = 0, n = sizeof kind_tests / sizeof kind_tests[0];
    while (i < n && !hd__value_is(name, kind_tests[i].name)) {
        i++;
    }
    *is = i < n && kind_tests[i].kinds >> v.kind & 1;
    return i < n;
}

bool hd__test(hd__run *r, hd__value name, hd__value v, const hd__value *with)
{
    bool is = false;
    if (!with && call_plain_test(name, v, &is)) {
        return is;
    }
    if (with &&
        (hd__value_is(name, "equalto") || hd__value_is(name, "eq") || hd__value_is(name, "=="))) {
        return hd__equal(r, v, *with, 0);
    }
    if (with && (hd__value_is(name, "ne") || hd__value_is(name, "!="))) {
        return !hd__equal(r, v, *with, 0);
    }
    if (with && hd__value_is(name, "in")) {
        return hd__contains(r, *with, v);
    }
    hd__fail_at(r, HD_FORMAT, "heed has no test %.*s %s an argument", HD__CLIP(name.s, name.n),
                with ? "with" : "without");
    return false;
}

/* ---------------------------------------------------------------- of texts */

/* v[0] is what is filtered or whose method it is; then come the arguments, undefined where they are
 * not given. `how` is the row's. */
typedef hd__value call_run(hd__run *r, const hd__value *v, int how);

enum { LEFT = 1, RIGHT = 2 };

static hd__value call_strip(hd__run *r, const hd__value *v, int how)
{
    hd__value text = hd__value_text(r, v[0]);
    const hd__value *chars = v[1].kind > HD__NONE_VALUE ? &v[1] : NULL;
    if (r->failed || (chars && !call_is_text(r, *chars))) {
        return HD__NOTHING;
    }
    size_t from = how & LEFT ? hd__strip_left(text.s, (size_t)text.n, chars) : 0;
    size_t n = (size_t)text.n - from;
    return HD__TEXT(text.s + from, how & RIGHT ? hd__strip_right(text.s + from, n, chars) : n);
}

enum { LOWER, CAPITALIZE, UPPER };

static hd__value call_case(hd__run *r, const hd__value *v, int how)
{
    hd__value text = hd__value_text(r, v[0]);
    char *s = r->failed ? NULL : hd__take(r, (size_t)text.n);
    for (int64_t i = 0; s && i < text.n; i++) {
        bool upper = how == UPPER || (how == CAPITALIZE && i == 0);
        char c = text.s[i], from = upper ? 'a' : 'A';
        s[i] = (char)(c >= from && c < from + 26 ? c ^ 0x20 : c);
        if ((unsigned char)c > 0x7f) {
            return hd__fail_at(r, HD_FORMAT, "heed changes letters of ASCII only");
        }
    }
    return s ? HD__TEXT(s, text.n) : HD__NOTHING;
}

/* How often at most; Python has -1 for "always". */
static int64_t call_most(hd__value v)
{
    return hd__is_whole(v) && v.n >= 0 ? v.n : INT64_MAX;
}

static hd__value call_replace(hd__run *r, const hd__value *v, int how)
{
    hd__value text = hd__value_text(r, v[0]), old = v[1];
    size_t mark = r->out.len;
    (void)how;
    if (r->failed || !call_is_text(r, old) || !call_is_text(r, v[2]) || old.n == 0) {
        return hd__fail_at(r, HD_FORMAT, "heed replaces no empty string");
    }
    const char *at = text.s, *found;
    for (int64_t i = call_most(v[3]); i > 0 && (found = hd__value_find(r, text, at, old)); i--) {
        hd__write(r, at, (size_t)(found - at));
        hd__write(r, v[2].s, (size_t)v[2].n);
        at = found + old.n;
    }
    hd__write(r, at, (size_t)(text.s + text.n - at));
    return hd__written(r, mark);
}

static hd__value call_split(hd__run *r, const hd__value *v, int how)
{
    hd__value text = v[0], by = v[1];
    hd__table parts = {0};
    (void)how;
    if (by.kind != HD__STRING || by.n == 0) {
        return hd__fail_at(r, HD_FORMAT, "heed splits a string at a given one only");
    }
    const char *at = text.s, *found;
    for (int64_t i = call_most(v[2]); i > 0 && (found = hd__value_find(r, text, at, by)); i--) {
        hd__push(r, &parts, HD__TEXT(at, found - at));
        at = found + by.n;
    }
    hd__push(r, &parts, HD__TEXT(at, text.s + text.n - at));
    return hd__list_of(HD__LIST, parts);
}

static hd__value call_affix(hd__run *r, const hd__value *v, int how)
{
    int64_t rest = v[0].n - v[1].n;
    return call_is_text(r, v[1])
               ? HD__OF(HD__BOOL_VALUE, rest >= 0 && memcmp(v[0].s + (how == LEFT ? 0 : rest),
                                                            v[1].s, (size_t)v[1].n) == 0)
               : HD__NOTHING;
}

static hd__value call_string(hd__run *r, const hd__value *v, int how)
{
    (void)how;
    return hd__value_text(r, v[0]);
}

/* ---------------------------------------------------------------- of lists and dicts */

static hd__value call_join(hd__run *r, const hd__value *v, int how)
{
    hd__value list = hd__items_of(r, v[0]), by = hd__value_text(r, v[1]);
    size_t mark = r->out.len;
    (void)how;
    for (int64_t i = 0; i < list.n && !r->failed; i++) {
        hd__value item = hd__value_text(r, list.items[i]);
        hd__write(r, by.s, i > 0 ? (size_t)by.n : 0);
        hd__write(r, item.s, (size_t)item.n);
    }
    return hd__written(r, mark);
}

static hd__value call_length(hd__run *r, const hd__value *v, int how)
{
    (void)how;
    return SEQUENCES >> v->kind & 1
               ? HD__OF(HD__INT, hd__length(*v))
               : hd__fail_at(r, HD_VALUE, "the length of %s", hd__kind_names[v->kind]);
}

/* The item `how`: 0, or -1 for the last one */
static hd__value call_item(hd__run *r, const hd__value *v, int how)
{
    hd__value of = v->kind == HD__STRING ? *v : hd__items_of(r, *v);
    return r->failed ? of : hd__item_of(r, of, HD__OF(HD__INT, how));
}

static hd__value call_list(hd__run *r, const hd__value *v, int how)
{
    hd__value list = hd__items_of(r, v[0]);
    (void)how;
    list.kind = HD__LIST;
    return list;
}

static hd__value call_default(hd__run *r, const hd__value *v, int how)
{
    bool missing = v[0].kind == HD__UNDEFINED || (hd__truth(v[2]) && !hd__truth(v[0]));
    (void)r;
    (void)how;
    return !missing ? v[0] : v[1].kind == HD__UNDEFINED ? HD__TEXT("", 0) : v[1];
}

static hd__value call_tojson(hd__run *r, const hd__value *v, int how)
{
    size_t mark = r->out.len;
    (void)how;
    if (hd__truth(v[1]) || v[2].kind > HD__INT || v[2].kind == HD__BOOL_VALUE) {
        return hd__fail_at(r, HD_FORMAT, "heed has ensure_ascii=false, and an indent in blanks");
    }
    hd__write_json(r, v[0], v[2].kind == HD__INT ? v[2].n : -1, 0);
    return hd__written(r, mark);
}

enum { PASS = 1, ATTRIBUTE = 2 };

/* The items that pass, or fail, a test: of themselves, or of an attribute of each */
static hd__value call_select(hd__run *r, const hd__value *v, int how)
{
    const hd__value *test = how & ATTRIBUTE ? &v[2] : &v[1];
    hd__value all = hd__truth(v[0]) ? hd__items_of(r, v[0]) : HD__OF(HD__LIST, 0);
    hd__table chosen = {0};
    for (int64_t i = 0; i < all.n && !r->failed; i++) {
        hd__value item = how & ATTRIBUTE ? hd__item_of(r, all.items[i], v[1]) : all.items[i];
        bool pass =
            test->kind ? hd__test(r, *test, item, test[1].kind ? &test[1] : NULL) : hd__truth(item);
        if (pass == (how & PASS)) {
            hd__push(r, &chosen, all.items[i]);
        }
    }
    return hd__list_of(HD__SERIES, chosen);
}

enum { KEYS = 1, VALUES = 2, FILTERED = 4 };

static hd__value call_parts(hd__run *r, const hd__value *v, int how)
{
    hd__table parts = {0};
    if (v->kind != HD__DICT && v->kind != HD__UNDEFINED) {
        return hd__fail_at(r, HD_VALUE, "%s in place of a dict", hd__kind_names[v->kind]);
    }
    bool both = how & KEYS && how & VALUES;
    for (int64_t i = 0; v->kind == HD__DICT && i < v->table->n; i += 2) {
        const hd__value *pair = &v->table->items[i];
        hd__push(r, &parts,
                 both ? (hd__value){HD__TUPLE, 2, {.items = pair}} : pair[how == VALUES]);
    }
    return hd__list_of(how & FILTERED ? HD__SERIES : HD__LIST, parts);
}

static hd__value call_dict_get(hd__run *r, const hd__value *v, int how)
{
    const hd__value *found = hd__table_find(r, v[0].table, v[1]);
    (void)how;
    return found ? *found : v[2].kind ? v[2] : HD__OF(HD__NONE_VALUE, 0);
}

/* ---------------------------------------------------------------- functions */

static hd__value call_raise(hd__run *r, const hd__value *v, int how)
{
    hd__value text = hd__value_text(r, v[1]);
    (void)how;
    return hd__fail_at(r, HD_VALUE, "the template refuses these messages: %.*s",
                       HD__CLIP(text.s, text.n));
}

/* range(stop) or range(start, stop, step) */
static hd__value call_range(hd__run *r, const hd__value *v, int how)
{
    hd__table t = {0};
    int64_t from = v[2].kind ? v[1].n : 0, to = v[2].kind ? v[2].n : v[1].n;
    int64_t step = v[3].kind ? v[3].n : 1;
    (void)how;
    if (v[1].kind != HD__INT || step == 0 || (v[2].kind && v[2].kind != HD__INT) ||
        from < INT32_MIN || from > INT32_MAX || step < INT32_MIN || step > INT32_MAX) {
        return hd__fail_at(r, HD_FORMAT, "range of other than whole numbers");
    }
    for (; (step > 0 ? from < to : from > to) && !r->failed; from += step) {
        hd__push(r, &t, HD__OF(HD__INT, from));
    }
    return hd__list_of(HD__LIST, t);
}

/* A part of a date, with English names in every locale; false: heed has it not */
static bool call_date_part(const struct tm *t, char letter, char part[16])
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    static const char letters[] = "YmdHMSBbAa%";
    const int numbers[] = {t->tm_year + 1900, t->tm_mon + 1, t->tm_mday,
                           t->tm_hour,        t->tm_min,     t->tm_sec};
    const char *month = months[t->tm_mon], *day = days[t->tm_wday];
    const char *const words[] = {month, month, day, day, "%"};
    const char *at = memchr(letters, letter, sizeof letters - 1);
    if (at && at - letters < 6) {
        snprintf(part, 16, "%02d", numbers[at - letters]);
    } else if (at) {
        snprintf(part, 16, letter == 'b' || letter == 'a' ? "%.3s" : "%s", words[at - letters - 6]);
    }
    return at;
}

static hd__value call_strftime(hd__run *r, const hd__value *v, int how)
{
    struct tm t = {0};
    time_t now = r->now ? (time_t)r->now : time(NULL);
    size_t mark = r->out.len;
    (void)how;
    if (!call_is_text(r, v[1]) || !(r->now ? gmtime_r(&now, &t) : localtime_r(&now, &t))) {
        return hd__fail_at(r, HD_VALUE, "there is no such date");
    }
    for (int64_t i = 0; i < v[1].n && !r->failed; i++) {
        const char *s = v[1].s + i;
        char part[16];
        if (*s != '%') {
            hd__write(r, s, 1);
        } else if (++i < v[1].n && call_date_part(&t, s[1], part)) {
            hd__write(r, part, strlen(part));
        } else {
            hd__fail_at(r, HD_FORMAT, "heed has %%Y %%m %%d %%H %%M %%S %%B %%b %%A %%a only");
        }
    }
    return hd__written(r, mark);
}

/* ---------------------------------------------------------------- the table */

enum { MOST_ARGUMENTS = 3 };

static const struct call_row {
    int of;
    const char *name, *parameters; /* the names, with a blank after each, */
    int least;                     /* of which so many must be given */
    call_run *run;                 /* NULL: heed has it not */
    int how;
} calls[] = {
    {HD__FILTER_CALL, "trim", "chars ", 0, call_strip, LEFT | RIGHT},
    {HD__FILTER_CALL, "length", "", 0, call_length, 0},
    {HD__FILTER_CALL, "count", "", 0, call_length, 0},
    {HD__FILTER_CALL, "upper", "", 0, call_case, UPPER},
    {HD__FILTER_CALL, "lower", "", 0, call_case, LOWER},
    {HD__FILTER_CALL, "capitalize", "", 0, call_case, CAPITALIZE},
    {HD__FILTER_CALL, "replace", "old new count ", 2, call_replace, 0},
    {HD__FILTER_CALL, "string", "", 0, call_string, 0},
    {HD__FILTER_CALL, "join", "d ", 0, call_join, 0},
    {HD__FILTER_CALL, "tojson", "ensure_ascii indent ", 0, call_tojson, 0},
    {HD__FILTER_CALL, "default", "default_value boolean ", 0, call_default, 0},
    {HD__FILTER_CALL, "d", "default_value boolean ", 0, call_default, 0},
    {HD__FILTER_CALL, "first", "", 0, call_item, 0},
    {HD__FILTER_CALL, "last", "", 0, call_item, -1},
    {HD__FILTER_CALL, "list", "", 0, call_list, 0},
    {HD__FILTER_CALL, "items", "", 0, call_parts, KEYS | VALUES | FILTERED},
    {HD__FILTER_CALL, "select", "test value ", 0, call_select, PASS},
    {HD__FILTER_CALL, "reject", "test value ", 0, call_select, 0},
    {HD__FILTER_CALL, "selectattr", "attribute test value ", 1, call_select, ATTRIBUTE | PASS},
    {HD__FILTER_CALL, "rejectattr", "attribute test value ", 1, call_select, ATTRIBUTE},
    {HD__STRING, "strip", "chars ", 0, call_strip, LEFT | RIGHT},
    {HD__STRING, "lstrip", "chars ", 0, call_strip, LEFT},
    {HD__STRING, "rstrip", "chars ", 0, call_strip, RIGHT},
    {HD__STRING, "split", "sep maxsplit ", 0, call_split, 0},
    {HD__STRING, "startswith", "prefix ", 1, call_affix, LEFT},
    {HD__STRING, "endswith", "suffix ", 1, call_affix, RIGHT},
    {HD__STRING, "replace", "old new count ", 2, call_replace, 0},
    {HD__STRING, "upper", "", 0, call_case, UPPER},
    {HD__STRING, "lower", "", 0, call_case, LOWER},
    {HD__STRING, "capitalize", "", 0, call_case, CAPITALIZE},
    {HD__DICT, "get", "key default ", 1, call_dict_get, 0},
    {HD__DICT, "items", "", 0, call_parts, KEYS | VALUES},
    {HD__DICT, "keys", "", 0, call_parts, KEYS},
    {HD__DICT, "values", "", 0, call_parts, VALUES},
    {HD__DICT, "copy", "", 0, NULL, 0},
    {HD__DICT, "pop", "", 0, NULL, 0},
    {HD__DICT, "update", "", 0, NULL, 0},
    {HD__DICT, "setdefault", "", 0, NULL, 0},
    {HD__DICT, "clear", "", 0, NULL, 0},
    {HD__NAMESPACE, "cycle", "", 0, NULL, 0}, /* of a loop */
    {HD__NAMESPACE, "changed", "", 0, NULL, 0},
    {HD__NAMESPACE, "depth", "", 0, NULL, 0},
    {HD__NAMESPACE, "depth0", "", 0, NULL, 0},
    {HD__FUNCTION_CALL, "raise_exception", "message ", 1, call_raise, 0},
    {HD__FUNCTION_CALL, "strftime_now", "format ", 1, call_strftime, 0},
    {HD__FUNCTION_CALL, "range", "start stop step ", 1, call_range, 0},
    {HD__FUNCTION_CALL, "namespace", "", 0, NULL, HD__NAMESPACE},
    {HD__FUNCTION_CALL, "dict", "", 0, NULL, HD__DICT},
    {HD__FUNCTION_CALL, "cycler", "", 0, NULL, 0},
    {HD__FUNCTION_CALL, "joiner", "", 0, NULL, 0},
    {HD__FUNCTION_CALL, "lipsum", "", 0, NULL, 0},
};

static const struct call_row *call_find(int of, hd__value name)
{
    size_t i = 0, n = sizeof calls / sizeof calls[0];
    while (i < n && !(calls[i].of == of && hd__value_is(name, calls[i].name))) {
        i++;
    }
    return i < n ? &calls[i] : NULL;
}

bool hd__has_call(int of, hd__value name)
{
    return call_find(of, name);
}

/* namespace(name=value) and dict(name=value) */
static hd__value call_table(hd__run *r, hd__kind kind, const hd__table *args)
{
    hd__table t = {0};
    for (int64_t i = 0; i < args->n && !r->failed; i += 2) {
        if (args->items[i].n == 0) {
            hd__fail_at(r, HD_FORMAT, "heed has names with values here only");
        }
        hd__table_put(r, &t, args->items[i], args->items[i + 1]);
    }
    return hd__dict_of(r, kind, t);
}

static hd__value call_with(hd__run *r, const struct call_row *row, hd__value on,
                           const hd__table *args)
{
    hd__value v[MOST_ARGUMENTS + 1] = {on};
    const char *p = row->parameters;
    int64_t given = 0, missing = 0, i = 0;
    for (; *p; p += strcspn(p, " ") + 1) {
        const hd__value *a = hd__argument(args, i++, HD__TEXT(p, strcspn(p, " ")));
        v[i] = a ? *a : HD__NOTHING;
        given += a != NULL;
        missing += !a && i <= row->least;
    }
    if (missing || 2 * given != args->n) {
        return hd__fail_at(r, HD_FORMAT, "other arguments of %s: expected (%s)", row->name,
                           row->parameters);
    }
    return row->run(r, v, row->how);
}

hd__value hd__call_named(hd__run *r, int of, hd__value name, hd__value on, const hd__table *args)
{
    const struct call_row *row = call_find(of, name);
    if (row && (row->how == HD__NAMESPACE || row->how == HD__DICT) && !row->run) {
        return call_table(r, (hd__kind)row->how, args);
    }
    if (row && row->run) {
        hd__spend(r, on.kind == HD__STRING ? (size_t)on.n / 8 : 0);
        return call_with(r, row, on, args);
    }
    const char *what = of == HD__FILTER_CALL     ? "filter"
                       : of == HD__FUNCTION_CALL ? "function"
                                                 : "method";
    bool method = of < HD__KINDS;
    return hd__fail_at(r, of == HD__UNDEFINED ? HD_VALUE : HD_FORMAT, "heed has no %s %.*s%s%s",
                       what, HD__CLIP(name.s, name.n), method ? " of " : "",
                       method ? hd__kind_names[of] : "");
}
