/* template_json.c - reads JSON into values of a template, and writes values as JSON. */
#include "base/text/json.h"
#include "hf/template.h"

/* ---------------------------------------------------------------- reading */

static hd__template_value json_value(hd__template_run *r, hd__json *j, const char *where);

/* Reads the members up to the object's end, and returns them as a dict. The JSON reader limits the
 * depth, and so this recursion. */
static hd__template_value json_object(hd__template_run *r, hd__json *j, const char *where)
{
    hd__template_table t = {0};
    while (!r->failed && hd__json_next(j) == HD__JSON_NAME) {
        hd__template_value name = hd__template_value_copy(r, j->s, j->len);
        hd__json_next(j);
        hd__template_table_put(r, &t, name, json_value(r, j, where));
    }
    return hd__template_dict_of(r, HD__DICT_VALUE, t);
}

static hd__template_value json_array(hd__template_run *r, hd__json *j, const char *where)
{
    hd__template_table t = {0};
    while (!r->failed && hd__json_next(j) > HD__JSON_END && j->kind != HD__JSON_ARRAY_END) {
        hd__template_push(r, &t, json_value(r, j, where));
    }
    return hd__template_list_of(HD__LIST, t);
}

/* Returns the value that begins with the reader's current event. Fails at a number that is no whole
 * number of 64 bits. */
static hd__template_value json_value(hd__template_run *r, hd__json *j, const char *where)
{
    hd__template_value v = HD__OF(HD__TEMPLATE_INT, 0);
    switch (j->kind) {
    case HD__JSON_OBJECT: return json_object(r, j, where);
    case HD__JSON_ARRAY: return json_array(r, j, where);
    case HD__JSON_STRING: return hd__template_value_copy(r, j->s, j->len);
    case HD__JSON_TRUE: return HD__OF(HD__BOOL_VALUE, 1);
    case HD__JSON_FALSE: return HD__OF(HD__BOOL_VALUE, 0);
    case HD__JSON_NULL: return HD__OF(HD__NONE_VALUE, 0);
    case HD__JSON_NUMBER:
        if (!hd__json_int(j, &v.n)) {
            hd__json_fail(j, where, "a whole number of 64 bits");
            r->failed = true;
        }
        return v;
    default: return HD__NOTHING;
    }
}

hd__template_value hd__template_value_of_json(hd__template_run *r, const char *where,
                                              const char *text, size_t n)
{
    hd__json j;
    hd__json_init(&j, text, n);
    hd__json_next(&j);
    hd__template_value v = json_value(r, &j, where);
    if (!r->failed && j.kind > HD__JSON_END) {
        hd__json_next(&j);
    }
    if (!r->failed && j.kind != HD__JSON_END) {
        hd__json_fail(&j, where, NULL);
        r->failed = true;
    }
    hd__json_free(&j);
    return v;
}

/* ---------------------------------------------------------------- writing */

/* Writes the text before an item of a list or dict: a comma unless the item is the first, and then
 * a line break with an indent, or a blank if indent is negative. */
static void json_between(hd__template_run *r, bool first, int64_t indent, int depth)
{
    hd__template_write(r, ",", !first);
    hd__template_write(r, "\n", indent >= 0);
    for (int64_t i = 0; i < indent * depth && !r->failed; i++) {
        hd__template_write(r, " ", 1);
    }
    hd__template_write(r, " ", !first && indent < 0);
}

static void json_put_text(hd__template_run *r, hd__template_value v)
{
    hd__text quoted = {0};
    hd__text_json(&quoted, v.s, (size_t)v.n, true);
    r->failed = r->failed || quoted.failed;
    hd__template_write(r, quoted.s, quoted.len);
    hd_free(quoted.s);
}

static void json_put_parts(hd__template_run *r, hd__template_value v, int64_t indent, int depth)
{
    bool dict = v.kind == HD__DICT_VALUE;
    int64_t n = hd__template_length(v);
    hd__template_write(r, dict ? "{" : "[", 1);
    for (int64_t i = 0; i < n && !r->failed; i++) {
        const hd__template_value *pair = dict ? &v.table->items[2 * i] : NULL;
        json_between(r, i == 0, indent, depth + 1);
        if (dict) {
            /* A key must be a string. At depth HD__DEEPEST, this call refuses all other values. */
            hd__template_write_json(r, pair[0], indent, HD__DEEPEST);
            hd__template_write(r, ": ", 2);
        }
        hd__template_write_json(r, dict ? pair[1] : v.items[i], indent, depth + 1);
    }
    if (n > 0 && indent >= 0) {
        json_between(r, true, indent, depth);
    }
    hd__template_write(r, dict ? "}" : "]", 1);
}

void hd__template_write_json(hd__template_run *r, hd__template_value v, int64_t indent, int depth)
{
    hd__template_spend(r, 1);
    if (v.kind == HD__STRING) {
        json_put_text(r, v);
    } else if (depth >= HD__DEEPEST || r->failed) {
        hd__template_fail_at(r, HD_FORMAT,
                             "tojson: the values are nested too deep, or a key is no string");
    } else if (v.kind == HD__LIST || v.kind == HD__DICT_VALUE) {
        json_put_parts(r, v, indent, depth);
    } else if (v.kind == HD__TEMPLATE_INT || v.kind == HD__BOOL_VALUE || v.kind == HD__NONE_VALUE) {
        hd__template_value text = v.kind == HD__TEMPLATE_INT ? hd__template_value_text(r, v)
                                  : v.kind == HD__NONE_VALUE ? HD__LITERAL("null")
                                  : v.n                      ? HD__LITERAL("true")
                                                             : HD__LITERAL("false");
        hd__template_write(r, text.s, (size_t)text.n);
    } else {
        hd__template_fail_at(r, HD_VALUE, "tojson cannot write %s",
                             hd__template_kind_names[v.kind]);
    }
}
