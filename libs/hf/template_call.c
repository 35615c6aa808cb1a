/* template_call.c - the items of values, and the tests, filters, methods and functions of
 * templates. The table of filters, methods and functions is at the end. */
#include <time.h>

#include "base/system/shared.h"
#include "hf/template.h"

/* Fails the run if v is not a string. Returns false if the run has failed, now or before. */
static bool call_is_text(hd__template_run *r, hd__template_value v)
{
    if (v.kind != HD__STRING) {
        hd__template_fail_at(r, HD_FORMAT, "found %s: expected a string",
                             hd__template_kind_names[v.kind]);
    }
    return !r->failed;
}

/* Returns character i of the string `text`, which has more than i characters. */
static hd__template_value call_character(hd__template_value text, int64_t i)
{
    const char *s = text.s, *end = text.s + text.n;
    uint32_t code;
    while (i-- > 0) {
        s += hd__utf8_next(s, end - s, &code);
    }
    return HD__TEXT(s, hd__utf8_next(s, end - s, &code));
}

hd__template_value hd__template_item_of(hd__template_run *r, hd__template_value v,
                                        hd__template_value key)
{
    bool table = v.kind == HD__DICT_VALUE || v.kind == HD__NAMESPACE || v.kind == HD__LOOP;
    if (v.kind == HD__UNDEFINED) {
        return hd__template_fail_at(r, HD_VALUE, "an undefined value has no parts");
    }
    if (hd__template_is_number(key) && (hd__template_is_list(v) || v.kind == HD__STRING)) {
        hd__template_spend(r, (size_t)v.n / 16);
        int64_t n = hd__template_length(v), i = key.n < 0 ? key.n + n : key.n;
        return i < 0 || i >= n        ? HD__NOTHING
               : v.kind == HD__STRING ? call_character(v, i)
                                      : v.items[i];
    }
    const hd__template_value *found = table ? hd__template_table_find(r, v.table, key) : NULL;
    if (!found && v.kind == HD__LOOP) {
        hd__template_fail_at(r, HD_FORMAT,
                             "heed's loop has index, index0, first, last, previtem and nextitem");
    }
    return found ? *found : HD__NOTHING;
}

/* ---------------------------------------------------------------- tests */

enum {
    SEQUENCES = 1 << HD__UNDEFINED | 1 << HD__STRING | 1 << HD__LIST | 1 << HD__DICT_VALUE,
    BOOLS = 1 << HD__BOOL_VALUE
};

static const struct {
    const char *name;
    int kinds;
} tests[] = {
    {"defined", ~(1 << HD__UNDEFINED)},
    {"undefined", 1 << HD__UNDEFINED},
    {"none", 1 << HD__NONE_VALUE},
    {"string", 1 << HD__STRING},
    {"boolean", BOOLS},
    {"true", BOOLS},
    {"false", BOOLS},
    {"number", BOOLS | 1 << HD__TEMPLATE_INT},
    {"mapping", 1 << HD__DICT_VALUE},
    {"sequence", SEQUENCES},
    {"iterable", SEQUENCES | 1 << HD__SERIES},
};

bool hd__template_test(hd__template_run *r, hd__template_value name, hd__template_value v)
{
    size_t i = 0, n = sizeof tests / sizeof tests[0];
    while (i < n && !hd__template_value_is(name, tests[i].name)) {
        i++;
    }
    if (i == n) {
        hd__template_fail_at(r, HD_FORMAT, "heed has no test %.*s", HD__CLIP(name.s, name.n));
        return false;
    }
    bool opposite = hd__template_value_is(name, v.n ? "false" : "true");
    return tests[i].kinds >> v.kind & 1 && !opposite;
}

/* ---------------------------------------------------------------- calls on texts */

/* The type of the functions in the table `calls`, which return a call's result. v[0] is the value
 * that is filtered, or whose method is called. The arguments follow; those that are not given are
 * undefined. */
typedef hd__template_value call_run(hd__template_run *r, const hd__template_value *v);

/* Returns the text v[0] without the characters of v[1], or without white space if v[1] is
 * none or not given, at its left end, its right end, or both; HD__NOTHING on failure. */
static hd__template_value call_stripped(hd__template_run *r, const hd__template_value *v, bool left,
                                        bool right)
{
    hd__template_value text = hd__template_value_text(r, v[0]);
    const hd__template_value *chars = v[1].kind > HD__NONE_VALUE ? &v[1] : NULL;
    if (r->failed || (chars && !call_is_text(r, *chars))) {
        return HD__NOTHING;
    }
    size_t from = left ? hd__template_strip_left(text.s, (size_t)text.n, chars) : 0;
    size_t n = (size_t)text.n - from;
    return HD__TEXT(text.s + from, right ? hd__template_strip_right(text.s + from, n, chars) : n);
}

static hd__template_value call_strip(hd__template_run *r, const hd__template_value *v)
{
    return call_stripped(r, v, true, true);
}

static hd__template_value call_lstrip(hd__template_run *r, const hd__template_value *v)
{
    return call_stripped(r, v, true, false);
}

static hd__template_value call_rstrip(hd__template_run *r, const hd__template_value *v)
{
    return call_stripped(r, v, false, true);
}

/* Returns the text of v with its first `upper` bytes in upper case, and the others in lower case.
 * Fails if it has other characters than ASCII. */
static hd__template_value call_case(hd__template_run *r, hd__template_value v, int64_t upper)
{
    hd__template_value text = hd__template_value_text(r, v);
    char *s = r->failed ? NULL : hd__template_take(r, (size_t)text.n);
    for (int64_t i = 0; s && i < text.n; i++) {
        char c = text.s[i], from = i < upper ? 'a' : 'A';
        s[i] = (char)(c >= from && c < from + 26 ? c ^ 0x20 : c);
        if ((unsigned char)c > 0x7f) {
            return hd__template_fail_at(r, HD_FORMAT, "heed changes the case of ASCII texts only");
        }
    }
    return s ? HD__TEXT(s, text.n) : HD__NOTHING;
}

static hd__template_value call_lower(hd__template_run *r, const hd__template_value *v)
{
    return call_case(r, *v, 0);
}

static hd__template_value call_upper(hd__template_run *r, const hd__template_value *v)
{
    return call_case(r, *v, INT64_MAX);
}

static hd__template_value call_capitalize(hd__template_run *r, const hd__template_value *v)
{
    return call_case(r, *v, 1);
}

static hd__template_value call_replace(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value text = hd__template_value_text(r, v[0]), old = v[1];
    size_t mark = r->out.len;
    if (r->failed || !call_is_text(r, old) || !call_is_text(r, v[2]) || old.n == 0) {
        return hd__template_fail_at(r, HD_FORMAT, "heed cannot replace an empty string");
    }
    const char *at = text.s, *found;
    while ((found = hd__template_value_find(r, text, at, old))) {
        hd__template_write(r, at, (size_t)(found - at));
        hd__template_write(r, v[2].s, (size_t)v[2].n);
        at = found + old.n;
    }
    hd__template_write(r, at, (size_t)(text.s + text.n - at));
    return hd__template_written(r, mark);
}

static hd__template_value call_split(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value text = v[0], by = v[1];
    hd__template_table parts = {0};
    if (by.kind != HD__STRING || by.n == 0) {
        return hd__template_fail_at(r, HD_FORMAT,
                                    "expected a separator. heed does not split at white space");
    }
    int64_t most =
        hd__template_is_number(v[2]) && v[2].n >= 0 ? v[2].n : INT64_MAX; /* negative: no limit */
    const char *at = text.s, *found;
    while (parts.n < most && (found = hd__template_value_find(r, text, at, by))) {
        hd__template_push(r, &parts, HD__TEXT(at, found - at));
        at = found + by.n;
    }
    hd__template_push(r, &parts, HD__TEXT(at, text.s + text.n - at));
    return hd__template_list_of(HD__LIST, parts);
}

/* Returns a bool: true if the string v[0] has the string v[1] at byte `at`. Fails if v[1] is no
 * string. */
static hd__template_value call_has_at(hd__template_run *r, const hd__template_value *v, int64_t at)
{
    bool fits = call_is_text(r, v[1]) && at >= 0 && at + v[1].n <= v[0].n;
    return HD__OF(HD__BOOL_VALUE, fits && memcmp(v[0].s + at, v[1].s, (size_t)v[1].n) == 0);
}

static hd__template_value call_startswith(hd__template_run *r, const hd__template_value *v)
{
    return call_has_at(r, v, 0);
}

static hd__template_value call_endswith(hd__template_run *r, const hd__template_value *v)
{
    return call_has_at(r, v, v[0].n - v[1].n);
}

static hd__template_value call_string(hd__template_run *r, const hd__template_value *v)
{
    return hd__template_value_text(r, *v);
}

/* ---------------------------------------------------------------- calls on lists and dicts */

static hd__template_value call_join(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value list = hd__template_items_of(r, v[0]), by = hd__template_value_text(r, v[1]);
    size_t mark = r->out.len;
    for (int64_t i = 0; i < list.n && !r->failed; i++) {
        hd__template_value item = hd__template_value_text(r, list.items[i]);
        hd__template_write(r, by.s, i > 0 ? (size_t)by.n : 0);
        hd__template_write(r, item.s, (size_t)item.n);
    }
    return hd__template_written(r, mark);
}

static hd__template_value call_length(hd__template_run *r, const hd__template_value *v)
{
    return SEQUENCES >> v->kind & 1 ? HD__OF(HD__TEMPLATE_INT, hd__template_length(*v))
                                    : hd__template_fail_at(r, HD_VALUE, "%s has no length",
                                                           hd__template_kind_names[v->kind]);
}

/* Returns item i of the list or string v, or the last item if i is -1. Returns undefined if v is
 * empty. */
static hd__template_value call_item(hd__template_run *r, hd__template_value v, int64_t i)
{
    hd__template_value of = v.kind == HD__STRING ? v : hd__template_items_of(r, v);
    return r->failed ? of : hd__template_item_of(r, of, HD__OF(HD__TEMPLATE_INT, i));
}

static hd__template_value call_first(hd__template_run *r, const hd__template_value *v)
{
    return call_item(r, *v, 0);
}

static hd__template_value call_last(hd__template_run *r, const hd__template_value *v)
{
    return call_item(r, *v, -1);
}

static hd__template_value call_list(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value list = hd__template_items_of(r, *v);
    list.kind = HD__LIST;
    return list;
}

static hd__template_value call_default(hd__template_run *r, const hd__template_value *v)
{
    bool missing =
        v[0].kind == HD__UNDEFINED || (hd__template_truth(v[2]) && !hd__template_truth(v[0]));
    (void)r;
    return !missing ? v[0] : v[1].kind == HD__UNDEFINED ? HD__TEXT("", 0) : v[1];
}

static hd__template_value call_tojson(hd__template_run *r, const hd__template_value *v)
{
    size_t mark = r->out.len;
    if (hd__template_truth(v[1]) || (v[2].kind > HD__NONE_VALUE && v[2].kind != HD__TEMPLATE_INT)) {
        return hd__template_fail_at(r, HD_FORMAT,
                                    "heed has tojson only without ensure_ascii, and with a number "
                                    "as indent");
    }
    hd__template_write_json(r, v[0], v[2].kind == HD__TEMPLATE_INT ? v[2].n : -1, 0);
    return hd__template_written(r, mark);
}

/* Returns a generator of the items of v[0] whose attribute v[1] equals v[3]. Fails unless v[2] is
 * "equalto". */
static hd__template_value call_selectattr(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value all =
        hd__template_truth(v[0]) ? hd__template_items_of(r, v[0]) : HD__OF(HD__LIST, 0);
    hd__template_table chosen = {0};
    if (!hd__template_value_is(v[2], "equalto")) {
        hd__template_fail_at(r, HD_FORMAT, "heed has selectattr(attribute, 'equalto', value) only");
    }
    for (int64_t i = 0; i < all.n && !r->failed; i++) {
        if (hd__template_equal(r, hd__template_item_of(r, all.items[i], v[1]), v[3])) {
            hd__template_push(r, &chosen, all.items[i]);
        }
    }
    return hd__template_list_of(HD__SERIES, chosen);
}

static hd__template_value call_items(hd__template_run *r, const hd__template_value *v)
{
    hd__template_table parts = {0};
    if (v->kind != HD__DICT_VALUE && v->kind != HD__UNDEFINED) {
        return hd__template_fail_at(r, HD_VALUE, "found %s: expected a dict",
                                    hd__template_kind_names[v->kind]);
    }
    for (int64_t i = 0; v->kind == HD__DICT_VALUE && i < v->table->n; i += 2) {
        hd__template_push(r, &parts,
                          (hd__template_value){HD__LIST, 2, {.items = &v->table->items[i]}});
    }
    return hd__template_list_of(HD__LIST, parts);
}

/* Returns a generator of the (key, value) pairs of a dict. The method `items` returns a list. */
static hd__template_value call_items_filter(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value items = call_items(r, v);
    items.kind = HD__SERIES;
    return items;
}

static hd__template_value call_dict_get(hd__template_run *r, const hd__template_value *v)
{
    const hd__template_value *found = hd__template_table_find(r, v[0].table, v[1]);
    return found ? *found : v[2].kind ? v[2] : HD__OF(HD__NONE_VALUE, 0);
}

/* ---------------------------------------------------------------- functions */

static hd__template_value call_raise(hd__template_run *r, const hd__template_value *v)
{
    hd__template_value text = hd__template_value_text(r, v[1]);
    return hd__template_fail_at(r, HD_VALUE, "the template refuses these messages: %.*s",
                                HD__CLIP(text.s, text.n));
}

/* Returns range(stop), range(start, stop) or range(start, stop, step) as a list. Fails unless all
 * are whole numbers and step is 1 or -1. */
static hd__template_value call_range(hd__template_run *r, const hd__template_value *v)
{
    hd__template_table t = {0};
    hd__template_value from = v[2].kind ? v[1] : HD__OF(HD__TEMPLATE_INT, 0),
                       to = v[2].kind ? v[2] : v[1];
    hd__template_value step = v[3].kind ? v[3] : HD__OF(HD__TEMPLATE_INT, 1);
    if (from.kind != HD__TEMPLATE_INT || to.kind != HD__TEMPLATE_INT ||
        (step.n != 1 && step.n != -1)) {
        return hd__template_fail_at(r, HD_FORMAT,
                                    "heed has range only of whole numbers, in steps of 1 or -1");
    }
    for (; (step.n > 0 ? from.n < to.n : from.n > to.n) && !r->failed; from.n += step.n) {
        hd__template_push(r, &t, from);
    }
    return hd__template_list_of(HD__LIST, t);
}

/* Returns the date r->now (0: the current date) in strftime's format v[1], in English in every
 * locale. Fails if the format has a letter that heed lacks. */
static hd__template_value call_strftime(hd__template_run *r, const hd__template_value *v)
{
    static const char letters[] = "YmdHMSBbAa%";
    struct tm t = {0};
    char text[256];
    time_t now = r->now ? (time_t)r->now : time(NULL);
    hd__template_value form =
        call_is_text(r, v[1]) ? hd__template_value_copy(r, v[1].s, (size_t)v[1].n) : HD__NOTHING;
    for (int64_t i = 0; i < form.n && !r->failed; i++) {
        char c = form.s[i];
        if (c == '\0' || (c == '%' && !memchr(letters, form.s[++i], sizeof letters - 1))) {
            hd__template_fail_at(r, HD_FORMAT,
                                 "heed's dates have only %%Y %%m %%d %%H %%M %%S %%B %%b %%A %%a");
        }
    }
    void *before = hd__sys_locale_enter();
    bool known = before && (r->now ? gmtime_r(&now, &t) : localtime_r(&now, &t));
    size_t n = known && !r->failed ? strftime(text, sizeof text, form.s, &t) : 0;
    hd__sys_locale_leave(before);
    return n > 0
               ? hd__template_value_copy(r, text, n)
               : hd__template_fail_at(r, HD_VALUE, "the date cannot be written in 1 to 255 bytes");
}

/* ---------------------------------------------------------------- the table */

enum { MOST_ARGUMENTS = 3 };

static const struct call_row {
    int of;
    const char *name, *parameters; /* parameters: their names, each followed by a blank */
    int least;                     /* the number of parameters that must be given */
    call_run *run;                 /* NULL for namespace, whose arguments have any names */
} calls[] = {
    {HD__FILTER_CALL, "trim", "chars ", 0, call_strip},
    {HD__FILTER_CALL, "length", "", 0, call_length},
    {HD__FILTER_CALL, "upper", "", 0, call_upper},
    {HD__FILTER_CALL, "lower", "", 0, call_lower},
    {HD__FILTER_CALL, "capitalize", "", 0, call_capitalize},
    {HD__FILTER_CALL, "replace", "old new ", 2, call_replace},
    {HD__FILTER_CALL, "string", "", 0, call_string},
    {HD__FILTER_CALL, "join", "d ", 0, call_join},
    {HD__FILTER_CALL, "tojson", "ensure_ascii indent ", 0, call_tojson},
    {HD__FILTER_CALL, "default", "default_value boolean ", 0, call_default},
    {HD__FILTER_CALL, "first", "", 0, call_first},
    {HD__FILTER_CALL, "last", "", 0, call_last},
    {HD__FILTER_CALL, "list", "", 0, call_list},
    {HD__FILTER_CALL, "items", "", 0, call_items_filter},
    {HD__FILTER_CALL, "selectattr", "attribute test value ", 3, call_selectattr},
    {HD__STRING, "strip", "chars ", 0, call_strip},
    {HD__STRING, "lstrip", "chars ", 0, call_lstrip},
    {HD__STRING, "rstrip", "chars ", 0, call_rstrip},
    {HD__STRING, "split", "sep maxsplit ", 0, call_split},
    {HD__STRING, "startswith", "prefix ", 1, call_startswith},
    {HD__STRING, "endswith", "suffix ", 1, call_endswith},
    {HD__STRING, "replace", "old new ", 2, call_replace},
    {HD__DICT_VALUE, "get", "key default ", 1, call_dict_get},
    {HD__DICT_VALUE, "items", "", 0, call_items},
    {HD__FUNCTION_CALL, "raise_exception", "message ", 1, call_raise},
    {HD__FUNCTION_CALL, "strftime_now", "format ", 1, call_strftime},
    {HD__FUNCTION_CALL, "range", "start stop step ", 1, call_range},
    {HD__FUNCTION_CALL, "namespace", "", 0, NULL},
};

static const struct call_row *call_find(int of, hd__template_value name)
{
    size_t i = 0, n = sizeof calls / sizeof calls[0];
    while (i < n && !(calls[i].of == of && hd__template_value_is(name, calls[i].name))) {
        i++;
    }
    return i < n ? &calls[i] : NULL;
}

bool hd__template_has_call(int of, hd__template_value name)
{
    return call_find(of, name);
}

/* Returns a namespace with the names and values in args. Fails if an argument has no name. */
static hd__template_value call_namespace(hd__template_run *r, const hd__template_table *args)
{
    hd__template_table t = {0};
    for (int64_t i = 0; i < args->n && !r->failed; i += 2) {
        if (args->items[i].n == 0) {
            hd__template_fail_at(r, HD_FORMAT, "heed's namespace takes only arguments with names");
        }
        hd__template_table_put(r, &t, args->items[i], args->items[i + 1]);
    }
    return hd__template_dict_of(r, HD__NAMESPACE, t);
}

static hd__template_value call_with(hd__template_run *r, const struct call_row *row,
                                    hd__template_value on, const hd__template_table *args)
{
    hd__template_value v[MOST_ARGUMENTS + 1] = {on};
    const char *p = row->parameters;
    int64_t given = 0, missing = 0, i = 0;
    for (; *p; p += strcspn(p, " ") + 1) {
        const hd__template_value *a =
            hd__template_argument(args, i++, HD__TEXT(p, strcspn(p, " ")));
        v[i] = a ? *a : HD__NOTHING;
        given += a != NULL;
        missing += !a && i <= row->least;
    }
    if (missing || 2 * given != args->n) {
        return hd__template_fail_at(r, HD_FORMAT, "the arguments of %s do not fit: expected (%s)",
                                    row->name, row->parameters);
    }
    return row->run(r, v);
}

hd__template_value hd__template_call_named(hd__template_run *r, int of, hd__template_value name,
                                           hd__template_value on, const hd__template_table *args)
{
    const struct call_row *row = call_find(of, name);
    if (row) {
        hd__template_spend(r, on.kind == HD__STRING ? (size_t)on.n / 8 : 0);
        return row->run ? call_with(r, row, on, args) : call_namespace(r, args);
    }
    const char *what = of == HD__FILTER_CALL     ? "filter"
                       : of == HD__FUNCTION_CALL ? "function"
                                                 : "method";
    bool method = of < HD__KINDS;
    return hd__template_fail_at(r, of == HD__UNDEFINED ? HD_VALUE : HD_FORMAT,
                                "heed has no %s %.*s%s%s", what, HD__CLIP(name.s, name.n),
                                method ? " of " : "", method ? hd__template_kind_names[of] : "");
}
