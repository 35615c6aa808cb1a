/* template_eval.c - runs a template: a function for each kind of node, in a table at the end. */
#include "hf/template.h"

/* ---------------------------------------------------------------- the text */

void hd__write(hd__run *r, const char *s, size_t n)
{
    if (!r->failed && n > r->bytes) {
        hd__template_fail(r, HD_VALUE, "it writes more than a text of this length may have");
    }
    if (!r->failed) {
        r->bytes -= n;
        hd__text_add(&r->out, s, n);
        r->failed = r->out.failed;
    }
}

hd__value hd__written(hd__run *r, size_t mark)
{
    if (r->failed || r->out.len == mark) {
        return HD__TEXT("", 0);
    }
    hd__value text = hd__copied(r, r->out.s + mark, r->out.len - mark);
    hd__text_cut(&r->out, mark);
    return text;
}

/* ---------------------------------------------------------------- names and parts */

static hd__value eval_constant(hd__run *r, const hd__node *n)
{
    (void)r;
    return n->value;
}

static hd__value eval_name(hd__run *r, const hd__node *n)
{
    for (const hd__table *t = r->frame; t; t = t->outer) {
        const hd__value *v = hd__table_find(r, t, n->value);
        if (v) {
            return *v;
        }
    }
    return (hd__value){hd__is_function(n->value) ? HD__MACRO : HD__UNDEFINED, 0, {0}};
}

static hd__value eval_loop_part(hd__run *r, const hd__loop *loop, hd__value name)
{
    int64_t i = loop->i, n = loop->n;
    const struct {
        const char *name;
        hd__value value;
    } parts[] = {
        {"index", HD__WHOLE(i + 1)},
        {"index0", HD__WHOLE(i)},
        {"revindex", HD__WHOLE(n - i)},
        {"revindex0", HD__WHOLE(n - i - 1)},
        {"length", HD__WHOLE(n)},
        {"first", HD__TRUTH(i == 0)},
        {"last", HD__TRUTH(i == n - 1)},
        {"previtem", i > 0 ? loop->items[i - 1] : (hd__value){0}},
        {"nextitem", i < n - 1 ? loop->items[i + 1] : (hd__value){0}},
    };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        if (hd__is_text(name, parts[k].name)) {
            return parts[k].value;
        }
    }
    return hd__template_fail(r, HD_FORMAT, "heed has no such part of loop");
}

/* The character at an index of a string */
static hd__value eval_character(hd__value text, int64_t i)
{
    const char *s = text.s, *end = text.s + text.n;
    uint32_t code;
    for (; s < end && i > 0; i--) {
        s += hd__utf8_next(s, end - s, &code);
    }
    return s < end ? HD__TEXT(s, hd__utf8_next(s, end - s, &code)) : (hd__value){0};
}

hd__value hd__item_of(hd__run *r, hd__value v, hd__value key)
{
    bool list = hd__is_list(v), number = key.kind == HD__INT || key.kind == HD__BOOL_VALUE;
    if (v.kind == HD__UNDEFINED) {
        return hd__template_fail(r, HD_VALUE, "a part of something undefined");
    }
    if (v.kind == HD__LOOP) {
        return eval_loop_part(r, v.loop, key);
    }
    if (number && (list || v.kind == HD__STRING)) {
        int64_t n = hd__length(v), i = key.n < 0 ? key.n + n : key.n;
        return i < 0 || i >= n ? (hd__value){0} : list ? v.items[i] : eval_character(v, i);
    }
    const hd__value *found = v.kind == HD__DICT || v.kind == HD__NAMESPACE
                                 ? hd__table_find(r, v.table, key)
                                 : NULL;
    return found ? *found : (hd__value){0};
}

/* A method that is not called would be a value in Python. */
static hd__value eval_attribute(hd__run *r, const hd__node *n)
{
    hd__value v = hd__eval(r, n->first);
    return r->failed                       ? v
           : hd__is_method(v.kind, n->value) ? hd__template_fail(r, HD_FORMAT, "a method without a call")
                                             : hd__item_of(r, v, n->value);
}

static hd__value eval_item(hd__run *r, const hd__node *n)
{
    hd__value v = hd__eval(r, n->first), key = hd__eval(r, n->second);
    return r->failed ? v : hd__item_of(r, v, key);
}

/* One end of a slice as Python counts it: from the end if it is negative, and within low and high */
static int64_t eval_end(hd__run *r, const hd__node *n, int64_t otherwise, const int64_t bounds[3])
{
    hd__value v = n ? hd__eval(r, n) : (hd__value){HD__NONE_VALUE, 0, {0}};
    if (v.kind != HD__INT && v.kind != HD__NONE_VALUE) {
        hd__template_fail(r, HD_VALUE, "%s as an end of a slice", hd__kind_names[v.kind]);
    }
    int64_t i = v.kind == HD__INT && v.n < 0 ? v.n + bounds[2] : v.n;
    i = i < bounds[0] ? bounds[0] : i > bounds[1] ? bounds[1] : i;
    return v.kind == HD__INT ? i : otherwise;
}

/* The part of a string from one character to another */
static hd__value eval_substring(hd__value text, int64_t from, int64_t to)
{
    hd__value first = eval_character(text, from), last = eval_character(text, to);
    const char *begin = first.kind ? first.s : text.s + text.n;
    const char *end = last.kind ? last.s : text.s + text.n;
    return HD__TEXT(begin, end > begin ? end - begin : 0);
}

static hd__value eval_slice(hd__run *r, const hd__node *n)
{
    hd__value v = hd__eval(r, n->first), step = n->fourth ? hd__eval(r, n->fourth) : HD__WHOLE(1);
    step = step.kind == HD__NONE_VALUE ? HD__WHOLE(1) : step;
    if (r->failed) {
        return v;
    }
    if (!(hd__is_list(v) || v.kind == HD__STRING) || step.kind != HD__INT || step.n == 0 ||
        (v.kind == HD__STRING && step.n != 1) || step.n == INT64_MIN) {
        return hd__template_fail(r, HD_FORMAT, "heed has no such slice of %s",
                                 hd__kind_names[v.kind]);
    }
    int64_t length = hd__length(v), back = step.n < 0;
    const int64_t bounds[3] = {-back, length - back, length};
    int64_t from = eval_end(r, n->second, bounds[back], bounds);
    int64_t to = eval_end(r, n->third, bounds[!back], bounds);
    if (v.kind == HD__STRING) {
        return eval_substring(v, from, to);
    }
    if (step.n == 1) {
        return (hd__value){v.kind, to > from ? to - from : 0, {.items = v.items + from}};
    }
    hd__value part = hd__list_of(r, length), *items = (hd__value *)part.items;
    for (; items && (back ? from > to : from < to); from += step.n) {
        items[part.n++] = v.items[from];
    }
    part.kind = v.kind;
    return part;
}

/* ---------------------------------------------------------------- made values */

static hd__value eval_list(hd__run *r, const hd__node *n)
{
    int64_t count = 0;
    for (const hd__node *item = n->list; item; item = item->next) {
        count++;
    }
    hd__value list = hd__list_of(r, count), *items = (hd__value *)list.items;
    for (const hd__node *item = n->list; items && item; item = item->next) {
        items[list.n++] = hd__eval(r, item);
    }
    list.kind = n->kind == HD__TUPLE_OF ? HD__TUPLE : HD__LIST;
    return list;
}

static hd__value eval_dict(hd__run *r, const hd__node *n)
{
    hd__table *t = hd__take(r, sizeof *t);
    for (const hd__node *item = n->list; t && item && !r->failed; item = item->next->next) {
        hd__value key = hd__eval(r, item), v = hd__eval(r, item->next);
        if (key.kind != HD__STRING && key.kind != HD__INT) {
            hd__template_fail(r, HD_FORMAT, "a dict with %s as a key", hd__kind_names[key.kind]);
        }
        hd__table_put(r, t, key, v);
    }
    return t ? (hd__value){HD__DICT, 0, {.table = t}} : (hd__value){0};
}

static hd__value eval_choice(hd__run *r, const hd__node *n)
{
    return hd__eval(r, hd__truth(hd__eval(r, n->first)) ? n->second : n->third);
}

/* ---------------------------------------------------------------- statements */

void hd__eval_all(hd__run *r, const hd__node *n)
{
    for (; n && !r->failed && !r->jump; n = n->next) {
        hd__eval(r, n);
    }
}

static hd__value eval_output(hd__run *r, const hd__node *n)
{
    hd__value text = hd__text_of(r, hd__eval(r, n->first));
    if (!r->failed) {
        hd__write(r, text.s, (size_t)text.n);
    }
    return (hd__value){0};
}

static hd__value eval_if(hd__run *r, const hd__node *n)
{
    hd__eval_all(r, hd__truth(hd__eval(r, n->first)) ? n->second : n->third);
    return (hd__value){0};
}

/* Gives a name a value in the innermost frame, or a namespace's attribute. */
static void eval_assign(hd__run *r, const hd__node *target, hd__value v)
{
    if (target->kind == HD__NAME) {
        hd__table_put(r, r->frame, target->value, v);
        return;
    }
    hd__value of = hd__eval(r, target->first);
    if (of.kind == HD__NAMESPACE) {
        hd__table_put(r, of.table, target->value, v);
    } else {
        hd__template_fail(r, HD_VALUE, "an attribute of %s is set: expected a namespace",
                          hd__kind_names[of.kind]);
    }
}

/* The same for one name, or for as many as v has items */
static void eval_targets(hd__run *r, const hd__node *targets, hd__value v)
{
    if (!targets->next) {
        eval_assign(r, targets, v);
        return;
    }
    int64_t i = 0;
    for (const hd__node *t = targets; t; t = t->next) {
        i++;
    }
    if (!hd__is_list(v) || v.n != i) {
        hd__template_fail(r, HD_VALUE, "several names for %s", hd__kind_names[v.kind]);
        return;
    }
    for (i = 0; targets; targets = targets->next) {
        eval_assign(r, targets, v.items[i++]);
    }
}

static hd__value eval_set(hd__run *r, const hd__node *n)
{
    hd__value v = hd__eval(r, n->first);
    if (!r->failed) {
        eval_targets(r, n->list, v);
    }
    return (hd__value){0};
}

/* The items for which the loop's condition is true */
static hd__value eval_chosen(hd__run *r, const hd__node *n, hd__value all)
{
    hd__value list = hd__list_of(r, all.n), *items = (hd__value *)list.items;
    for (int64_t i = 0; items && i < all.n && !r->failed; i++) {
        r->frame->n = 0;
        eval_targets(r, n->list, all.items[i]);
        if (hd__truth(hd__eval(r, n->second))) {
            items[list.n++] = all.items[i];
        }
    }
    return list;
}

static hd__value eval_for(hd__run *r, const hd__node *n)
{
    hd__value items = hd__items_of(r, hd__eval(r, n->first));
    hd__table frame = {.outer = r->frame};
    hd__loop *loop = hd__take(r, sizeof *loop);
    r->frame = &frame;
    items = n->second && loop ? eval_chosen(r, n, items) : items;
    if (loop) {
        *loop = (hd__loop){items.items, items.n, 0};
    }
    for (; !r->failed && loop->i < loop->n && r->jump != 'b'; loop->i++) {
        frame.n = 0;
        r->jump = '\0';
        hd__table_put(r, &frame, HD__LITERAL("loop"), (hd__value){HD__LOOP, 0, {.loop = loop}});
        eval_targets(r, n->list, items.items[loop->i]);
        hd__eval_all(r, n->third);
    }
    r->jump = '\0';
    r->frame = frame.outer;
    if (!r->failed && items.n == 0) {
        hd__eval_all(r, n->fourth);
    }
    return (hd__value){0};
}

static hd__value eval_capture(hd__run *r, const hd__node *n)
{
    hd__table frame = {.outer = r->frame};
    size_t mark = r->out.len;
    r->frame = &frame;
    hd__eval_all(r, n->list);
    r->frame = frame.outer;
    return hd__written(r, mark);
}

static hd__value eval_macro(hd__run *r, const hd__node *n)
{
    hd__table_put(r, r->frame, n->value, (hd__value){HD__MACRO, 0, {.macro = n}});
    return (hd__value){0};
}

static hd__value eval_jump(hd__run *r, const hd__node *n)
{
    r->jump = *n->value.s;
    return (hd__value){0};
}

/* ---------------------------------------------------------------- all nodes */

hd__value hd__eval(hd__run *r, const hd__node *n)
{
    static hd__value (*const evals[])(hd__run *r, const hd__node *n) = {
        [HD__CONSTANT] = eval_constant, [HD__NAME] = eval_name,
        [HD__ATTRIBUTE] = eval_attribute, [HD__ITEM] = eval_item,
        [HD__SLICE] = eval_slice, [HD__CALL] = hd__eval_call,
        [HD__FILTER] = hd__eval_filter, [HD__TEST] = hd__eval_test,
        [HD__UNARY] = hd__eval_unary, [HD__BINARY] = hd__eval_binary,
        [HD__CHOICE] = eval_choice, [HD__LIST_OF] = eval_list,
        [HD__TUPLE_OF] = eval_list, [HD__DICT_OF] = eval_dict,
        [HD__OUTPUT] = eval_output, [HD__IF] = eval_if,
        [HD__FOR] = eval_for, [HD__SET] = eval_set,
        [HD__CAPTURE] = eval_capture, [HD__MACRO_OF] = eval_macro,
        [HD__JUMP] = eval_jump,
    };
    hd__value v = {0};
    const hd__node *outer = r->node;
    if (!n || !hd__spend(r, 1)) {
        return v;
    }
    r->node = n;
    if (++r->depth > HD__DEEPEST) {
        hd__template_fail(r, HD_VALUE, "it is nested too deep");
    } else {
        v = evals[n->kind](r, n);
    }
    r->depth--;
    if (v.kind == HD__STRING || hd__is_list(v)) {
        hd__spend(r, (size_t)v.n / 8); /* whoever takes it may read all of it */
    }
    r->node = r->failed ? r->node : outer;
    return r->failed ? (hd__value){0} : v;
}
