/* template_parse.c - reads a template by descent: statements, and expressions by their levels, from
 * "a if c else b" and "or" down to what binds closest. */
#include "hf/template_lex.h"

typedef struct parser {
    hd__lexer l;
    int loops;  /* around the current place */
    int closed; /* loops and macros around it, in which no macro may stand */
} parser;

static hd__node *parse_expression(parser *p);
static hd__node *parse_level(parser *p, size_t level);

/* ---------------------------------------------------------------- helpers */

/* A node that begins at `at` and ends where the last token ended */
static hd__node *parse_node(parser *p, hd__node_kind kind, size_t at, hd__node *first)
{
    hd__node *n = hd__take(p->l.r, sizeof *n);
    if (n) {
        n->kind = kind;
        n->at = at;
        n->end = p->l.last;
        n->first = first;
        n->name = HD__TEXT("", 0);
    }
    return n;
}

/* A node for the current token, which ends it */
static hd__node *parse_leaf(parser *p, hd__node_kind kind, hd__value v)
{
    size_t at = p->l.at;
    hd__lex(&p->l);
    hd__node *n = parse_node(p, kind, at, NULL);
    if (n) {
        n->value = v;
    }
    return n;
}

/* Goes over a name or a sign, if it is the current token. */
static bool parse_given(parser *p, const char *text)
{
    bool is = hd__lex_is(&p->l, text);
    if (is) {
        hd__lex(&p->l);
    }
    return is;
}

/* Is the current token one of these? */
static bool parse_is_one(const parser *p, const char *const *texts)
{
    while (*texts && !hd__lex_is(&p->l, *texts)) {
        texts++;
    }
    return *texts;
}

static void parse_expect(parser *p, const char *text)
{
    if (!parse_given(p, text)) {
        hd__lex_fail(&p->l, text);
    }
}

static hd__node *parse_name(parser *p, const char *expected)
{
    if (p->l.token != HD__TOKEN_NAME) {
        hd__lex_fail(&p->l, expected);
        return NULL;
    }
    return parse_leaf(p, HD__NAME, p->l.value);
}

/* Is the reading less deep than may be? The caller takes one from the depth at its end. */
static bool parse_deeper(parser *p)
{
    if (++p->l.r->depth > HD__DEEPEST) {
        hd__lex_fail(&p->l, "less nesting");
    }
    return !p->l.r->failed;
}

/* Nodes up to the sign `end`, separated by commas. `item` reads one and returns the last node that
 * it made, which is linked after *at. */
static hd__node *parse_list(parser *p, const char *end, hd__node *(*item)(parser *p, hd__node **at))
{
    hd__node *list = NULL, **at = &list;
    while (!p->l.r->failed && !parse_given(p, end)) {
        hd__node *last = item(p, at);
        at = last ? &last->next : at;
        if (!hd__lex_is(&p->l, end)) {
            parse_expect(p, ",");
        }
    }
    return list;
}

static hd__node *parse_item(parser *p, hd__node **at)
{
    return *at = parse_expression(p);
}

/* key: value */
static hd__node *parse_pair(parser *p, hd__node **at)
{
    *at = parse_expression(p);
    parse_expect(p, ":");
    return *at ? (*at)->next = parse_expression(p) : NULL;
}

/* value or name=value */
static hd__node *parse_argument(parser *p, hd__node **at)
{
    hd__node *n = parse_expression(p);
    if (n && n->kind == HD__NAME && parse_given(p, "=")) {
        hd__value name = n->value;
        n = parse_expression(p);
        if (n) {
            n->name = name;
        }
    }
    return *at = n;
}

/* ---------------------------------------------------------------- what binds closest */

/* (a), (a, b) or () */
static hd__node *parse_brackets(parser *p)
{
    size_t at = p->l.at;
    hd__lex(&p->l);
    hd__node *list = hd__lex_is(&p->l, ")") ? NULL : parse_expression(p);
    if (list && parse_given(p, ")")) {
        return list;
    }
    if (list) {
        parse_expect(p, ",");
    }
    hd__node *rest = parse_list(p, ")", parse_item), *n = parse_node(p, HD__TUPLE_OF, at, NULL);
    if (n) {
        n->list = list ? list : rest;
    }
    if (list) {
        list->next = rest;
    }
    return n;
}

static hd__node *parse_collection(parser *p, bool dict)
{
    size_t at = p->l.at;
    hd__lex(&p->l);
    hd__node *list = parse_list(p, dict ? "}" : "]", dict ? parse_pair : parse_item);
    hd__node *n = parse_node(p, dict ? HD__DICT_OF : HD__LIST_OF, at, NULL);
    if (n) {
        n->list = list;
    }
    return n;
}

/* 'a' "b" is one string. */
static hd__node *parse_constant(parser *p)
{
    hd__node *n = parse_leaf(p, HD__CONSTANT, p->l.value);
    while (n && n->value.kind == HD__STRING && p->l.token == HD__TOKEN_CONSTANT &&
           p->l.value.kind == HD__STRING) {
        size_t before = (size_t)n->value.n, after = (size_t)p->l.value.n;
        char *both = hd__take(p->l.r, before + after + 1);
        if (both) {
            memcpy(both, n->value.s, before);
            memcpy(both + before, p->l.value.s, after);
            n->value = HD__TEXT(both, before + after);
        }
        hd__lex(&p->l);
    }
    return n;
}

static hd__node *parse_primary(parser *p)
{
    static const struct {
        const char *names[2];
        hd__value value;
    } known[] = {{{"true", "True"}, {HD__BOOL_VALUE, 1, {0}}},
                 {{"false", "False"}, {HD__BOOL_VALUE, 0, {0}}},
                 {{"none", "None"}, {HD__NONE_VALUE, 0, {0}}}};
    for (size_t i = 0; i < 3; i++) {
        if (hd__lex_is(&p->l, known[i].names[0]) || hd__lex_is(&p->l, known[i].names[1])) {
            return parse_leaf(p, HD__CONSTANT, known[i].value);
        }
    }
    if (p->l.token == HD__TOKEN_CONSTANT) {
        return parse_constant(p);
    }
    bool dict = hd__lex_is(&p->l, "{");
    return hd__lex_is(&p->l, "(")           ? parse_brackets(p)
           : dict || hd__lex_is(&p->l, "[") ? parse_collection(p, dict)
                                            : parse_name(p, "a value");
}

/* ---------------------------------------------------------------- what follows a value */

/* .name, or .0 as in jinja2 */
static hd__node *parse_attribute(parser *p, hd__node *of)
{
    bool number = p->l.token == HD__TOKEN_CONSTANT && p->l.value.kind == HD__INT;
    hd__node *key = number ? parse_leaf(p, HD__CONSTANT, p->l.value) : parse_name(p, "a name");
    hd__node *n = key ? parse_node(p, number ? HD__ITEM : HD__ATTRIBUTE, of->at, of) : NULL;
    if (n) {
        n->value = key->value;
        n->second = key;
    }
    return n;
}

/* [a], [a:b], [::-1] */
static hd__node *parse_subscript(parser *p, hd__node *of)
{
    hd__node *parts[3] = {NULL};
    int i = 0;
    for (; i < 3 && !hd__lex_is(&p->l, "]"); i++) {
        parts[i] = hd__lex_is(&p->l, ":") ? NULL : parse_expression(p);
        if (!parse_given(p, ":")) {
            break;
        }
    }
    parse_expect(p, "]");
    hd__node *n = parse_node(p, i > 0 ? HD__SLICE : HD__ITEM, of->at, of);
    if (n) {
        n->second = parts[0];
        n->third = parts[1];
        n->fourth = parts[2];
    }
    if (n && i == 0 && !parts[0]) {
        hd__lex_fail(&p->l, "a key between the brackets");
    }
    return n;
}

static hd__node *parse_call(parser *p, hd__node *of)
{
    if (of->kind != HD__NAME && of->kind != HD__ATTRIBUTE) {
        hd__lex_fail(&p->l, "a call of a name or a method only");
    }
    hd__node *list = parse_list(p, ")", parse_argument);
    hd__node *n = parse_node(p, HD__CALL, of->at, of);
    if (n) {
        n->list = list;
    }
    return n;
}

/* A filter or a test of `of`: the name, and arguments in brackets */
static hd__node *parse_named(parser *p, hd__node_kind kind, hd__node *of)
{
    hd__node *name = parse_name(p, kind == HD__TEST ? "the name of a test" : "the name of a filter");
    hd__node *list = parse_given(p, "(") ? parse_list(p, ")", parse_argument) : NULL;
    hd__node *n = name ? parse_node(p, kind, of ? of->at : name->at, of) : NULL;
    if (n) {
        n->value = name->value;
        n->list = list;
    }
    return n;
}

/* After "is": the test, whose one argument may have no brackets */
static hd__node *parse_test(parser *p, hd__node *of)
{
    static const char *const no_values[] = {"else", "or", "and", "is", "if", NULL};
    bool not = parse_given(p, "not");
    size_t at = of->at;
    hd__node *n = parse_named(p, HD__TEST, of);
    bool word = p->l.token == HD__TOKEN_NAME && !parse_is_one(p, no_values);
    if (n && !n->list &&
        (word || p->l.token == HD__TOKEN_CONSTANT || hd__lex_is(&p->l, "["))) {
        n->list = parse_primary(p);
        n->end = p->l.last;
    }
    hd__node *all = not && n ? parse_node(p, HD__UNARY, at, n) : n;
    if (not && all) {
        all->value = HD__LITERAL("not");
    }
    return all;
}

/* Everything that may follow a value; filters and tests only if `all`. */
static hd__node *parse_after(parser *p, hd__node *n, bool all)
{
    while (n && !p->l.r->failed) {
        if (parse_given(p, ".")) {
            n = parse_attribute(p, n);
        } else if (parse_given(p, "[")) {
            n = parse_subscript(p, n);
        } else if (parse_given(p, "(")) {
            n = parse_call(p, n);
        } else if (all && parse_given(p, "|")) {
            n = parse_named(p, HD__FILTER, n);
        } else if (all && parse_given(p, "is")) {
            n = parse_test(p, n);
        } else {
            break;
        }
    }
    return n;
}

/* ---------------------------------------------------------------- levels */

static hd__node *parse_prefix(parser *p, hd__node *(*of)(parser *p))
{
    size_t at = p->l.at;
    hd__value sign = p->l.value;
    hd__lex(&p->l);
    hd__node *first = of(p), *n = first ? parse_node(p, HD__UNARY, at, first) : NULL;
    if (n) {
        n->value = sign;
    }
    return n;
}

/* What a sign stands before takes no filters: those are of the whole. */
static hd__node *parse_signed(parser *p)
{
    hd__node *n = NULL;
    if (parse_deeper(p)) {
        bool sign = hd__lex_is(&p->l, "-") || hd__lex_is(&p->l, "+");
        n = sign ? parse_prefix(p, parse_signed) : parse_primary(p);
        n = parse_after(p, n, false);
    }
    p->l.r->depth--;
    return n;
}

enum { LEVEL_NOT = 2, LEVEL_COMPARE = 3, LEVELS = 7 };

static hd__node *parse_not(parser *p)
{
    hd__node *n = NULL;
    if (parse_deeper(p)) {
        n = hd__lex_is(&p->l, "not") ? parse_prefix(p, parse_not) : parse_level(p, LEVEL_COMPARE);
    }
    p->l.r->depth--;
    return n;
}

/* Goes over a sign of the level and gives it; "not in" is one. */
static bool parse_operator(parser *p, size_t level, hd__value *sign)
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
    *sign = p->l.value;
    for (const char *const *s = signs[level]; *s; s++) {
        if (parse_given(p, *s)) {
            if (hd__is_text(*sign, "not")) {
                parse_expect(p, "in");
                *sign = HD__LITERAL("not in");
            }
            return true;
        }
    }
    return false;
}

static hd__node *parse_two(parser *p, hd__value sign, hd__node *first, hd__node *second)
{
    hd__node *n = first && second ? parse_node(p, HD__BINARY, first->at, first) : NULL;
    if (n) {
        n->value = sign;
        n->second = second;
    }
    return n;
}

/* a + b + c is (a + b) + c; a < b < c is a < b and b < c. */
static hd__node *parse_level(parser *p, size_t level)
{
    if (level == LEVEL_NOT) {
        return parse_not(p);
    }
    if (level == LEVELS) {
        return parse_after(p, parse_signed(p), true);
    }
    hd__node *all = parse_level(p, level + 1), *last = NULL;
    hd__value sign;
    while (all && parse_operator(p, level, &sign)) {
        hd__node *next = parse_level(p, level + 1);
        bool chain = last && level == LEVEL_COMPARE;
        hd__node *two = parse_two(p, sign, chain ? last : all, next);
        all = chain ? parse_two(p, HD__LITERAL("and"), all, two) : two;
        last = next;
    }
    return all;
}

/* a, or a if c else b */
static hd__node *parse_expression(parser *p)
{
    hd__node *n = parse_deeper(p) ? parse_level(p, 0) : NULL;
    while (n && parse_given(p, "if")) {
        hd__node *second = n;
        n = parse_node(p, HD__CHOICE, second->at, parse_level(p, 0));
        hd__node *third = n && parse_given(p, "else") ? parse_expression(p) : NULL;
        if (n) {
            n->second = second;
            n->third = third;
            n->end = p->l.last;
        }
    }
    p->l.r->depth--;
    return n;
}

/* ---------------------------------------------------------------- statements */

static hd__node *parse_body(parser *p, const char *const *ends);

static void parse_close(parser *p)
{
    if (p->l.token != HD__TOKEN_CLOSE) {
        hd__lex_fail(&p->l, "the end of the tag");
    }
    hd__lex(&p->l);
}

/* The statements up to one of these, whose name is then the current token */
static hd__node *parse_block(parser *p, const char *const *ends)
{
    parse_close(p);
    return parse_body(p, ends);
}

/* The same with one end, whose tag it goes over */
static hd__node *parse_until(parser *p, const char *end)
{
    hd__node *body = parse_block(p, (const char *const[]){end, NULL});
    parse_expect(p, end);
    return body;
}

/* name, name.attribute, or several with commas between them */
static hd__node *parse_targets(parser *p)
{
    hd__node *list = NULL, **at = &list;
    bool brackets = parse_given(p, "(");
    do {
        hd__node *n = parse_name(p, "a name");
        n = n && parse_given(p, ".") ? parse_attribute(p, n) : n;
        if (!n) {
            return NULL;
        }
        *at = n;
        at = &n->next;
    } while (parse_given(p, ","));
    if (brackets) {
        parse_expect(p, ")");
    }
    return list;
}

/* After "if" or "elif" */
static hd__node *parse_if(parser *p, size_t at)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    hd__node *n = parse_deeper(p) ? parse_node(p, HD__IF, at, parse_expression(p)) : NULL;
    if (n) {
        n->second = parse_block(p, ends);
        size_t next = p->l.at;
        if (parse_given(p, "elif")) {
            n->third = parse_if(p, next);
        } else if (parse_given(p, "else")) {
            n->third = parse_until(p, "endif");
        } else {
            parse_expect(p, "endif");
        }
    }
    p->l.r->depth--;
    return n;
}

static hd__node *parse_for(parser *p, size_t at)
{
    static const char *const ends[] = {"else", "endfor", NULL};
    hd__node *targets = parse_targets(p);
    parse_expect(p, "in");
    hd__node *n = parse_node(p, HD__FOR, at, parse_level(p, 0));
    if (n) {
        n->list = targets;
        n->second = parse_given(p, "if") ? parse_expression(p) : NULL;
        n->end = p->l.last;
        p->loops++;
        p->closed++;
        n->third = parse_block(p, ends);
        p->loops--;
        p->closed--;
        if (parse_given(p, "else")) {
            n->fourth = parse_until(p, "endfor");
        } else {
            parse_expect(p, "endfor");
        }
    }
    return n;
}

static hd__node *parse_capture(parser *p, size_t at, const char *end)
{
    hd__node *n = parse_node(p, HD__CAPTURE, at, NULL);
    if (n) {
        n->list = parse_until(p, end);
    }
    return n;
}

static hd__node *parse_set(parser *p, size_t at)
{
    hd__node *targets = parse_targets(p), *value = NULL;
    if (parse_given(p, "=")) {
        hd__node *first = parse_expression(p);
        value = first;
        if (first && hd__lex_is(&p->l, ",")) {
            hd__lex_fail(&p->l, "brackets around several values");
        }
    } else {
        value = parse_capture(p, at, "endset");
    }
    hd__node *n = value ? parse_node(p, HD__SET, at, value) : NULL;
    if (n) {
        n->list = targets;
    }
    return n;
}

/* name=default becomes the node of the name, whose `first` is the default. */
static hd__node *parse_parameter(parser *p, hd__node **at)
{
    hd__node *n = *at = parse_name(p, "the name of a parameter");
    if (n && parse_given(p, "=")) {
        n->first = parse_expression(p);
    }
    return n;
}

static hd__node *parse_macro(parser *p, size_t at)
{
    if (p->closed) {
        hd__lex_fail(&p->l, "no macro inside of a loop or a macro");
    }
    hd__node *name = parse_name(p, "the name of the macro");
    parse_expect(p, "(");
    hd__node *parameters = parse_list(p, ")", parse_parameter);
    hd__node *n = name ? parse_node(p, HD__MACRO_OF, at, NULL) : NULL;
    if (n) {
        n->value = name->value;
        n->list = parameters;
        p->closed++;
        n->second = parse_until(p, "endmacro");
        p->closed--;
    }
    return n;
}

/* transformers' mark of what an assistant wrote */
static hd__node *parse_generation(parser *p, size_t at)
{
    return parse_node(p, HD__OUTPUT, at, parse_capture(p, at, "endgeneration"));
}

static hd__node *parse_filtered(parser *p, size_t at)
{
    hd__node *first = parse_after(p, parse_named(p, HD__FILTER, NULL), true), *n = first;
    while (n && n->first) {
        n = n->first;
    }
    if (n) {
        n->first = parse_capture(p, at, "endfilter");
    }
    return parse_node(p, HD__OUTPUT, at, first);
}

static hd__node *parse_jump(parser *p, size_t at)
{
    if (!p->loops) {
        hd__lex_fail(&p->l, "it in a loop only");
    }
    hd__node *n = parse_node(p, HD__JUMP, at, NULL);
    if (n) {
        n->value = HD__TEXT(p->l.text + at, p->l.last - at);
    }
    return n;
}

static const struct {
    const char *name;
    hd__node *(*parse)(parser *p, size_t at);
} statements[] = {
    {"if", parse_if},         {"for", parse_for},
    {"set", parse_set},       {"macro", parse_macro},
    {"filter", parse_filtered}, {"generation", parse_generation},
    {"break", parse_jump},    {"continue", parse_jump},
};

static hd__node *parse_statement(parser *p)
{
    size_t at = p->l.at;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (parse_given(p, statements[i].name)) {
            hd__node *n = statements[i].parse(p, at);
            parse_close(p);
            return n;
        }
    }
    hd__lex_fail(&p->l, "one of the statements if, for, set, macro, filter, generation, break and "
                        "continue");
    return NULL;
}

static hd__node *parse_output(parser *p)
{
    size_t at = p->l.at;
    hd__lex(&p->l);
    hd__node *n = parse_node(p, HD__OUTPUT, at, parse_expression(p));
    parse_close(p);
    return n;
}

static hd__node *parse_body(parser *p, const char *const *ends)
{
    hd__node *list = NULL, **at = &list;
    bool ended = !parse_deeper(p);
    while (!ended && p->l.token != HD__TOKEN_END) {
        hd__node *n = NULL;
        size_t begin = p->l.at;
        if (p->l.token == HD__TOKEN_TEXT) {
            n = parse_node(p, HD__OUTPUT, begin, parse_leaf(p, HD__CONSTANT, p->l.value));
        } else if (p->l.token == HD__TOKEN_OUTPUT) {
            n = parse_output(p);
        } else {
            hd__lex(&p->l);
            ended = parse_is_one(p, ends);
            n = ended ? NULL : parse_statement(p);
        }
        *at = n;
        at = n ? &n->next : at;
    }
    if (!ended && *ends && !p->l.r->failed) {
        hd__lex_fail(&p->l, ends[0]);
    }
    p->l.r->depth--;
    return list;
}

bool hd__template_parse(hd__run *r, hd__template *t)
{
    static const char *const none[] = {NULL};
    parser p = {.l = {.r = r, .text = t->text, .n = t->n}};
    hd__lex(&p.l);
    t->body = parse_body(&p, none);
    return !r->failed;
}
