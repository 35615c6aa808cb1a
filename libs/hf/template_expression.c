/* template_expression.c - walks over expressions by their levels, from "a if c else b" and "or"
 * down to what binds closest, and computes them. */
#include "hf/template.h"

/* ---------------------------------------------------------------- tokens */

bool hd__walk_is(const hd__token *t, const char *text)
{
    return t->kind >= HD__TOKEN_NAME && hd__value_is(t->value, text);
}

bool hd__walk_is_one(const hd__token *t, const char *const *texts)
{
    while (*texts && !hd__walk_is(t, *texts)) {
        texts++;
    }
    return *texts;
}

void hd__walk_on(hd__run *r)
{
    hd__spend(r, 1);
    do {
        r->t += r->t->kind != HD__TOKEN_END;
    } while (r->failed && r->t->kind != HD__TOKEN_END);
}

hd__value hd__walk_fail(hd__run *r, const char *expected)
{
    r->first = r->t;
    hd__fail_at(r, HD_FORMAT, "expected %s", expected);
    hd__walk_on(r);
    return HD__NOTHING;
}

bool hd__walk_given(hd__run *r, const char *text)
{
    bool is = hd__walk_is(r->t, text);
    if (is) {
        hd__walk_on(r);
    }
    return is;
}

void hd__walk_expect(hd__run *r, const char *text)
{
    if (!hd__walk_given(r, text)) {
        hd__walk_fail(r, text);
    }
}

/* The value of the current token, over which it goes */
static hd__value walk_value(hd__run *r)
{
    hd__value v = r->t->value;
    hd__walk_on(r);
    return v;
}

hd__value hd__walk_name(hd__run *r)
{
    return r->t->kind == HD__TOKEN_NAME ? walk_value(r) : hd__walk_fail(r, "a name");
}

bool hd__walk_deeper(hd__run *r)
{
    if (++r->depth > HD__DEEPEST) {
        hd__walk_fail(r, "less nesting");
    }
    return !r->failed;
}

/* ---------------------------------------------------------------- what binds closest */

/* Expressions up to the sign `end`; of a dict each is key: value, and arguments are name, which may
 * be "", and value. */
enum { WALK_ITEMS, WALK_PAIRS, WALK_ARGUMENTS };

static hd__table walk_list(hd__run *r, const char *end, int form)
{
    hd__table t = {0};
    while (!r->failed && !hd__walk_given(r, end)) {
        hd__value name = HD__TEXT("", 0);
        if (form == WALK_ARGUMENTS && r->t->kind == HD__TOKEN_NAME && hd__walk_is(r->t + 1, "=")) {
            name = hd__walk_name(r);
            hd__walk_expect(r, "=");
        }
        hd__value v = hd__expression(r);
        if (form == WALK_PAIRS) {
            hd__walk_expect(r, ":");
            hd__value key = v;
            v = hd__expression(r);
            if (hd__live(r)) {
                hd__table_put(r, &t, key, v);
            }
        } else if (hd__live(r)) {
            if (form == WALK_ARGUMENTS) {
                hd__push(r, &t, name);
            }
            hd__push(r, &t, v);
        }
        if (!hd__walk_is(r->t, end)) {
            hd__walk_expect(r, ",");
        }
    }
    return t;
}

/* (a), or a list such as (a, b) or (a,) */
static hd__value walk_brackets(hd__run *r)
{
    hd__table t = walk_list(r, ")", WALK_ITEMS);
    bool list = t.n != 1 || hd__walk_is(r->t - 2, ",");
    return list ? hd__list_of(HD__LIST, t) : t.items[0];
}

hd__value *hd__walk_find(hd__run *r, hd__value name)
{
    hd__value *v = NULL;
    for (const hd__table *t = r->frame; t && !v; t = t->outer) {
        v = hd__table_find(r, t, name);
    }
    return v;
}

/* The value of a variable, of a function, or of true, false and none */
static hd__value walk_variable(hd__run *r)
{
    static const char *const known[][2] = {{"false", "False"}, {"true", "True"}, {"none", "None"}};
    hd__value name = hd__walk_name(r);
    for (int i = 0; i < 3; i++) {
        if (hd__value_is(name, known[i][0]) || hd__value_is(name, known[i][1])) {
            return i < 2 ? HD__OF(HD__BOOL_VALUE, i) : HD__OF(HD__NONE_VALUE, 0);
        }
    }
    const hd__value *v = hd__live(r) ? hd__walk_find(r, name) : NULL;
    bool function = !v && hd__has_call(HD__FUNCTION_CALL, name);
    return v ? *v : HD__OF(function ? HD__FUNCTION : HD__UNDEFINED, 0);
}

static hd__value walk_primary(hd__run *r)
{
    if (hd__walk_given(r, "(")) {
        return walk_brackets(r);
    }
    if (hd__walk_given(r, "[")) {
        return hd__list_of(HD__LIST, walk_list(r, "]", WALK_ITEMS));
    }
    if (hd__walk_given(r, "{")) {
        hd__table t = walk_list(r, "}", WALK_PAIRS);
        return hd__live(r) ? hd__dict_of(r, HD__DICT, t) : HD__NOTHING;
    }
    return r->t->kind == HD__TOKEN_CONSTANT ? walk_value(r)
           : r->t->kind == HD__TOKEN_NAME   ? walk_variable(r)
                                            : hd__walk_fail(r, "a value");
}

/* ---------------------------------------------------------------- what follows a value */

/* One end of a slice as Python counts it: from the end if negative, and within 0 to n */
static int64_t walk_end(hd__run *r, hd__value v, int64_t otherwise, int64_t n)
{
    if (v.kind == HD__NONE_VALUE) {
        return otherwise;
    }
    if (!hd__is_number(v)) {
        hd__fail_at(r, HD_FORMAT, "%s as an end of a slice", hd__kind_names[v.kind]);
    }
    int64_t i = v.n < 0 ? v.n + n : v.n;
    return i < 0 ? 0 : i > n ? n : i;
}

/* The bytes before the i-th character */
static int64_t walk_bytes(hd__run *r, hd__value text, int64_t i)
{
    hd__value c = hd__item_of(r, text, HD__OF(HD__TEMPLATE_INT, i));
    return c.kind == HD__STRING ? c.s - text.s : text.n;
}

static hd__value walk_sliced(hd__run *r, hd__value v, hd__value from, hd__value to)
{
    if (!hd__is_list(v) && v.kind != HD__STRING) {
        return hd__fail_at(r, HD_FORMAT, "heed has no slice of %s", hd__kind_names[v.kind]);
    }
    int64_t n = hd__length(v), a = walk_end(r, from, 0, n), b = walk_end(r, to, n, n);
    b = b < a ? a : b;
    if (v.kind == HD__STRING) {
        int64_t begin = walk_bytes(r, v, a);
        return HD__TEXT(v.s + begin, walk_bytes(r, v, b) - begin);
    }
    return (hd__value){v.kind, b - a, {.items = b > a ? v.items + a : NULL}};
}

/* [::-1] */
static hd__value walk_reversed(hd__run *r, hd__value v)
{
    hd__table t = {0};
    if (!hd__is_list(v)) {
        return hd__fail_at(r, HD_FORMAT, "heed reverses lists only");
    }
    for (int64_t i = v.n; i-- > 0 && !r->failed;) {
        hd__push(r, &t, v.items[i]);
    }
    return hd__list_of(v.kind, t);
}

/* [a], [a:b], [::-1] */
static hd__value walk_subscript(hd__run *r, hd__value v)
{
    const hd__value none = HD__OF(HD__NONE_VALUE, 0);
    bool begins = !hd__walk_is(r->t, ":");
    hd__value from = begins ? hd__expression(r) : none, to = none;
    bool slice = hd__walk_given(r, ":"), back = slice && !begins && hd__walk_given(r, ":");
    if (back) {
        hd__walk_expect(r, "-");
        if (!hd__equal(r, walk_value(r), HD__OF(HD__TEMPLATE_INT, 1))) {
            hd__walk_fail(r, "[::-1]");
        }
    } else if (slice && !hd__walk_is(r->t, "]")) {
        to = hd__expression(r);
    }
    hd__walk_expect(r, "]");
    return !hd__live(r) ? HD__NOTHING
           : back       ? walk_reversed(r, v)
           : slice      ? walk_sliced(r, v, from, to)
                        : hd__item_of(r, v, from);
}

/* .name or .name(...) */
static hd__value walk_attribute(hd__run *r, hd__value v)
{
    hd__value key = hd__walk_name(r);
    if (hd__walk_given(r, "(")) {
        hd__table args = walk_list(r, ")", WALK_ARGUMENTS);
        return hd__live(r) ? hd__call_named(r, (int)v.kind, key, v, &args) : HD__NOTHING;
    }
    if (hd__live(r) && hd__has_call((int)v.kind, key)) {
        return hd__fail_at(r, HD_FORMAT, "a method without a call");
    }
    return hd__live(r) ? hd__item_of(r, v, key) : HD__NOTHING;
}

/* A call of what has the name */
static hd__value walk_call(hd__run *r, hd__value v, const hd__token *name)
{
    hd__table args = walk_list(r, ")", WALK_ARGUMENTS);
    if (!hd__live(r)) {
        return HD__NOTHING;
    }
    return v.kind == HD__FUNCTION && v.macro
               ? hd__call_macro(r, v.macro, &args)
               : hd__call_named(r, HD__FUNCTION_CALL, name->value, v, &args);
}

static hd__value walk_filter(hd__run *r, hd__value v)
{
    hd__value name = hd__walk_name(r);
    hd__table args = {0};
    if (hd__walk_given(r, "(")) {
        args = walk_list(r, ")", WALK_ARGUMENTS);
    }
    return hd__live(r) ? hd__call_named(r, HD__FILTER_CALL, name, v, &args) : HD__NOTHING;
}

/* After "is" */
static hd__value walk_test(hd__run *r, hd__value v)
{
    bool inverse = hd__walk_given(r, "not");
    hd__value name = hd__walk_name(r);
    if (r->t->kind == HD__TOKEN_CONSTANT || hd__walk_is(r->t, "(")) {
        hd__walk_fail(r, "a test without an argument");
    }
    return hd__live(r) ? HD__OF(HD__BOOL_VALUE, hd__test(r, name, v) != inverse) : HD__NOTHING;
}

/* Everything that may follow a value, which `first` began; filters and tests only if `all` */
static hd__value walk_after(hd__run *r, hd__value v, const hd__token *first, bool all)
{
    while (!r->failed) {
        r->first = first;
        bool name = first->kind == HD__TOKEN_NAME && r->t == first + 1;
        if (hd__walk_given(r, ".")) {
            v = walk_attribute(r, v);
        } else if (hd__walk_given(r, "[")) {
            v = walk_subscript(r, v);
        } else if (name && hd__walk_given(r, "(")) {
            v = walk_call(r, v, first);
        } else if (all && hd__walk_given(r, "|")) {
            v = walk_filter(r, v);
        } else if (all && hd__walk_given(r, "is")) {
            v = walk_test(r, v);
        } else {
            break;
        }
    }
    return v;
}

/* ---------------------------------------------------------------- levels */

/* What a sign stands before takes no filters: those are of the whole. */
static hd__value walk_signed(hd__run *r)
{
    const hd__token *first = r->t;
    hd__value v = HD__NOTHING;
    if (hd__walk_deeper(r) && hd__walk_given(r, "-")) {
        v = walk_signed(r);
        r->first = first;
        v = hd__live(r) ? hd__operate(r, first->value, HD__OF(HD__TEMPLATE_INT, 0), v) : v;
    } else if (!r->failed) {
        v = walk_primary(r);
    }
    v = walk_after(r, v, first, false);
    r->depth--;
    return v;
}

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, OPERATOR_LEVELS = 7 };

static hd__value walk_not(hd__run *r)
{
    bool deeper = hd__walk_deeper(r), inverse = hd__walk_given(r, "not");
    hd__value v = !deeper   ? HD__NOTHING
                  : inverse ? walk_not(r)
                            : hd__expression_level(r, LEVEL_COMPARE);
    r->depth--;
    return inverse ? HD__OF(HD__BOOL_VALUE, !hd__truth(v)) : v;
}

/* Goes over a sign of the level and gives it; "not in" is one. */
static bool walk_operator(hd__run *r, size_t level, hd__value *sign)
{
    static const char *const signs[OPERATOR_LEVELS][9] = {
        {"or"},     {"and"}, {NULL},     {"==", "!=", "<", "<=", ">", ">=", "in", "not"},
        {"+", "-"}, {"~"},   {"*", "%"},
    };
    *sign = r->t->value;
    if (!hd__walk_is_one(r->t, signs[level])) {
        return false;
    }
    hd__walk_on(r);
    if (hd__value_is(*sign, "not")) {
        hd__walk_expect(r, "in");
    }
    return true;
}

/* a + b + c is (a + b) + c; but a < b < c is an error here. */
hd__value hd__expression_level(hd__run *r, size_t level)
{
    const hd__token *first = r->t;
    if (level == LEVEL_NOT || level == OPERATOR_LEVELS) {
        return level == LEVEL_NOT ? walk_not(r) : walk_after(r, walk_signed(r), first, true);
    }
    hd__value v = hd__expression_level(r, level + 1), sign;
    bool live = r->live, logic = level < LEVEL_NOT;
    while (walk_operator(r, level, &sign)) {
        r->live = live && !(logic && hd__truth(v) != level);
        hd__value next = hd__expression_level(r, level + 1);
        r->first = first;
        if (hd__live(r)) {
            v = logic ? next : hd__operate(r, sign, v, next);
        }
        r->live = live;
        if (level == LEVEL_COMPARE) {
            break;
        }
    }
    return v;
}

/* The "if" of the expression that begins here, not one in brackets; or NULL */
static const hd__token *walk_if_of(const hd__token *t)
{
    static const char *const open[] = {"(", "[", "{", NULL}, *const close[] = {")", "]", "}", NULL};
    static const char *const ends[] = {",", ":", "=", "else", NULL};
    int depth = 0;
    for (; t->kind > HD__TOKEN_CLOSE && !(depth == 0 && hd__walk_is_one(t, ends)); t++) {
        depth += hd__walk_is_one(t, open) - hd__walk_is_one(t, close);
        if (depth < 0 || (depth == 0 && hd__walk_is(t, "if"))) {
            return depth == 0 ? t : NULL;
        }
    }
    return NULL;
}

/* a if c else b: computes c first. */
static hd__value walk_choice(hd__run *r, const hd__token *choice)
{
    const hd__token *begin = r->t;
    bool live = r->live;
    r->t = choice;
    hd__walk_on(r);
    bool is = hd__truth(hd__expression_level(r, 0));
    const hd__token *rest = r->t;
    r->t = begin;
    r->live = live && is;
    hd__value a = hd__expression_level(r, 0), b = HD__NOTHING;
    hd__walk_expect(r, "if");
    r->t = rest;
    r->live = live && !is;
    if (hd__walk_given(r, "else")) {
        b = hd__expression(r);
    }
    r->live = live;
    return is ? a : b;
}

hd__value hd__expression(hd__run *r)
{
    const hd__token *outer = r->first, *choice = walk_if_of(r->t);
    hd__value v = HD__NOTHING;
    if (hd__walk_deeper(r)) {
        v = choice ? walk_choice(r, choice) : hd__expression_level(r, 0);
    }
    r->first = outer;
    r->depth--;
    return v;
}
