/* template_expression.c - walks over expressions and computes them. A level is a precedence of
 * operators: "a if c else b" binds least tightly, then "or". A subscript or a filter, as in x[0] |
 * trim, binds most tightly. */
#include "hf/template.h"

/* ---------------------------------------------------------------- tokens */

bool hd__template_walk_is(const hd__template_token *t, const char *text)
{
    return t->kind >= HD__TOKEN_NAME && hd__template_value_is(t->value, text);
}

bool hd__template_walk_is_one(const hd__template_token *t, const char *const *texts)
{
    while (*texts && !hd__template_walk_is(t, *texts)) {
        texts++;
    }
    return *texts;
}

void hd__template_walk_on(hd__template_run *r)
{
    hd__template_spend(r, 1);
    do {
        r->t += r->t->kind != HD__TOKEN_END;
    } while (r->failed && r->t->kind != HD__TOKEN_END);
}

hd__template_value hd__template_walk_fail(hd__template_run *r, const char *expected)
{
    r->first = r->t;
    hd__template_fail_at(r, HD_FORMAT, "expected %s", expected);
    hd__template_walk_on(r);
    return HD__NOTHING;
}

bool hd__template_walk_given(hd__template_run *r, const char *text)
{
    bool is = hd__template_walk_is(r->t, text);
    if (is) {
        hd__template_walk_on(r);
    }
    return is;
}

void hd__template_walk_expect(hd__template_run *r, const char *text)
{
    if (!hd__template_walk_given(r, text)) {
        hd__template_walk_fail(r, text);
    }
}

/* Goes to the next token, and returns the value of the token before it. */
static hd__template_value walk_value(hd__template_run *r)
{
    hd__template_value v = r->t->value;
    hd__template_walk_on(r);
    return v;
}

hd__template_value hd__template_walk_name(hd__template_run *r)
{
    return r->t->kind == HD__TOKEN_NAME ? walk_value(r) : hd__template_walk_fail(r, "a name");
}

bool hd__template_walk_deeper(hd__template_run *r)
{
    if (++r->depth > HD__DEEPEST) {
        hd__template_walk_fail(r, "less nesting");
    }
    return !r->failed;
}

/* ---------------------------------------------------------------- primary expressions */

/* The kinds of items over which walk_list walks, up to the sign `end`: values, "key: value" pairs,
 * or arguments. An argument is "name=value", or "value" alone, whose name is "". */
enum { WALK_ITEMS, WALK_PAIRS, WALK_ARGUMENTS };

/* Reads items of this form, separated by commas, and the sign `end` after them. Returns a table of
 * their values, pairs or arguments. r->failed tells whether it failed. */
static hd__template_table walk_list(hd__template_run *r, const char *end, int form)
{
    hd__template_table t = {0};
    while (!r->failed && !hd__template_walk_given(r, end)) {
        hd__template_value name = HD__TEXT("", 0);
        if (form == WALK_ARGUMENTS && r->t->kind == HD__TOKEN_NAME &&
            hd__template_walk_is(r->t + 1, "=")) {
            name = hd__template_walk_name(r);
            hd__template_walk_expect(r, "=");
        }
        hd__template_value v = hd__template_expression(r);
        if (form == WALK_PAIRS) {
            hd__template_walk_expect(r, ":");
            hd__template_value key = v;
            v = hd__template_expression(r);
            if (hd__template_live(r)) {
                hd__template_table_put(r, &t, key, v);
            }
        } else if (hd__template_live(r)) {
            if (form == WALK_ARGUMENTS) {
                hd__template_push(r, &t, name);
            }
            hd__template_push(r, &t, v);
        }
        if (!hd__template_walk_is(r->t, end)) {
            hd__template_walk_expect(r, ",");
        }
    }
    return t;
}

/* Returns the value of (a), or a list for (a, b) and (a,). The current token follows the "(". */
static hd__template_value walk_brackets(hd__template_run *r)
{
    hd__template_table t = walk_list(r, ")", WALK_ITEMS);
    bool list = t.n != 1 || hd__template_walk_is(r->t - 2, ",");
    return list ? hd__template_list_of(HD__LIST, t) : t.items[0];
}

hd__template_value *hd__template_walk_find(hd__template_run *r, hd__template_value name)
{
    hd__template_value *v = NULL;
    for (const hd__template_table *t = r->frame; t && !v; t = t->outer) {
        v = hd__template_table_find(r, t, name);
    }
    return v;
}

/* Walks over a name and returns true, false, none, a variable's value or a function. Returns
 * undefined if nothing has this name. */
static hd__template_value walk_variable(hd__template_run *r)
{
    static const char *const known[][2] = {{"false", "False"}, {"true", "True"}, {"none", "None"}};
    hd__template_value name = hd__template_walk_name(r);
    for (int i = 0; i < 3; i++) {
        if (hd__template_value_is(name, known[i][0]) || hd__template_value_is(name, known[i][1])) {
            return i < 2 ? HD__OF(HD__BOOL_VALUE, i) : HD__OF(HD__NONE_VALUE, 0);
        }
    }
    const hd__template_value *v = hd__template_live(r) ? hd__template_walk_find(r, name) : NULL;
    bool function = !v && hd__template_has_call(HD__FUNCTION_CALL, name);
    return v ? *v : HD__OF(function ? HD__FUNCTION : HD__UNDEFINED, 0);
}

static hd__template_value walk_primary(hd__template_run *r)
{
    if (hd__template_walk_given(r, "(")) {
        return walk_brackets(r);
    }
    if (hd__template_walk_given(r, "[")) {
        return hd__template_list_of(HD__LIST, walk_list(r, "]", WALK_ITEMS));
    }
    if (hd__template_walk_given(r, "{")) {
        hd__template_table t = walk_list(r, "}", WALK_PAIRS);
        return hd__template_live(r) ? hd__template_dict_of(r, HD__DICT_VALUE, t) : HD__NOTHING;
    }
    return r->t->kind == HD__TOKEN_CONSTANT ? walk_value(r)
           : r->t->kind == HD__TOKEN_NAME   ? walk_variable(r)
                                            : hd__template_walk_fail(r, "a value");
}

/* ---------------------------------------------------------------- after a value */

/* Returns v as the begin or end of a slice of n items. As in Python, a negative v counts from the
 * end, and the result is clamped to 0 to n. Returns `otherwise` if v is none. Fails if v is no
 * number. */
static int64_t walk_end(hd__template_run *r, hd__template_value v, int64_t otherwise, int64_t n)
{
    if (v.kind == HD__NONE_VALUE) {
        return otherwise;
    }
    if (!hd__template_is_number(v)) {
        hd__template_fail_at(r, HD_FORMAT, "an end of a slice is %s: expected a number",
                             hd__template_kind_names[v.kind]);
    }
    int64_t i = v.n < 0 ? v.n + n : v.n;
    return i < 0 ? 0 : i > n ? n : i;
}

/* Returns the number of bytes before character i of the text, or of the whole text if it has no
 * character i. */
static int64_t walk_bytes(hd__template_run *r, hd__template_value text, int64_t i)
{
    hd__template_value c = hd__template_item_of(r, text, HD__OF(HD__TEMPLATE_INT, i));
    return c.kind == HD__STRING ? c.s - text.s : text.n;
}

static hd__template_value walk_sliced(hd__template_run *r, hd__template_value v,
                                      hd__template_value from, hd__template_value to)
{
    if (!hd__template_is_list(v) && v.kind != HD__STRING) {
        return hd__template_fail_at(r, HD_FORMAT, "heed has no slice of %s",
                                    hd__template_kind_names[v.kind]);
    }
    int64_t n = hd__template_length(v), a = walk_end(r, from, 0, n), b = walk_end(r, to, n, n);
    b = b < a ? a : b;
    if (v.kind == HD__STRING) {
        int64_t begin = walk_bytes(r, v, a);
        return HD__TEXT(v.s + begin, walk_bytes(r, v, b) - begin);
    }
    return (hd__template_value){v.kind, b - a, {.items = b > a ? v.items + a : NULL}};
}

/* Returns v[::-1]. Fails if v is no list. */
static hd__template_value walk_reversed(hd__template_run *r, hd__template_value v)
{
    hd__template_table t = {0};
    if (!hd__template_is_list(v)) {
        return hd__template_fail_at(r, HD_FORMAT, "heed reverses lists only");
    }
    for (int64_t i = v.n; i-- > 0 && !r->failed;) {
        hd__template_push(r, &t, v.items[i]);
    }
    return hd__template_list_of(v.kind, t);
}

/* Returns v[a], v[a:b] or v[::-1]. The current token follows the "[". */
static hd__template_value walk_subscript(hd__template_run *r, hd__template_value v)
{
    const hd__template_value none = HD__OF(HD__NONE_VALUE, 0);
    bool begins = !hd__template_walk_is(r->t, ":");
    hd__template_value from = begins ? hd__template_expression(r) : none, to = none;
    bool slice = hd__template_walk_given(r, ":"),
         back = slice && !begins && hd__template_walk_given(r, ":");
    if (back) {
        hd__template_walk_expect(r, "-");
        if (!hd__template_equal(r, walk_value(r), HD__OF(HD__TEMPLATE_INT, 1))) {
            hd__template_walk_fail(r, "[::-1]");
        }
    } else if (slice && !hd__template_walk_is(r->t, "]")) {
        to = hd__template_expression(r);
    }
    hd__template_walk_expect(r, "]");
    return !hd__template_live(r) ? HD__NOTHING
           : back                ? walk_reversed(r, v)
           : slice               ? walk_sliced(r, v, from, to)
                                 : hd__template_item_of(r, v, from);
}

/* Returns v.name or v.name(...). The current token follows the ".". */
static hd__template_value walk_attribute(hd__template_run *r, hd__template_value v)
{
    hd__template_value key = hd__template_walk_name(r);
    if (hd__template_walk_given(r, "(")) {
        hd__template_table args = walk_list(r, ")", WALK_ARGUMENTS);
        return hd__template_live(r) ? hd__template_call_named(r, (int)v.kind, key, v, &args)
                                    : HD__NOTHING;
    }
    if (hd__template_live(r) && hd__template_has_call((int)v.kind, key)) {
        return hd__template_fail_at(r, HD_FORMAT, "a method must be called");
    }
    return hd__template_live(r) ? hd__template_item_of(r, v, key) : HD__NOTHING;
}

/* Returns the result of the macro v, or of the built-in function `name` if v is no macro. The
 * current token follows the "(". */
static hd__template_value walk_call(hd__template_run *r, hd__template_value v,
                                    const hd__template_token *name)
{
    hd__template_table args = walk_list(r, ")", WALK_ARGUMENTS);
    if (!hd__template_live(r)) {
        return HD__NOTHING;
    }
    return v.kind == HD__FUNCTION && v.macro
               ? hd__template_call_macro(r, v.macro, &args)
               : hd__template_call_named(r, HD__FUNCTION_CALL, name->value, v, &args);
}

static hd__template_value walk_filter(hd__template_run *r, hd__template_value v)
{
    hd__template_value name = hd__template_walk_name(r);
    hd__template_table args = {0};
    if (hd__template_walk_given(r, "(")) {
        args = walk_list(r, ")", WALK_ARGUMENTS);
    }
    return hd__template_live(r) ? hd__template_call_named(r, HD__FILTER_CALL, name, v, &args)
                                : HD__NOTHING;
}

/* Returns "v is name" or "v is not name". The current token follows the "is". */
static hd__template_value walk_test(hd__template_run *r, hd__template_value v)
{
    bool inverse = hd__template_walk_given(r, "not");
    hd__template_value name = hd__template_walk_name(r);
    if (r->t->kind == HD__TOKEN_CONSTANT || hd__template_walk_is(r->t, "(")) {
        hd__template_walk_fail(r, "a test without an argument");
    }
    return hd__template_live(r) ? HD__OF(HD__BOOL_VALUE, hd__template_test(r, name, v) != inverse)
                                : HD__NOTHING;
}

/* Walks over the attributes, subscripts and calls after the value v, whose first token is `first`.
 * If `all` is true, also walks over filters and tests. Returns the result. */
static hd__template_value walk_after(hd__template_run *r, hd__template_value v,
                                     const hd__template_token *first, bool all)
{
    while (!r->failed) {
        r->first = first;
        bool name = first->kind == HD__TOKEN_NAME && r->t == first + 1;
        if (hd__template_walk_given(r, ".")) {
            v = walk_attribute(r, v);
        } else if (hd__template_walk_given(r, "[")) {
            v = walk_subscript(r, v);
        } else if (name && hd__template_walk_given(r, "(")) {
            v = walk_call(r, v, first);
        } else if (all && hd__template_walk_given(r, "|")) {
            v = walk_filter(r, v);
        } else if (all && hd__template_walk_given(r, "is")) {
            v = walk_test(r, v);
        } else {
            break;
        }
    }
    return v;
}

/* ---------------------------------------------------------------- levels */

/* Walks over a value with or without "-" in front, and returns it. In -x | f, the filter is applied
 * to -x, so this function leaves filters to the caller. */
static hd__template_value walk_signed(hd__template_run *r)
{
    const hd__template_token *first = r->t;
    hd__template_value v = HD__NOTHING;
    if (hd__template_walk_deeper(r) && hd__template_walk_given(r, "-")) {
        v = walk_signed(r);
        r->first = first;
        v = hd__template_live(r)
                ? hd__template_operate(r, first->value, HD__OF(HD__TEMPLATE_INT, 0), v)
                : v;
    } else if (!r->failed) {
        v = walk_primary(r);
    }
    v = walk_after(r, v, first, false);
    r->depth--;
    return v;
}

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, OPERATOR_LEVELS = 7 };

static hd__template_value walk_not(hd__template_run *r)
{
    bool deeper = hd__template_walk_deeper(r), inverse = hd__template_walk_given(r, "not");
    hd__template_value v = !deeper   ? HD__NOTHING
                           : inverse ? walk_not(r)
                                     : hd__template_expression_level(r, LEVEL_COMPARE);
    r->depth--;
    return inverse ? HD__OF(HD__BOOL_VALUE, !hd__template_truth(v)) : v;
}

/* If the current token is an operator of this level, goes past it, sets *sign to it and returns
 * true. For "not in", *sign is "not". Otherwise returns false. */
static bool walk_operator(hd__template_run *r, size_t level, hd__template_value *sign)
{
    static const char *const signs[OPERATOR_LEVELS][9] = {
        {"or"},     {"and"}, {NULL},     {"==", "!=", "<", "<=", ">", ">=", "in", "not"},
        {"+", "-"}, {"~"},   {"*", "%"},
    };
    *sign = r->t->value;
    if (!hd__template_walk_is_one(r->t, signs[level])) {
        return false;
    }
    hd__template_walk_on(r);
    if (hd__template_value_is(*sign, "not")) {
        hd__template_walk_expect(r, "in");
    }
    return true;
}

/* Computes operators of a level from left to right: a + b + c is (a + b) + c. But a < b < c is an
 * error in heed. */
hd__template_value hd__template_expression_level(hd__template_run *r, size_t level)
{
    const hd__template_token *first = r->t;
    if (level == LEVEL_NOT || level == OPERATOR_LEVELS) {
        return level == LEVEL_NOT ? walk_not(r) : walk_after(r, walk_signed(r), first, true);
    }
    hd__template_value v = hd__template_expression_level(r, level + 1), sign;
    bool live = r->live, logic = level < LEVEL_NOT;
    while (walk_operator(r, level, &sign)) {
        r->live = live && !(logic && hd__template_truth(v) != level);
        hd__template_value next = hd__template_expression_level(r, level + 1);
        r->first = first;
        if (hd__template_live(r)) {
            v = logic ? next : hd__template_operate(r, sign, v, next);
        }
        r->live = live;
        if (level == LEVEL_COMPARE) {
            break;
        }
    }
    return v;
}

/* Returns the token "if" of the expression that begins at t, or NULL if it has none. An "if" in
 * brackets does not count. */
static const hd__template_token *walk_if_of(const hd__template_token *t)
{
    static const char *const open[] = {"(", "[", "{", NULL}, *const close[] = {")", "]", "}", NULL};
    static const char *const ends[] = {",", ":", "=", "else", NULL};
    int depth = 0;
    for (; t->kind > HD__TOKEN_CLOSE && !(depth == 0 && hd__template_walk_is_one(t, ends)); t++) {
        depth += hd__template_walk_is_one(t, open) - hd__template_walk_is_one(t, close);
        if (depth < 0 || (depth == 0 && hd__template_walk_is(t, "if"))) {
            return depth == 0 ? t : NULL;
        }
    }
    return NULL;
}

/* Walks over "a if c else b" and returns its value. Computes c first. `choice` is the "if". */
static hd__template_value walk_choice(hd__template_run *r, const hd__template_token *choice)
{
    const hd__template_token *begin = r->t;
    bool live = r->live;
    r->t = choice;
    hd__template_walk_on(r);
    bool is = hd__template_truth(hd__template_expression_level(r, 0));
    const hd__template_token *rest = r->t;
    r->t = begin;
    r->live = live && is;
    hd__template_value a = hd__template_expression_level(r, 0), b = HD__NOTHING;
    hd__template_walk_expect(r, "if");
    r->t = rest;
    r->live = live && !is;
    if (hd__template_walk_given(r, "else")) {
        b = hd__template_expression(r);
    }
    r->live = live;
    return is ? a : b;
}

hd__template_value hd__template_expression(hd__template_run *r)
{
    const hd__template_token *outer = r->first, *choice = walk_if_of(r->t);
    hd__template_value v = HD__NOTHING;
    if (hd__template_walk_deeper(r)) {
        v = choice ? walk_choice(r, choice) : hd__template_expression_level(r, 0);
    }
    r->first = outer;
    r->depth--;
    return v;
}
