/* template_walk.c - walks over the statements of a template and runs them. The table of the
 * statements is at the end. */
#include "hf/template.h"

static void walk_body(hd__template_run *r, const char *const *ends);

/* Goes past the current token, and fails if it is not the end of a tag. */
static void walk_close(hd__template_run *r)
{
    if (r->t->kind != HD__TOKEN_CLOSE) {
        hd__template_walk_fail(r, "the end of the tag");
    }
    hd__template_walk_on(r);
}

static const char *const endif[] = {"elif", "else", "endif", NULL};

static void walk_if(hd__template_run *r)
{
    bool live = r->live, done = false;
    do {
        r->live = live && !done;
        bool is = hd__template_truth(hd__template_expression(r)) && hd__template_live(r);
        walk_close(r);
        r->live = is;
        walk_body(r, endif);
        done = done || is;
    } while (hd__template_walk_given(r, "elif"));
    r->live = live && !done;
    if (hd__template_walk_given(r, "else")) {
        walk_close(r);
        walk_body(r, &endif[2]);
    }
    r->live = live;
    hd__template_walk_expect(r, "endif");
}

/* Runs the statements up to the tag `end` in a new frame. Returns the text that they write, which
 * is not written to r->out. */
static hd__template_value walk_captured(hd__template_run *r, const char *end)
{
    hd__template_table frame = {.outer = r->frame};
    size_t mark = r->out.len;
    walk_close(r);
    r->frame = &frame;
    walk_body(r, (const char *const[]){end, NULL});
    r->frame = frame.outer;
    hd__template_walk_expect(r, end);
    return hd__template_live(r) ? hd__template_written(r, mark) : HD__NOTHING;
}

/* Runs {% generation %}...{% endgeneration %}, with which transformers marks an assistant's
 * answers. */
static void walk_generation(hd__template_run *r)
{
    hd__template_value text = walk_captured(r, "endgeneration");
    if (hd__template_live(r)) {
        hd__template_write(r, text.s, (size_t)text.n);
    }
}

/* Runs {% set name = v %}, {% set namespace.name = v %} or {% set name %}...{% endset %}. */
static void walk_set(hd__template_run *r)
{
    hd__template_value name = hd__template_walk_name(r);
    hd__template_value key =
        hd__template_walk_given(r, ".") ? hd__template_walk_name(r) : HD__NOTHING;
    hd__template_value v =
        hd__template_walk_given(r, "=") ? hd__template_expression(r) : walk_captured(r, "endset");
    if (!hd__template_live(r)) {
        return;
    }
    const hd__template_value *of = key.kind ? hd__template_walk_find(r, name) : NULL;
    if (key.kind && (!of || of->kind != HD__NAMESPACE)) {
        hd__template_fail_at(r, HD_VALUE, "only an attribute of a namespace can be set");
    } else {
        hd__template_table_put(r, of ? of->table : r->frame, of ? key : name, v);
    }
}

/* ---------------------------------------------------------------- loops */

typedef struct walk_range {
    const hd__template_token *names;     /* the first of n names, which have commas between them */
    const hd__template_token *condition; /* the token after "if"; NULL if the loop has no "if" */
    const hd__template_token *body;
    int64_t n;
} walk_range;

/* Sets the loop's variable to the item. If there are several variables, sets them to the item's
 * parts, and fails if the item has another number of parts. */
static void walk_give(hd__template_run *r, const walk_range *range, hd__template_value item)
{
    bool parts = range->n > 1;
    r->frame->n = 0;
    if (parts && (!hd__template_is_list(item) || item.n != range->n)) {
        hd__template_fail_at(
            r, HD_VALUE, "the item of the loop is %s: expected a list with a part for each name",
            hd__template_kind_names[item.kind]);
    }
    for (int64_t i = 0; i < range->n && !r->failed; i++) {
        hd__template_table_put(r, r->frame, range->names[2 * i].value,
                               parts ? item.items[i] : item);
    }
}

/* Sets the attributes of the variable `loop`, which are in t, for item i of `items`. */
static void walk_loop(hd__template_run *r, hd__template_table *t, hd__template_value items,
                      int64_t i)
{
    hd__template_value before = i > 0 ? items.items[i - 1] : HD__NOTHING;
    hd__template_value after = i < items.n - 1 ? items.items[i + 1] : HD__NOTHING;
    hd__template_table_put(r, t, HD__LITERAL("index"), HD__OF(HD__TEMPLATE_INT, i + 1));
    hd__template_table_put(r, t, HD__LITERAL("index0"), HD__OF(HD__TEMPLATE_INT, i));
    hd__template_table_put(r, t, HD__LITERAL("first"), HD__OF(HD__BOOL_VALUE, i == 0));
    hd__template_table_put(r, t, HD__LITERAL("last"), HD__OF(HD__BOOL_VALUE, i == items.n - 1));
    hd__template_table_put(r, t, HD__LITERAL("previtem"), before);
    hd__template_table_put(r, t, HD__LITERAL("nextitem"), after);
}

/* Returns a list of the items for which the loop's condition is true. */
static hd__template_value walk_chosen(hd__template_run *r, const walk_range *range,
                                      hd__template_value items)
{
    hd__template_table chosen = {0};
    for (int64_t i = 0; i < items.n && !r->failed; i++) {
        walk_give(r, range, items.items[i]);
        r->t = range->condition;
        if (hd__template_truth(hd__template_expression(r))) {
            hd__template_push(r, &chosen, items.items[i]);
        }
    }
    return hd__template_list_of(HD__LIST, chosen);
}

static void walk_round(hd__template_run *r, const walk_range *range)
{
    r->t = range->body;
    walk_body(r, (const char *const[]){"endfor", NULL});
}

/* Runs the body once for each item, until break. If there are no items, walks over the body once
 * without running it. */
static void walk_rounds(hd__template_run *r, const walk_range *range, hd__template_value items)
{
    bool live = r->live;
    char jump = r->jump;
    hd__template_value loop = hd__template_dict_of(r, HD__LOOP, (hd__template_table){0});
    r->loops++;
    for (int64_t i = 0; i < items.n && !r->failed && r->jump != 'b'; i++) {
        r->jump = '\0';
        walk_give(r, range, items.items[i]);
        walk_loop(r, loop.table, items, i);
        hd__template_table_put(r, r->frame, HD__LITERAL("loop"), loop);
        walk_round(r, range);
    }
    if (items.n == 0) {
        r->live = false;
        walk_round(r, range);
        r->live = live;
    }
    r->jump = jump;
    r->loops--;
}

static void walk_for(hd__template_run *r)
{
    walk_range range = {.names = r->t};
    hd__template_table frame = {.outer = r->frame};
    bool live = r->live;
    do {
        hd__template_walk_name(r);
        range.n++;
    } while (hd__template_walk_given(r, ","));
    hd__template_walk_expect(r, "in");
    hd__template_value items = hd__template_expression_level(r, 0);
    items = hd__template_live(r) ? hd__template_items_of(r, items) : HD__OF(HD__LIST, 0);
    r->live = false;
    if (hd__template_walk_given(r, "if")) {
        range.condition = r->t;
        hd__template_expression(r);
    }
    walk_close(r);
    range.body = r->t;
    r->live = live;
    r->frame = &frame;
    items = range.condition ? walk_chosen(r, &range, items) : items;
    walk_rounds(r, &range, items);
    r->frame = frame.outer;
    hd__template_walk_expect(r, "endfor");
}

static void walk_jump(hd__template_run *r)
{
    if (!r->loops) {
        hd__template_walk_fail(r, "a loop around break and continue");
    }
    r->jump = hd__template_live(r) ? *r->t[-1].value.s : r->jump;
}

/* ---------------------------------------------------------------- macros */

/* Walks over a macro's parameters (name, name=default, ...). Unless args is NULL, sets them to args
 * or to their defaults, and fails if args has an argument that fits no parameter. */
static void walk_parameters(hd__template_run *r, const hd__template_table *args)
{
    int64_t given = 0;
    bool live = r->live;
    hd__template_walk_expect(r, "(");
    for (int64_t i = 0; !r->failed && !hd__template_walk_given(r, ")"); i++) {
        hd__template_value name = hd__template_walk_name(r), otherwise = HD__NOTHING;
        const hd__template_value *v = args ? hd__template_argument(args, i, name) : NULL;
        r->live = live && !v;
        otherwise = hd__template_walk_given(r, "=") ? hd__template_expression(r) : otherwise;
        r->live = live;
        given += v != NULL;
        if (hd__template_live(r)) {
            hd__template_table_put(r, r->frame, name, v ? *v : otherwise);
        }
        if (!hd__template_walk_is(r->t, ")")) {
            hd__template_walk_expect(r, ",");
        }
    }
    if (args && 2 * given != args->n) {
        hd__template_fail_at(r, HD_VALUE, "the arguments do not fit the parameters of the macro");
    }
}

static void walk_macro(hd__template_run *r)
{
    hd__template_value name = hd__template_walk_name(r), macro = HD__OF(HD__FUNCTION, 0);
    bool live = r->live;
    int loops = r->loops;
    if (hd__template_live(r) && r->frame->outer) {
        hd__template_fail_at(r, HD_FORMAT, "heed has no macro inside a loop or a macro");
    }
    macro.macro = r->t;
    r->live = false;
    r->loops = 0;
    walk_parameters(r, NULL);
    walk_captured(r, "endmacro");
    r->live = live;
    r->loops = loops;
    if (hd__template_live(r)) {
        hd__template_table_put(r, r->frame, name, macro);
    }
}

/* A macro sees its own variables and those of the whole template, but not those of its caller. */
hd__template_value hd__template_call_macro(hd__template_run *r,
                                           const hd__template_token *parameters,
                                           const hd__template_table *args)
{
    hd__template_table frame = {.outer = r->frame}, *caller = r->frame;
    const hd__template_token *rest = r->t;
    while (frame.outer->outer) {
        frame.outer = frame.outer->outer;
    }
    r->frame = &frame;
    r->t = parameters;
    walk_parameters(r, args);
    hd__template_value text = walk_captured(r, "endmacro");
    r->frame = caller;
    r->t = rest;
    return text;
}

static const struct {
    const char *name;
    void (*walk)(hd__template_run *r);
} statements[] = {
    {"if", walk_if},
    {"for", walk_for},
    {"set", walk_set},
    {"macro", walk_macro},
    {"break", walk_jump},
    {"continue", walk_jump},
    {"generation", walk_generation},
};

static void walk_statement(hd__template_run *r)
{
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (hd__template_walk_given(r, statements[i].name)) {
            statements[i].walk(r);
            walk_close(r);
            return;
        }
    }
    hd__template_walk_fail(r, "if, for, set, macro, generation, break or continue");
}

static void walk_output(hd__template_run *r, const hd__template_token *first)
{
    hd__template_value v = hd__template_expression(r);
    r->first = first;
    if (hd__template_live(r)) {
        v = hd__template_value_text(r, v);
        hd__template_write(r, v.s, (size_t)v.n);
    }
    walk_close(r);
}

/* Runs the statements up to a tag that begins with one of `ends`, which is then the current token.
 * Fails if there is none. If `ends` is empty, runs up to the end of the template. */
static void walk_body(hd__template_run *r, const char *const *ends)
{
    bool ended = !hd__template_walk_deeper(r);
    while (!ended && r->t->kind != HD__TOKEN_END) {
        const hd__template_token *t = r->t;
        hd__template_walk_on(r);
        r->first = t;
        if (t->kind == HD__TOKEN_OUTPUT) {
            walk_output(r, t);
        } else if (t->kind == HD__TOKEN_STATEMENT) {
            ended = hd__template_walk_is_one(r->t, ends);
            if (!ended) {
                walk_statement(r);
            }
        } else if (hd__template_live(r)) {
            hd__template_write(r, t->value.s, (size_t)t->value.n);
        }
    }
    if (!ended && *ends) {
        hd__template_walk_fail(r, *ends);
    }
    r->depth--;
}

void hd__template_walk(hd__template_run *r, const hd__template_token *first, bool live)
{
    r->t = first;
    r->live = live;
    walk_body(r, (const char *const[]){NULL});
}
