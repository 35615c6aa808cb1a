/* template_call.c - filters, tests, methods, functions and macros. */
#include <stdio.h>
#include <time.h>

#include "hf/template.h"

/* What a row is called on, besides the kinds of values whose methods they are */
enum { CALL_FILTER = HD__KINDS, CALL_FUNCTION, CALL_MOST = 4 };

/* v has the value that the row is called on, then its arguments; those that are not given are
 * undefined. */
typedef hd__value call_function(hd__run *r, const hd__value *v);

typedef struct call_row {
    int of;
    const char *name, *parameters; /* the names with blanks between them, */
    int least;                     /* of which so many must be given */
    call_function *run;            /* NULL: heed has it not */
} call_row;

static bool call_is(hd__value a, hd__value b)
{
    return a.n == b.n && memcmp(a.s, b.s, (size_t)a.n) == 0;
}

/* Is it a string? */
static bool call_text(hd__run *r, hd__value v)
{
    if (v.kind != HD__STRING) {
        hd__template_fail(r, HD_VALUE, "%s in place of a string", hd__kind_names[v.kind]);
    }
    return !r->failed;
}

/* ---------------------------------------------------------------- tests */

#define CALL_KIND(kind) (1u << (kind))

static const struct {
    const char *name;
    unsigned kinds;
} call_tests[] = {
    {"defined", ~CALL_KIND(HD__UNDEFINED)},
    {"undefined", CALL_KIND(HD__UNDEFINED)},
    {"none", CALL_KIND(HD__NONE_VALUE)},
    {"string", CALL_KIND(HD__STRING)},
    {"boolean", CALL_KIND(HD__BOOL_VALUE)},
    {"integer", CALL_KIND(HD__INT)},
    {"float", CALL_KIND(HD__DOUBLE)},
    {"number", CALL_KIND(HD__BOOL_VALUE) | CALL_KIND(HD__INT) | CALL_KIND(HD__DOUBLE)},
    {"mapping", CALL_KIND(HD__DICT)},
    {"iterable", CALL_KIND(HD__UNDEFINED) | CALL_KIND(HD__STRING) | CALL_KIND(HD__LIST) |
                     CALL_KIND(HD__TUPLE) | CALL_KIND(HD__SERIES) | CALL_KIND(HD__DICT) |
                     CALL_KIND(HD__LOOP)},
    {"sequence", CALL_KIND(HD__UNDEFINED) | CALL_KIND(HD__STRING) | CALL_KIND(HD__LIST) |
                     CALL_KIND(HD__TUPLE) | CALL_KIND(HD__DICT)},
};

static bool call_tested(hd__run *r, hd__value test, hd__value v, hd__value with)
{
    for (size_t i = 0; i < sizeof call_tests / sizeof call_tests[0]; i++) {
        if (hd__is_text(test, call_tests[i].name)) {
            return call_tests[i].kinds >> v.kind & 1;
        }
    }
    bool is = hd__is_text(test, "true");
    if (is || hd__is_text(test, "false")) {
        return v.kind == HD__BOOL_VALUE && v.n == is;
    }
    if (hd__is_text(test, "equalto") || hd__is_text(test, "eq") || hd__is_text(test, "==")) {
        return hd__equal(r, v, with, 0);
    }
    if (hd__is_text(test, "ne") || hd__is_text(test, "!=")) {
        return !hd__equal(r, v, with, 0);
    }
    if (hd__is_text(test, "in")) {
        return hd__contains(r, with, v);
    }
    hd__template_fail(r, HD_FORMAT, "heed has no test %.*s", HD__CLIP(test.s, test.n));
    return false;
}

hd__value hd__eval_test(hd__run *r, const hd__node *n)
{
    hd__value v = hd__eval(r, n->first), with = hd__eval(r, n->list);
    return r->failed ? v : HD__TRUTH(call_tested(r, n->value, v, with));
}

/* ---------------------------------------------------------------- of texts */

static hd__value call_stripped(hd__run *r, const hd__value *v, bool left, bool right)
{
    hd__value text = hd__text_of(r, v[0]);
    bool all = v[1].kind == HD__UNDEFINED || v[1].kind == HD__NONE_VALUE;
    if (r->failed || (!all && !call_text(r, v[1]))) {
        return text;
    }
    const hd__value *chars = all ? NULL : &v[1];
    size_t from = left ? hd__strip_left(text.s, (size_t)text.n, chars) : 0;
    size_t size = (size_t)text.n - from;
    return HD__TEXT(text.s + from, right ? hd__strip_right(text.s + from, size, chars) : size);
}

static hd__value call_strip(hd__run *r, const hd__value *v)
{
    return call_stripped(r, v, true, true);
}

static hd__value call_lstrip(hd__run *r, const hd__value *v)
{
    return call_stripped(r, v, true, false);
}

static hd__value call_rstrip(hd__run *r, const hd__value *v)
{
    return call_stripped(r, v, false, true);
}

/* The first `upper` letters become capitals, and the others small ones. */
static hd__value call_cased(hd__run *r, const hd__value *v, int64_t upper)
{
    hd__value text = hd__text_of(r, v[0]);
    char *s = r->failed ? NULL : hd__take(r, (size_t)text.n);
    for (int64_t i = 0; s && i < text.n; i++) {
        char c = text.s[i], from = i < upper ? 'a' : 'A', to = i < upper ? 'A' : 'a';
        s[i] = (char)(c >= from && c < from + 26 ? c - from + to : c);
        if ((unsigned char)c > 0x7f) {
            return hd__template_fail(r, HD_FORMAT, "heed changes letters of ASCII only");
        }
    }
    return s ? HD__TEXT(s, text.n) : text;
}

static hd__value call_upper(hd__run *r, const hd__value *v)
{
    return call_cased(r, v, INT64_MAX);
}

static hd__value call_lower(hd__run *r, const hd__value *v)
{
    return call_cased(r, v, 0);
}

static hd__value call_capitalize(hd__run *r, const hd__value *v)
{
    return call_cased(r, v, 1);
}

/* How often something is done at most; Python has -1 for "always". */
static int64_t call_most(hd__value v)
{
    return v.kind == HD__INT && v.n >= 0 ? v.n : INT64_MAX;
}

static hd__value call_replace(hd__run *r, const hd__value *v)
{
    hd__value text = hd__text_of(r, v[0]), old = v[1], new = v[2];
    size_t mark = r->out.len;
    if (r->failed || !call_text(r, old) || !call_text(r, new)) {
        return text;
    }
    if (old.n == 0) {
        return hd__template_fail(r, HD_FORMAT, "heed replaces no empty string");
    }
    const char *at = text.s, *found = at;
    for (int64_t i = call_most(v[3]); i > 0 && (found = hd__find(r, text, at, old)); i--) {
        hd__write(r, at, (size_t)(found - at));
        hd__write(r, new.s, (size_t)new.n);
        at = found + old.n;
    }
    hd__write(r, at, (size_t)(text.s + text.n - at));
    return hd__written(r, mark);
}

static hd__value call_split(hd__run *r, const hd__value *v)
{
    hd__value text = v[0], by = v[1];
    if (by.kind != HD__STRING || by.n == 0) {
        return hd__template_fail(r, HD_FORMAT, "heed splits a string at a given string only");
    }
    int64_t most = call_most(v[2]), n = 0;
    const char *at = text.s, *found;
    while (n < most && (at = hd__find(r, text, at, by))) {
        at += by.n;
        n++;
    }
    hd__value list = hd__list_of(r, n + 1), *items = (hd__value *)list.items;
    for (at = text.s; items && n > 0 && (found = hd__find(r, text, at, by)); n--) {
        items[list.n++] = HD__TEXT(at, found - at);
        at = found + by.n;
    }
    if (items) {
        items[list.n++] = HD__TEXT(at, text.s + text.n - at);
    }
    return list;
}

static hd__value call_startswith(hd__run *r, const hd__value *v)
{
    return call_text(r, v[1])
               ? HD__TRUTH(v[0].n >= v[1].n && memcmp(v[0].s, v[1].s, (size_t)v[1].n) == 0)
               : v[1];
}

static hd__value call_endswith(hd__run *r, const hd__value *v)
{
    int64_t before = v[0].n - v[1].n;
    return call_text(r, v[1])
               ? HD__TRUTH(before >= 0 && memcmp(v[0].s + before, v[1].s, (size_t)v[1].n) == 0)
               : v[1];
}

static hd__value call_string(hd__run *r, const hd__value *v)
{
    return hd__text_of(r, v[0]);
}

/* ---------------------------------------------------------------- of lists and dicts */

static hd__value call_join(hd__run *r, const hd__value *v)
{
    hd__value list = hd__items_of(r, v[0]), by = hd__text_of(r, v[1]);
    size_t mark = r->out.len;
    for (int64_t i = 0; i < list.n && !r->failed; i++) {
        hd__value item = hd__text_of(r, list.items[i]);
        hd__write(r, by.s, i > 0 ? (size_t)by.n : 0);
        if (!r->failed) {
            hd__write(r, item.s, (size_t)item.n);
        }
    }
    return hd__written(r, mark);
}

static hd__value call_length(hd__run *r, const hd__value *v)
{
    bool known = v->kind == HD__STRING || v->kind == HD__DICT || hd__is_list(*v) ||
                 v->kind == HD__UNDEFINED;
    return known ? HD__WHOLE(hd__length(*v))
                 : hd__template_fail(r, HD_VALUE, "the length of %s", hd__kind_names[v->kind]);
}

static hd__value call_at(hd__run *r, hd__value v, int64_t i)
{
    v = v.kind == HD__STRING ? v : hd__items_of(r, v);
    return r->failed ? v : hd__item_of(r, v, HD__WHOLE(i));
}

static hd__value call_first(hd__run *r, const hd__value *v)
{
    return call_at(r, v[0], 0);
}

static hd__value call_last(hd__run *r, const hd__value *v)
{
    return call_at(r, v[0], -1);
}

static hd__value call_list(hd__run *r, const hd__value *v)
{
    hd__value list = hd__items_of(r, v[0]);
    list.kind = HD__LIST;
    return list;
}

static hd__value call_default(hd__run *r, const hd__value *v)
{
    (void)r;
    bool missing = v[0].kind == HD__UNDEFINED || (hd__truth(v[2]) && !hd__truth(v[0]));
    return !missing ? v[0] : v[1].kind == HD__UNDEFINED ? HD__TEXT("", 0) : v[1];
}

static hd__value call_tojson(hd__run *r, const hd__value *v)
{
    size_t mark = r->out.len;
    if (hd__truth(v[1])) {
        return hd__template_fail(r, HD_FORMAT, "heed writes JSON with ensure_ascii=false only");
    }
    hd__write_json(r, v[0], v[2].kind == HD__INT ? v[2].n : -1, 0);
    return hd__written(r, mark);
}

/* The items of a list that pass, or fail, a test: of themselves, or of one part of each */
static hd__value call_chosen(hd__run *r, hd__value all, const hd__value *part, const hd__value *test,
                             bool pass)
{
    all = hd__truth(all) ? hd__items_of(r, all) : (hd__value){0};
    hd__value list = hd__list_of(r, all.n), *items = (hd__value *)list.items;
    list.kind = HD__SERIES;
    for (int64_t i = 0; items && i < all.n && !r->failed; i++) {
        hd__value v = part ? hd__item_of(r, all.items[i], *part) : all.items[i];
        bool is = test->kind == HD__STRING ? call_tested(r, *test, v, test[1]) : hd__truth(v);
        if (is == pass) {
            items[list.n++] = all.items[i];
        }
    }
    return list;
}

static hd__value call_selectattr(hd__run *r, const hd__value *v)
{
    return call_chosen(r, v[0], &v[1], &v[2], true);
}

static hd__value call_rejectattr(hd__run *r, const hd__value *v)
{
    return call_chosen(r, v[0], &v[1], &v[2], false);
}

static hd__value call_select(hd__run *r, const hd__value *v)
{
    return call_chosen(r, v[0], NULL, &v[1], true);
}

static hd__value call_reject(hd__run *r, const hd__value *v)
{
    return call_chosen(r, v[0], NULL, &v[1], false);
}

/* Keys, values, or pairs of both */
static hd__value call_parts(hd__run *r, hd__value v, bool keys, bool values)
{
    hd__value list = hd__items_of(r, v), *items = (hd__value *)list.items;
    if (v.kind != HD__DICT && v.kind != HD__UNDEFINED) {
        return hd__template_fail(r, HD_VALUE, "%s in place of a dict", hd__kind_names[v.kind]);
    }
    for (int64_t i = 0; values && i < list.n; i++) {
        const hd__value *pair = &v.table->pairs[2 * i];
        hd__value *both = keys ? hd__take(r, 2 * sizeof *both) : NULL;
        if (both) {
            memcpy(both, pair, 2 * sizeof *both);
        }
        items[i] = both ? (hd__value){HD__TUPLE, 2, {.items = both}} : pair[1];
    }
    return list;
}

static hd__value call_items(hd__run *r, const hd__value *v)
{
    return call_parts(r, v[0], true, true);
}

/* The filter, which takes something undefined, too */
static hd__value call_series(hd__run *r, const hd__value *v)
{
    hd__value list = call_parts(r, v[0], true, true);
    list.kind = HD__SERIES;
    return list;
}

static hd__value call_keys(hd__run *r, const hd__value *v)
{
    return call_parts(r, v[0], true, false);
}

static hd__value call_values(hd__run *r, const hd__value *v)
{
    return call_parts(r, v[0], false, true);
}

static hd__value call_get(hd__run *r, const hd__value *v)
{
    const hd__value *found = hd__table_find(r, v[0].table, v[1]);
    return found ? *found : v[2].kind ? v[2] : (hd__value){HD__NONE_VALUE, 0, {0}};
}

/* ---------------------------------------------------------------- functions */

static hd__value call_raise(hd__run *r, const hd__value *v)
{
    hd__value text = hd__text_of(r, v[1]);
    return r->failed ? text
                     : hd__template_fail(r, HD_VALUE, "the template refuses these messages: %.*s",
                                         HD__CLIP(text.s, text.n));
}

/* A part of a date, with English names in every locale, in `part`; false: heed has it not */
static bool call_date_part(const struct tm *t, char letter, char part[16])
{
    static const char *const months[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    const char letters[] = "YmdHMS";
    const int numbers[] = {t->tm_year + 1900, t->tm_mon + 1, t->tm_mday,
                           t->tm_hour,        t->tm_min,     t->tm_sec};
    const char *at = memchr(letters, letter, sizeof letters - 1);
    if (at) {
        snprintf(part, 16, "%02d", numbers[at - letters]);
    } else if (letter == 'B' || letter == 'b') {
        snprintf(part, 16, letter == 'B' ? "%s" : "%.3s", months[t->tm_mon]);
    } else {
        snprintf(part, 16, letter == 'A' ? "%s" : "%.3s", days[t->tm_wday]);
    }
    return at || memchr("BbAa", letter, 4);
}

static hd__value call_strftime(hd__run *r, const hd__value *v)
{
    struct tm t = {0};
    time_t now = r->now ? (time_t)r->now : time(NULL);
    size_t mark = r->out.len;
    if (!call_text(r, v[1]) || !(r->now ? gmtime_r(&now, &t) : localtime_r(&now, &t))) {
        return hd__template_fail(r, HD_VALUE, "there is no such date");
    }
    for (int64_t i = 0; i < v[1].n && !r->failed; i++) {
        const char *s = v[1].s + i;
        char part[16];
        if (*s != '%') {
            hd__write(r, s, 1);
        } else if (++i < v[1].n && call_date_part(&t, s[1], part)) {
            hd__write(r, part, strlen(part));
        } else {
            hd__template_fail(r, HD_FORMAT, "heed has the parts %%Y %%m %%d %%H %%M %%S %%B %%b "
                                            "%%A %%a of a date only");
        }
    }
    return hd__written(r, mark);
}

/* namespace(name=value) and dict(name=value) */
static hd__value call_table(hd__run *r, const hd__node *args, hd__kind kind)
{
    hd__table *t = hd__take(r, sizeof *t);
    for (; t && args && !r->failed; args = args->next) {
        if (args->name.n == 0) {
            hd__template_fail(r, HD_FORMAT, "heed has names with values here only");
        }
        hd__table_put(r, t, args->name, hd__eval(r, args));
    }
    return t ? (hd__value){kind, 0, {.table = t}} : (hd__value){0};
}

/* ---------------------------------------------------------------- arguments */

/* The i-th argument, or the one with the name */
static const hd__node *call_argument(const hd__node *args, int i, hd__value name)
{
    for (; args; args = args->next, i--) {
        if (args->name.n > 0 ? call_is(args->name, name) : i == 0) {
            return args;
        }
    }
    return NULL;
}

/* Have so many arguments a parameter? */
static bool call_complete(hd__run *r, const hd__node *args, int given, const char *parameters)
{
    for (; args; args = args->next) {
        given--;
    }
    if (given != 0) {
        hd__template_fail(r, HD_VALUE, "other arguments: expected (%s)", parameters);
    }
    return !r->failed;
}

/* The variables of the whole template */
static hd__table *call_outermost(hd__table *t)
{
    while (t->outer) {
        t = t->outer;
    }
    return t;
}

static hd__value call_macro(hd__run *r, const hd__node *macro, const hd__node *args)
{
    hd__table frame = {.outer = call_outermost(r->frame)}, *caller = r->frame;
    size_t mark = r->out.len;
    int i = 0, given = 0;
    for (const hd__node *p = macro->list; p; p = p->next, i++) {
        const hd__node *a = call_argument(args, i, p->value);
        r->frame = a ? caller : &frame;
        given += a != NULL;
        hd__table_put(r, &frame, p->value, hd__eval(r, a ? a : p->first));
    }
    r->frame = &frame;
    if (call_complete(r, args, given, "those of the macro")) {
        hd__eval_all(r, macro->second);
    }
    r->frame = caller;
    return hd__written(r, mark);
}

static hd__value call_run(hd__run *r, const call_row *row, const hd__node *args, hd__value on)
{
    hd__value v[CALL_MOST] = {on};
    const char *p = row->parameters;
    int given = 0, i = 0;
    for (; *p; i++) {
        size_t size = strcspn(p, " ");
        const hd__node *a = call_argument(args, i, HD__TEXT(p, size));
        given += a || i >= row->least ? a != NULL : CALL_MOST;
        v[i + 1] = hd__eval(r, a);
        p += size + (p[size] == ' ');
    }
    return call_complete(r, args, given, row->parameters) ? row->run(r, v) : v[0];
}

/* ---------------------------------------------------------------- the tables */

static const call_row call_rows[] = {
    {CALL_FILTER, "trim", "chars", 0, call_strip},
    {CALL_FILTER, "length", "", 0, call_length},
    {CALL_FILTER, "count", "", 0, call_length},
    {CALL_FILTER, "upper", "", 0, call_upper},
    {CALL_FILTER, "lower", "", 0, call_lower},
    {CALL_FILTER, "capitalize", "", 0, call_capitalize},
    {CALL_FILTER, "replace", "old new count", 2, call_replace},
    {CALL_FILTER, "string", "", 0, call_string},
    {CALL_FILTER, "join", "d", 0, call_join},
    {CALL_FILTER, "tojson", "ensure_ascii indent", 0, call_tojson},
    {CALL_FILTER, "default", "default_value boolean", 0, call_default},
    {CALL_FILTER, "d", "default_value boolean", 0, call_default},
    {CALL_FILTER, "first", "", 0, call_first},
    {CALL_FILTER, "last", "", 0, call_last},
    {CALL_FILTER, "list", "", 0, call_list},
    {CALL_FILTER, "items", "", 0, call_series},
    {CALL_FILTER, "selectattr", "attribute test value", 1, call_selectattr},
    {CALL_FILTER, "rejectattr", "attribute test value", 1, call_rejectattr},
    {CALL_FILTER, "select", "test value", 0, call_select},
    {CALL_FILTER, "reject", "test value", 0, call_reject},
    {HD__STRING, "strip", "chars", 0, call_strip},
    {HD__STRING, "lstrip", "chars", 0, call_lstrip},
    {HD__STRING, "rstrip", "chars", 0, call_rstrip},
    {HD__STRING, "split", "sep maxsplit", 0, call_split},
    {HD__STRING, "startswith", "prefix", 1, call_startswith},
    {HD__STRING, "endswith", "suffix", 1, call_endswith},
    {HD__STRING, "replace", "old new count", 2, call_replace},
    {HD__STRING, "upper", "", 0, call_upper},
    {HD__STRING, "lower", "", 0, call_lower},
    {HD__STRING, "capitalize", "", 0, call_capitalize},
    {HD__DICT, "get", "key default", 1, call_get},
    {HD__DICT, "items", "", 0, call_items},
    {HD__DICT, "keys", "", 0, call_keys},
    {HD__DICT, "values", "", 0, call_values},
    {HD__DICT, "copy", NULL, 0, NULL},
    {HD__DICT, "pop", NULL, 0, NULL},
    {HD__DICT, "update", NULL, 0, NULL},
    {HD__DICT, "setdefault", NULL, 0, NULL},
    {HD__DICT, "clear", NULL, 0, NULL},
    {CALL_FUNCTION, "raise_exception", "message", 1, call_raise},
    {CALL_FUNCTION, "strftime_now", "format", 1, call_strftime},
    {CALL_FUNCTION, "namespace", NULL, 0, NULL},
    {CALL_FUNCTION, "dict", NULL, 0, NULL},
    {CALL_FUNCTION, "range", NULL, 0, NULL},
    {CALL_FUNCTION, "cycler", NULL, 0, NULL},
    {CALL_FUNCTION, "joiner", NULL, 0, NULL},
    {CALL_FUNCTION, "lipsum", NULL, 0, NULL},
};

static const call_row *call_find(int of, hd__value name)
{
    for (size_t i = 0; i < sizeof call_rows / sizeof call_rows[0]; i++) {
        if (call_rows[i].of == of && hd__is_text(name, call_rows[i].name)) {
            return &call_rows[i];
        }
    }
    return NULL;
}

bool hd__is_function(hd__value name)
{
    return call_find(CALL_FUNCTION, name);
}

bool hd__is_method(hd__kind kind, hd__value name)
{
    return call_find((int)kind, name);
}

static hd__value call_named(hd__run *r, int of, hd__value name, const hd__node *args, hd__value on)
{
    const call_row *row = call_find(of, name);
    if (r->failed || !row || !row->run) {
        return hd__template_fail(r, HD_FORMAT, "heed has no %s %.*s",
                                 of == CALL_FILTER     ? "filter"
                                 : of == CALL_FUNCTION ? "function"
                                                       : "method",
                                 HD__CLIP(name.s, name.n));
    }
    return call_run(r, row, args, on);
}

hd__value hd__eval_filter(hd__run *r, const hd__node *n)
{
    return call_named(r, CALL_FILTER, n->value, n->list, hd__eval(r, n->first));
}

hd__value hd__eval_call(hd__run *r, const hd__node *n)
{
    hd__value name = n->first->value;
    if (n->first->kind == HD__ATTRIBUTE) {
        hd__value on = hd__eval(r, n->first->first);
        return call_named(r, (int)on.kind, name, n->list, on);
    }
    hd__value called = hd__eval(r, n->first);
    if (called.kind == HD__MACRO && called.macro) {
        return call_macro(r, called.macro, n->list);
    }
    if (called.kind != HD__MACRO) {
        return hd__template_fail(r, HD_VALUE, "a call of %s", hd__kind_names[called.kind]);
    }
    bool dict = hd__is_text(name, "dict");
    return dict || hd__is_text(name, "namespace")
               ? call_table(r, n->list, dict ? HD__DICT : HD__NAMESPACE)
               : call_named(r, CALL_FUNCTION, name, n->list, called);
}
