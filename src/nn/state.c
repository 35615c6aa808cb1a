/* state.c - all tensors of a module together: loading, gradients, dtype.
 *
 * Everything that can fail comes before the first write. Loading converts and copies its sources
 * first, so that writing needs no memory. */
#include "nn/nn_internal.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- loading */

/* What does not fit: the lists for the message, and the caller's report. */
enum { MISSING, UNEXPECTED, SHAPES, UNEQUAL, LISTS };
typedef struct problems {
    hd__text lists[LISTS];
    hd_dict *report; /* NULL: not wanted */
    bool failed;     /* the report could not be written */
} problems;

static size_t state_bytes(const hd_tensor *x)
{
    return (size_t)(hd_numel(x) * hd_dtype_size(hd_dtype_of(x)));
}

static void note(problems *p, int which, const char *name, const char *what)
{
    hd__text *list = &p->lists[which];
    hd__text_format(list, "%s\"%s\"", list->len ? ", " : "", name);
    if (which == SHAPES || which == UNEQUAL) {
        hd__text_format(list, " is %s", what);
    }
    if (p->report && !hd_dict_set_string(p->report, name, what)) {
        p->failed = true;
    }
}

/* A tensor that is shared has several items. named[k], where k is the first of them: has d one of
 * their names? */
static void note_named(const hd_dict *d, const hd__items *items, bool *named)
{
    for (int64_t i = 0; i < items->n; i++) {
        if (hd_dict_kind_of(d, items->v[i].name) != HD_DICT_MISSING) {
            named[hd__items_find(items, items->v[i].t)] = true;
        }
    }
}

/* The tensor to copy from into item, contiguous and of its dtype; NULL if there is none. named: has
 * d one of the names of item's tensor? */
static hd_tensor *source_of(const hd_dict *d, const hd__item *item, bool named, problems *p)
{
    hd_dict_kind kind = hd_dict_kind_of(d, item->name);
    hd_tensor *x = *item->field;
    if (kind == HD_DICT_MISSING) {
        if (!named) {
            note(p, MISSING, item->name, "missing");
        }
        return NULL;
    }
    hd_tensor *t = kind == HD_DICT_TENSOR ? hd_dict_get(d, item->name) : NULL;
    if (!t || !hd__same_sizes(t, x)) {
        hd__text what = {0};
        hd__text_format(&what, "%s, expected %s", t ? HD__DIMS(t) : "no tensor", HD__DIMS(x));
        note(p, SHAPES, item->name, what.failed ? "mis-shaped" : what.s);
        hd_free(what.s);
        return NULL;
    }
    hd_tensor *y = hd_contiguous(hd_to(t, hd_dtype_of(x)));
    return y && hd_shares_storage(y, x) ? hd_clone(y) : y;
}

/* The sources are those of items a and b, which are the same tensor. */
static void note_if_unequal(const hd__item *a, const hd_tensor *source_a, const hd__item *b,
                            const hd_tensor *source_b, problems *p)
{
    if (memcmp(hd_data(source_a), hd_data(source_b), state_bytes(source_a)) == 0) {
        return;
    }
    hd__text what = {0};
    hd__text_format(&what, "unequal to \"%s\", which is the same tensor in the module", a->name);
    note(p, UNEQUAL, b->name, what.failed ? "unequal" : what.s);
    hd_free(what.s);
}

/* A shared parameter may have a source under each of its names. These must have the same bytes as
 * the first of them. first[k], where k is the tensor's first item: 1 + the item of that one. */
static void note_unequal(const hd__items *items, hd_tensor *const *sources, int64_t *first,
                         problems *p)
{
    for (int64_t i = 0; i < items->n; i++) {
        if (sources[i]) {
            int64_t *at = &first[hd__items_find(items, items->v[i].t)];
            if (*at) {
                note_if_unequal(&items->v[*at - 1], sources[*at - 1], &items->v[i], sources[i], p);
            } else {
                *at = i + 1;
            }
        }
    }
}

/* Looks at tensors only: a file's metadata, which a dict holds as strings, is no part of the
 * state. */
static void note_unexpected(const hd_dict *names, const hd_dict *d, problems *p)
{
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR &&
            hd_dict_kind_of(names, name) == HD_DICT_MISSING) {
            note(p, UNEXPECTED, name, "unexpected");
        }
    }
}

/* Makes sources, one for each item, and notes what does not fit. False: memory ran out. */
static bool find_sources(const hd_dict *d, const hd__items *items, hd_tensor **sources, problems *p)
{
    hd_dict *names = hd__items_names(items);
    bool *named = hd__alloc_zeroed((size_t)items->n + 1);
    int64_t *first = hd__alloc_zeroed(((size_t)items->n + 1) * sizeof *first);
    bool ok = names && named && first;
    if (ok) {
        note_named(d, items, named);
        for (int64_t i = 0; i < items->n; i++) {
            bool any = named[hd__items_find(items, items->v[i].t)];
            sources[i] = source_of(d, &items->v[i], any, p);
        }
        note_unequal(items, sources, first, p);
        note_unexpected(names, d, p);
    }
    hd_dict_free(names);
    hd_free(named);
    hd_free(first);
    return ok;
}

/* "missing "a"; unexpected "b", "c"; in the dictionary "d" is (2, 3), expected (2, 4)". names: are
 * those that are missing or unexpected an error? */
static bool report_error(const hd_module *m, bool names, const problems *p)
{
    static const char *const before[LISTS] = {"missing ", "unexpected ", "in the dictionary ",
                                              "in the dictionary "};
    hd__text text = {0};
    for (int i = names ? MISSING : SHAPES; i < LISTS; i++) {
        if (p->lists[i].len) {
            hd__text_format(&text, "%s%s", text.len ? "; " : "", before[i]);
            hd__text_add(&text, p->lists[i].s, p->lists[i].len);
        }
    }
    bool only_shapes = !names && !p->lists[UNEQUAL].len;
    if (!text.failed) {
        hd__fail(only_shapes ? HD_SHAPE : HD_VALUE, "%s: %s", m->type->name, text.s);
    }
    hd_free(text.s);
    return false;
}

static bool is_fitting(const hd_module *m, bool strict, const problems *p)
{
    bool failed = p->failed;
    for (int i = 0; i < LISTS; i++) {
        failed |= p->lists[i].failed;
    }
    bool names = strict && (p->lists[MISSING].len || p->lists[UNEXPECTED].len);
    if (!failed && (names || p->lists[SHAPES].len || p->lists[UNEQUAL].len)) {
        return report_error(m, names, p);
    }
    return !failed;
}

/* Writes all of them or none: what may not be written is found before. */
static bool write_all(const hd_module *m, const hd__items *items, hd_tensor *const *sources)
{
    bool ok = true;
    for (int64_t i = 0; i < items->n && ok; i++) {
        char where[300];
        snprintf(where, sizeof where, "hd_module_load_state_dict: %s: \"%s\"", m->type->name,
                 items->v[i].name);
        const char *before = hd__call_swap(where); /* nothing remembers it: this only looks */
        ok = !sources[i] || hd__writable(*items->v[i].field);
        hd__call_swap(before);
    }
    for (int64_t i = 0; i < items->n && ok; i++) {
        if (sources[i]) {
            hd__write_array(*items->v[i].field, hd_data(sources[i]));
        }
    }
    return ok;
}

bool hd_module_load_state_dict(hd_module *m, const hd_dict *d, bool strict, hd_dict *report)
{
    HD__CALL("hd_module_load_state_dict");
    if (!hd__object("m", m) || !hd__object("d", d)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    uint64_t failures = hd_error_count();
    if (report && (!hd__object("report", report) || !hd__may_save(hd__call))) {
        return false;
    }
    problems p = {.report = report ? hd_dict_new() : NULL};
    p.failed = report && !p.report;
    hd__items found = {0};
    bool ok = hd__collect(m, HD__PARAMETER | HD__BUFFER, false, &found);
    hd_tensor **sources = ok ? hd__alloc_items(found.n + 1, sizeof(hd_tensor *)) : NULL;
    ok = sources && find_sources(d, &found, sources, &p) && hd_error_count() == failures;
    if (report) {
        p.failed |= !hd__dict_commit(report, p.report, ok && !p.failed);
    }
    ok = ok && is_fitting(m, strict, &p) && write_all(m, &found, sources);
    hd_free(sources);
    for (int i = 0; i < LISTS; i++) {
        hd_free(p.lists[i].s);
    }
    hd__items_free(&found);
    return ok;
}

/* ---------------------------------------------------------------- all parameters at once */

bool hd_module_zero_grad(hd_module *m)
{
    HD__CALL("hd_module_zero_grad");
    hd__items found = {0};
    bool ok = hd__object("m", m) && hd__collect(m, HD__PARAMETER | HD__UNNAMED, true, &found);
    for (int64_t i = 0; i < found.n && ok; i++) {
        ok = hd_set_grad(*found.v[i].field, HD_NONE);
    }
    hd__items_free(&found);
    return ok;
}

/* Going back from what succeeded cannot fail: a leaf keeps the place for its gradient. */
static bool require_grad_all(const hd__items *parameters, bool on)
{
    int64_t i = 0;
    for (; i < parameters->n; i++) {
        hd_tensor *p = *parameters->v[i].field;
        bool changes = hd_requires_grad(p) != on;
        if (!hd_requires_grad_(p, on)) {
            break;
        }
        parameters->v[i].kind = changes ? HD__PARAMETER : 0;
    }
    bool ok = i == parameters->n;
    while (!ok && i-- > 0) {
        if (parameters->v[i].kind) {
            hd_requires_grad_(*parameters->v[i].field, !on);
        }
    }
    return ok;
}

bool hd_module_requires_grad_(hd_module *m, bool on)
{
    HD__CALL("hd_module_requires_grad_");
    hd__items found = {0};
    bool ok = hd__object("m", m) && hd__collect(m, HD__PARAMETER | HD__UNNAMED, true, &found) &&
              require_grad_all(&found, on);
    hd__items_free(&found);
    return ok;
}

/* ---------------------------------------------------------------- dtype */

/* The tensor of item converted to d, with its gradient; the tensor itself if nothing changes. */
static hd_tensor *converted(const hd__item *item, hd_dtype d)
{
    hd_tensor *t = *item->field;
    hd_dtype from = hd_dtype_of(t);
    if (from == d || !hd__is_float(from)) {
        return t;
    }
    hd_tensor *y = hd_to(hd_detach(t), d);
    if (item->kind != HD__PARAMETER) {
        return y;
    }
    y = hd_parameter(y, hd_requires_grad(t));
    hd_tensor *grad = hd_grad(t);
    if (grad != HD_NONE && !(y && hd_set_grad(y, hd_to(grad, d)))) {
        return NULL;
    }
    return y;
}

/* Puts what became of its tensor, to[], into every field, so that a shared parameter stays
 * shared. */
static bool replace(const hd__items *once, const hd__items *fields, hd_tensor *const *to)
{
    bool ok = true;
    for (int64_t i = 0; i < fields->n; i++) {
        hd_tensor *t = to[hd__items_find(once, fields->v[i].t)];
        if (t != fields->v[i].t) {
            ok = hd_assign(fields->v[i].field, t) && ok;
        }
    }
    return ok;
}

static bool convert_all(const hd__items *once, const hd__items *fields, hd_dtype d)
{
    hd_tensor **to = hd__alloc_items(once->n + 1, sizeof(hd_tensor *));
    bool ok = to;
    for (int64_t i = 0; i < once->n && ok; i++) {
        to[i] = converted(&once->v[i], d);
        ok = to[i];
    }
    ok = ok && replace(once, fields, to);
    hd_free(to);
    return ok;
}

bool hd_module_to(hd_module *m, hd_dtype d)
{
    HD__CALL("hd_module_to");
    if (!hd__object("m", m)) {
        return false;
    }
    if (!hd__is_float(d)) {
        return hd__fail(HD_DTYPE, "%s: %s: expected float32 or float64", m->type->name,
                        hd_dtype_name(d));
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    int kinds = HD__PARAMETER | HD__BUFFER | HD__TRANSIENT | HD__UNNAMED;
    hd__items once = {0}, fields = {0};
    bool ok = hd__collect(m, kinds, true, &once) && hd__collect(m, kinds, false, &fields) &&
              convert_all(&once, &fields, d);
    hd__items_free(&once);
    hd__items_free(&fields);
    return ok;
}
