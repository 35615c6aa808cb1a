/* template_walk.c - walks over the tokens of a template: statements, and expressions by their
 * levels, from "a if c else b" and "or" down to what binds closest. */
#include "hf/template.h"

static hd__value walk_expression(hd__run *r);
static hd__value walk_level(hd__run *r, size_t level);
static void walk_body(hd__run *r, const char *const *ends);

/* ---------------------------------------------------------------- tokens */

static bool walk_is(const hd__token *t, const char *text)
{
    return t->kind >= HD__TOKEN_NAME && hd__is_text(t->value, text);
}

static bool walk_is_one(const hd__token *t, const char *const *texts)
{
    while (*texts && !walk_is(t, *texts)) {
        texts++;
    }
    return *texts;
}

/* After a failure, and at the end of the text, the current token is the last one. */
static const hd__token *walk_on(hd__run *r)
{
    const hd__token *t = r->t;
    while (r->failed && r->t->kind != HD__TOKEN_END) {
        r->t++;
    }
    r->t += r->t->kind != HD__TOKEN_END && hd__spend(r, 1);
    return t;
}

static hd__value walk_fail(hd__run *r, const char *expected)
{
    r->first = r->t;
    hd__fail_at(r, HD_FORMAT, "expected %s", expected);
    walk_on(r);
    return HD__NOTHING;
}

/* Goes over a name or a sign, if it is the current token. */
static bool walk_given(hd__run *r, const char *text)
{
    return walk_is(r->t, text) && walk_on(r);
}

static void walk_expect(hd__run *r, const char *text)
{
    if (!walk_given(r, text)) {
        walk_fail(r, text);
    }
}

static hd__value walk_name(hd__run *r)
{
    return r->t->kind == HD__TOKEN_NAME ? walk_on(r)->value : walk_fail(r, "a name");
}

/* Goes over the end of a tag. */
static void walk_close(hd__run *r)
{
    if (r->t->kind != HD__TOKEN_CLOSE) {
        walk_fail(r, "the end of the tag");
    }
    walk_on(r);
}

/* One level deeper, which the caller takes back. */
static bool walk_deeper(hd__run *r)
{
    if (++r->depth > HD__DEEPEST) {
        walk_fail(r, "less nesting");
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
    while (!r->failed && !walk_given(r, end)) {
        hd__value name = HD__TEXT("", 0);
        if (form == WALK_ARGUMENTS && r->t->kind == HD__TOKEN_NAME && walk_is(r->t + 1, "=")) {
            name = walk_name(r);
            walk_expect(r, "=");
        }
        hd__value v = walk_expression(r);
        if (form == WALK_PAIRS) {
            walk_expect(r, ":");
            hd__value key = v;
            v = walk_expression(r);
            if (hd__live(r)) {
                hd__table_put(r, &t, key, v);
            }
        } else if (hd__live(r)) {
            if (form == WALK_ARGUMENTS) {
                hd__push(r, &t, name);
            }
            hd__push(r, &t, v);
        }
        if (!walk_is(r->t, end)) {
            walk_expect(r, ",");
        }
    }
    return t;
}

/* (a), (a, b) or () */
static hd__value walk_brackets(hd__run *r)
{
    hd__table t = {0};
    if (!walk_is(r->t, ")")) {
        hd__value v = walk_expression(r);
        if (walk_given(r, ")")) {
            return v;
        }
        walk_expect(r, ",");
        hd__push(r, &t, v);
    }
    hd__table rest = walk_list(r, ")", WALK_ITEMS);
    for (int64_t i = 0; i < rest.n; i++) {
        hd__push(r, &t, rest.items[i]);
    }
    return hd__list_of(HD__TUPLE, t);
}

/* 'a' "b" is one string. */
static hd__value walk_constant(hd__run *r)
{
    hd__value v = walk_on(r)->value;
    while (v.kind == HD__STRING && r->t->kind == HD__TOKEN_CONSTANT &&
           r->t->value.kind == HD__STRING) {
        v = hd__operate(r, HD__LITERAL("+"), v, walk_on(r)->value);
    }
    return v;
}

/* A variable; NULL: there is none of the name */
static hd__value *walk_find(hd__run *r, hd__value name)
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
    hd__value name = walk_name(r);
    for (int i = 0; i < 3; i++) {
        if (hd__is_text(name, known[i][0]) || hd__is_text(name, known[i][1])) {
            return i < 2 ? HD__OF(HD__BOOL_VALUE, i) : HD__OF(HD__NONE_VALUE, 0);
        }
    }
    const hd__value *v = hd__live(r) ? walk_find(r, name) : NULL;
    bool function = !v && hd__has_call(HD__FUNCTION_CALL, name);
    return v ? *v : HD__OF(function ? HD__FUNCTION : HD__UNDEFINED, 0);
}

static hd__value walk_primary(hd__run *r)
{
    if (walk_given(r, "(")) {
        return walk_brackets(r);
    }
    if (walk_given(r, "[")) {
        return hd__list_of(HD__LIST, walk_list(r, "]", WALK_ITEMS));
    }
    if (walk_given(r, "{")) {
        return hd__dict_of(r, HD__DICT, walk_list(r, "}", WALK_PAIRS));
    }
    return r->t->kind == HD__TOKEN_CONSTANT ? walk_constant(r)
           : r->t->kind == HD__TOKEN_NAME   ? walk_variable(r)
                                            : walk_fail(r, "a value");
}

/* ---------------------------------------------------------------- what follows a value */

/* One end of a slice as Python counts it: from the end if negative, and within bounds */
static int64_t walk_end(hd__run *r, hd__value v, int64_t otherwise, const int64_t bounds[2],
                        int64_t n)
{
    if (v.kind != HD__INT && v.kind != HD__NONE_VALUE) {
        hd__fail_at(r, HD_VALUE, "%s as an end of a slice", hd__kind_names[v.kind]);
    }
    int64_t i = v.n < 0 ? v.n + n : v.n;
    return v.kind != HD__INT ? otherwise
           : i < bounds[0]   ? bounds[0]
           : i > bounds[1]   ? bounds[1]
                             : i;
}

static hd__value walk_sliced(hd__run *r, hd__value v, const hd__value parts[3])
{
    int64_t step = parts[2].kind == HD__INT ? parts[2].n : 1;
    int64_t n = hd__length(v), back = step < 0;
    if (!(hd__is_list(v) || v.kind == HD__STRING) || (step != 1 && step != -1) ||
        (v.kind == HD__STRING && back)) {
        return hd__fail_at(r, HD_FORMAT, "heed has no such slice of %s", hd__kind_names[v.kind]);
    }
    const int64_t bounds[2] = {-back, n - back};
    int64_t from = walk_end(r, parts[0], bounds[back], bounds, n);
    int64_t to = walk_end(r, parts[1], bounds[!back], bounds, n);
    hd__table t = {0};
    for (; v.kind != HD__STRING && !r->failed && (back ? from > to : from < to); from += step) {
        hd__push(r, &t, v.items[from]);
    }
    if (v.kind != HD__STRING) {
        return hd__list_of(v.kind, t);
    }
    hd__value end = HD__TEXT(v.s + v.n, 0);
    hd__value a = from < n ? hd__item_of(r, v, HD__OF(HD__INT, from)) : end;
    hd__value b = to < n ? hd__item_of(r, v, HD__OF(HD__INT, to)) : end;
    return HD__TEXT(a.s, !r->failed && b.s > a.s ? b.s - a.s : 0);
}

/* [a], [a:b], [::-1] */
static hd__value walk_subscript(hd__run *r, hd__value v)
{
    hd__value parts[3] = {HD__OF(HD__NONE_VALUE, 0), HD__OF(HD__NONE_VALUE, 0),
                          HD__OF(HD__NONE_VALUE, 0)};
    int colons = 0;
    for (int i = 0; i < 3 && !walk_is(r->t, "]"); i++) {
        parts[i] = walk_is(r->t, ":") ? parts[i] : walk_expression(r);
        if (!walk_given(r, ":")) {
            break;
        }
        colons++;
    }
    walk_expect(r, "]");
    return !hd__live(r) ? HD__NOTHING
           : colons     ? walk_sliced(r, v, parts)
                        : hd__item_of(r, v, parts[0]);
}

/* .name, .name(...) or .0 */
static hd__value walk_attribute(hd__run *r, hd__value v)
{
    hd__value key = r->t->kind == HD__TOKEN_CONSTANT ? walk_on(r)->value : walk_name(r);
    if (walk_given(r, "(")) {
        hd__table args = walk_list(r, ")", WALK_ARGUMENTS);
        return hd__live(r) ? hd__call(r, (int)v.kind, key, v, &args) : HD__NOTHING;
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
    return v.kind != HD__FUNCTION ? hd__fail_at(r, HD_VALUE, "a call of %s", hd__kind_names[v.kind])
           : v.macro              ? hd__call_macro(r, v.macro, &args)
                                  : hd__call(r, HD__FUNCTION_CALL, name->value, v, &args);
}

static hd__value walk_filter(hd__run *r, hd__value v)
{
    hd__value name = walk_name(r);
    hd__table args = {0};
    if (walk_given(r, "(")) {
        args = walk_list(r, ")", WALK_ARGUMENTS);
    }
    return hd__live(r) ? hd__call(r, HD__FILTER_CALL, name, v, &args) : HD__NOTHING;
}

/* After "is" */
static hd__value walk_test(hd__run *r, hd__value v)
{
    static const char *const no_values[] = {"else", "or", "and", "is", "if", NULL};
    bool not = walk_given(r, "not");
    hd__value name = walk_name(r), with = HD__NOTHING;
    bool word = r->t->kind == HD__TOKEN_NAME && !walk_is_one(r->t, no_values);
    if (word || r->t->kind == HD__TOKEN_CONSTANT || walk_is(r->t, "(") || walk_is(r->t, "[")) {
        with = walk_primary(r);
    }
    return hd__live(r) ? HD__OF(HD__BOOL_VALUE, hd__test(r, name, v, with) != not ) : HD__NOTHING;
}

/* Everything that may follow a value, which `first` began; filters and tests only if `all` */
static hd__value walk_after(hd__run *r, hd__value v, const hd__token *first, bool all)
{
    while (!r->failed) {
        r->first = first;
        bool name = first->kind == HD__TOKEN_NAME && r->t == first + 1;
        if (walk_given(r, ".")) {
            v = walk_attribute(r, v);
        } else if (walk_given(r, "[")) {
            v = walk_subscript(r, v);
        } else if (name && walk_given(r, "(")) {
            v = walk_call(r, v, first);
        } else if (all && walk_given(r, "|")) {
            v = walk_filter(r, v);
        } else if (all && walk_given(r, "is")) {
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
    if (walk_deeper(r) && (walk_is(first, "-") || walk_is(first, "+"))) {
        walk_on(r);
        v = walk_signed(r);
        r->first = first;
        v = hd__live(r) ? hd__operate(r, first->value, HD__OF(HD__INT, 0), v) : v;
    } else if (!r->failed) {
        v = walk_primary(r);
    }
    v = walk_after(r, v, first, false);
    r->depth--;
    return v;
}

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVELS = 7 };

static hd__value walk_not(hd__run *r)
{
    bool deeper = walk_deeper(r), not = walk_given(r, "not");
    hd__value v = !deeper ? HD__NOTHING : not ? walk_not(r) : walk_level(r, LEVEL_COMPARE);
    r->depth--;
    return not ? HD__OF(HD__BOOL_VALUE, !hd__truth(v)) : v;
}

/* Goes over a sign of the level and gives it; "not in" is one. */
static bool walk_operator(hd__run *r, size_t level, hd__value *sign)
{
    static const char *const signs[LEVELS][9] = {
        {"or"},
        {"and"},
        {NULL},
        {"==", "!=", "<", "<=", ">", ">=", "in", "not"},
        {"+", "-"},
        {"~"},
        {"*", "/", "//", "%"},
    };
    *sign = r->t->value;
    if (!walk_is_one(r->t, signs[level])) {
        return false;
    }
    if (walk_is(walk_on(r), "not")) {
        walk_expect(r, "in");
    }
    return true;
}

/* a + b + c is (a + b) + c; a < b < c is a < b and b < c. */
static hd__value walk_level(hd__run *r, size_t level)
{
    const hd__token *first = r->t;
    if (level == LEVEL_NOT || level == LEVELS) {
        return level == LEVEL_NOT ? walk_not(r) : walk_after(r, walk_signed(r), first, true);
    }
    hd__value v = walk_level(r, level + 1), last = v, sign;
    bool live = r->live, logic = level < LEVEL_NOT;
    while (walk_operator(r, level, &sign)) {
        bool over = logic ? hd__truth(v) != level : level == LEVEL_COMPARE && r->live != live;
        r->live = live && !over;
        hd__value next = walk_level(r, level + 1);
        r->first = first;
        if (hd__live(r)) {
            v = logic ? next : hd__operate(r, sign, level == LEVEL_COMPARE ? last : v, next);
        }
        last = next;
        r->live = live && (logic || level != LEVEL_COMPARE || hd__truth(v));
    }
    r->live = live;
    return v;
}

/* Does the expression that begins here have an "if" of its own? */
static bool walk_chooses(const hd__token *t)
{
    static const char *const open[] = {"(", "[", "{", NULL}, *const close[] = {")", "]", "}", NULL};
    static const char *const ends[] = {",", ":", "=", "else", NULL};
    int depth = 0;
    for (; t->kind > HD__TOKEN_CLOSE && !(depth == 0 && walk_is_one(t, ends)); t++) {
        depth += walk_is_one(t, open) - walk_is_one(t, close);
        if (depth < 0 || (depth == 0 && walk_is(t, "if"))) {
            return depth == 0;
        }
    }
    return false;
}

/* The rest of "a if c else b", whose a, at `begin`, was walked over */
static hd__value walk_choice(hd__run *r, const hd__token *begin)
{
    hd__value a = HD__NOTHING, b = HD__NOTHING;
    bool live = r->live;
    walk_expect(r, "if");
    bool is = hd__truth(walk_level(r, 0));
    const hd__token *rest = r->t;
    if (is && hd__live(r)) {
        r->t = begin;
        a = walk_level(r, 0);
        r->t = rest;
    }
    r->live = live && !is;
    if (walk_given(r, "else")) {
        b = walk_expression(r);
    }
    r->live = live;
    return is ? a : b;
}

static hd__value walk_expression(hd__run *r)
{
    const hd__token *outer = r->first, *begin = r->t;
    hd__value v = HD__NOTHING;
    if (walk_deeper(r)) {
        bool live = r->live, chooses = walk_chooses(begin);
        r->live = live && !chooses;
        v = walk_level(r, 0);
        r->live = live;
        v = chooses ? walk_choice(r, begin) : v;
    }
    r->first = outer;
    r->depth--;
    return v;
}

/* ---------------------------------------------------------------- statements */

static const char *const endif[] = {"elif", "else", "endif", NULL};
static const char *const endfor[] = {"else", "endfor", NULL};

static void walk_if(hd__run *r)
{
    bool live = r->live, done = false;
    do {
        r->live = live && !done;
        bool is = hd__truth(walk_expression(r)) && hd__live(r);
        walk_close(r);
        r->live = is;
        walk_body(r, endif);
        done = done || is;
    } while (walk_given(r, "elif"));
    r->live = live && !done;
    if (walk_given(r, "else")) {
        walk_close(r);
        walk_body(r, &endif[2]);
    }
    r->live = live;
    walk_expect(r, "endif");
}

/* What the statements up to a tag write, in a frame of their own */
static hd__value walk_captured(hd__run *r, const char *end)
{
    hd__table frame = {.outer = r->frame};
    size_t mark = r->out.len;
    walk_close(r);
    r->frame = &frame;
    walk_body(r, (const char *const[]){end, NULL});
    r->frame = frame.outer;
    walk_expect(r, end);
    return hd__live(r) ? hd__written(r, mark) : HD__NOTHING;
}

/* transformers' mark of what an assistant wrote */
static void walk_generation(hd__run *r)
{
    hd__value text = walk_captured(r, "endgeneration");
    if (hd__live(r)) {
        hd__write(r, text.s, (size_t)text.n);
    }
}

static void walk_assign(hd__run *r, hd__value name, hd__value key, hd__value v)
{
    const hd__value *of = key.kind ? walk_find(r, name) : NULL;
    if (key.kind && (!of || of->kind != HD__NAMESPACE)) {
        hd__fail_at(r, HD_VALUE, "an attribute is set of what is no namespace");
    } else {
        hd__table_put(r, of ? of->table : r->frame, of ? key : name, v);
    }
}

/* Goes over name, namespace.name, or several with commas between them, and returns how many there
 * are. Unless v is NULL, it has the value of one, or the items for n. */
static int64_t walk_targets(hd__run *r, const hd__value *v, int64_t n)
{
    int64_t i = 0;
    bool brackets = walk_given(r, "(");
    if (v && n > 1 && (!hd__is_list(*v) || v->n != n)) {
        hd__fail_at(r, HD_VALUE, "several names for %s", hd__kind_names[v->kind]);
    }
    do {
        hd__value name = walk_name(r), key = walk_given(r, ".") ? walk_name(r) : HD__NOTHING;
        if (v && !r->failed) {
            walk_assign(r, name, key, n > 1 ? v->items[i] : *v);
        }
        i++;
    } while (walk_given(r, ","));
    if (brackets) {
        walk_expect(r, ")");
    }
    return i;
}

/* The same for the targets at a token */
static void walk_give(hd__run *r, const hd__token *targets, int64_t n, hd__value v)
{
    const hd__token *rest = r->t;
    r->t = targets;
    walk_targets(r, &v, n);
    r->t = rest;
}

static void walk_set(hd__run *r)
{
    const hd__token *targets = r->t;
    int64_t n = walk_targets(r, NULL, 0);
    hd__value v = walk_given(r, "=") ? walk_expression(r) : walk_captured(r, "endset");
    if (hd__live(r)) {
        walk_give(r, targets, n, v);
    }
}

/* The variable `loop` at item i */
static void walk_loop(hd__run *r, hd__table *t, hd__value items, int64_t i)
{
    int64_t n = items.n;
    const struct {
        const char *name;
        hd__value value;
    } parts[] = {
        {"index", HD__OF(HD__INT, i + 1)},
        {"index0", HD__OF(HD__INT, i)},
        {"revindex", HD__OF(HD__INT, n - i)},
        {"revindex0", HD__OF(HD__INT, n - i - 1)},
        {"length", HD__OF(HD__INT, n)},
        {"first", HD__OF(HD__BOOL_VALUE, i == 0)},
        {"last", HD__OF(HD__BOOL_VALUE, i == n - 1)},
        {"previtem", i > 0 ? items.items[i - 1] : HD__NOTHING},
        {"nextitem", i < n - 1 ? items.items[i + 1] : HD__NOTHING},
    };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        hd__table_put(r, t, HD__TEXT(parts[k].name, strlen(parts[k].name)), parts[k].value);
    }
}

typedef struct walk_range {
    const hd__token *targets, *condition, *body; /* condition: NULL, or after "if" */
    int64_t n;                                   /* how many targets */
} walk_range;

/* The items for which the loop's condition is true */
static hd__value walk_chosen(hd__run *r, const walk_range *range, hd__value items)
{
    hd__table chosen = {0};
    for (int64_t i = 0; i < items.n && !r->failed; i++) {
        r->frame->n = 0;
        walk_give(r, range->targets, range->n, items.items[i]);
        r->t = range->condition;
        if (hd__truth(walk_expression(r))) {
            hd__push(r, &chosen, items.items[i]);
        }
    }
    return hd__list_of(HD__LIST, chosen);
}

/* The body once for each item, or once walked over */
static void walk_rounds(hd__run *r, const walk_range *range, hd__value items)
{
    bool live = r->live;
    hd__value loop = hd__dict_of(r, HD__NAMESPACE, (hd__table){0});
    r->loops++;
    for (int64_t i = 0; i < items.n && !r->failed && r->jump != 'b'; i++) {
        r->jump = '\0';
        r->frame->n = 0;
        walk_loop(r, loop.table, items, i);
        hd__table_put(r, r->frame, HD__LITERAL("loop"), loop);
        walk_give(r, range->targets, range->n, items.items[i]);
        r->t = range->body;
        walk_body(r, endfor);
    }
    if (items.n == 0) {
        r->live = false;
        r->t = range->body;
        walk_body(r, endfor);
        r->live = live;
    }
    r->loops--;
}

static void walk_for(hd__run *r)
{
    walk_range range = {.targets = r->t, .n = walk_targets(r, NULL, 0)};
    hd__table frame = {.outer = r->frame};
    bool live = r->live;
    walk_expect(r, "in");
    hd__value items = walk_level(r, 0);
    items = hd__live(r) ? hd__items_of(r, items) : HD__OF(HD__LIST, 0);
    r->live = false;
    if (walk_given(r, "if")) {
        range.condition = r->t;
        walk_expression(r);
    }
    walk_close(r);
    range.body = r->t;
    r->live = live;
    r->frame = &frame;
    items = range.condition ? walk_chosen(r, &range, items) : items;
    char jump = r->jump;
    walk_rounds(r, &range, items);
    r->jump = jump;
    r->frame = frame.outer;
    if (walk_given(r, "else")) {
        r->live = live && items.n == 0;
        walk_close(r);
        walk_body(r, &endfor[1]);
        r->live = live;
    }
    walk_expect(r, "endfor");
}

static void walk_jump(hd__run *r)
{
    if (!r->loops) {
        walk_fail(r, "break and continue in a loop only");
    }
    r->jump = hd__live(r) ? *r->t[-1].value.s : r->jump;
}

/* (name, name=default, ...); args: NULL, or what they get in the innermost frame */
static void walk_parameters(hd__run *r, const hd__table *args)
{
    int64_t given = 0;
    bool live = r->live;
    walk_expect(r, "(");
    for (int64_t i = 0; !r->failed && !walk_given(r, ")"); i++) {
        hd__value name = walk_name(r), otherwise = HD__NOTHING;
        const hd__value *v = args ? hd__argument(args, i, name) : NULL;
        r->live = live && !v;
        otherwise = walk_given(r, "=") ? walk_expression(r) : otherwise;
        r->live = live;
        given += v != NULL;
        if (hd__live(r)) {
            hd__table_put(r, r->frame, name, v ? *v : otherwise);
        }
        if (!walk_is(r->t, ")")) {
            walk_expect(r, ",");
        }
    }
    if (args && 2 * given != args->n) {
        hd__fail_at(r, HD_VALUE, "other arguments than the macro has");
    }
}

static void walk_macro(hd__run *r)
{
    hd__value name = walk_name(r), macro = HD__OF(HD__FUNCTION, 0);
    bool live = r->live;
    int loops = r->loops;
    if (hd__live(r) && r->frame->outer) {
        hd__fail_at(r, HD_FORMAT, "a macro inside of a loop or a macro");
    }
    macro.macro = r->t;
    r->live = false;
    r->loops = 0;
    walk_parameters(r, NULL);
    walk_captured(r, "endmacro");
    r->live = live;
    r->loops = loops;
    if (hd__live(r)) {
        hd__table_put(r, r->frame, name, macro);
    }
}

/* A macro sees the variables of the whole template, and its own. */
hd__value hd__call_macro(hd__run *r, const hd__token *parameters, const hd__table *args)
{
    hd__table frame = {.outer = r->frame}, *caller = r->frame;
    const hd__token *rest = r->t;
    while (frame.outer->outer) {
        frame.outer = frame.outer->outer;
    }
    r->frame = &frame;
    r->t = parameters;
    walk_parameters(r, args);
    hd__value text = walk_captured(r, "endmacro");
    r->frame = caller;
    r->t = rest;
    return text;
}

static const struct {
    const char *name;
    void (*walk)(hd__run *r);
} statements[] = {
    {"if", walk_if},
    {"for", walk_for},
    {"set", walk_set},
    {"macro", walk_macro},
    {"break", walk_jump},
    {"continue", walk_jump},
    {"generation", walk_generation},
};

static void walk_statement(hd__run *r)
{
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (walk_given(r, statements[i].name)) {
            statements[i].walk(r);
            walk_close(r);
            return;
        }
    }
    walk_fail(r, "if, for, set, macro, generation, break or continue");
}

static void walk_output(hd__run *r, const hd__token *first)
{
    hd__value v = walk_expression(r);
    r->first = first;
    if (hd__live(r)) {
        v = hd__text_of(r, v);
        hd__write(r, v.s, (size_t)v.n);
    }
    walk_close(r);
}

/* Walks up to a tag that begins with one of `ends`, which is then the current token. */
static void walk_body(hd__run *r, const char *const *ends)
{
    bool ended = !walk_deeper(r);
    while (!ended && r->t->kind != HD__TOKEN_END) {
        const hd__token *t = walk_on(r);
        r->first = t;
        if (t->kind == HD__TOKEN_OUTPUT) {
            walk_output(r, t);
        } else if (t->kind == HD__TOKEN_STATEMENT) {
            ended = walk_is_one(r->t, ends);
            if (!ended) {
                walk_statement(r);
            }
        } else if (hd__live(r)) {
            hd__write(r, t->value.s, (size_t)t->value.n);
        }
    }
    if (!ended && *ends) {
        walk_fail(r, *ends);
    }
    r->depth--;
}

void hd__walk(hd__run *r, const hd__token *first, bool live)
{
    r->t = first;
    r->live = live;
    walk_body(r, (const char *const[]){NULL});
}
