/* module_state.c - changes all tensors of a module at once: load_state_dict, zero_grad,
 * requires_grad_, freeze and to.
 *
 * Everything that can fail comes before the first change. Loading converts and copies its sources
 * first, so that writing needs no memory. */
#include "nn/module_args.h"
#include "nn/names.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- loading */

/* The kinds of names that cannot be loaded. The message lists the names of each kind. */
enum { MISSING, UNEXPECTED, SHAPES, UNEQUAL, LISTS };
typedef struct problems {
    hd__text lists[LISTS];
    hd_dict *report; /* the caller's report: maps each name to its problem; NULL if not wanted */
} problems;

/* The tensor that the dictionary has for one item. An item (names.h) is one name of a tensor of the
 * module. */
typedef struct source {
    /* contiguous and of the item's dtype; NULL if the dictionary has no such tensor */
    hd_tensor *t;
    /* A tensor with several names has several items. Only the source of its first item uses the
     * next two fields, for all these items. */
    bool named;       /* true if the dictionary has one of the tensor's names */
    int64_t supplied; /* 1 + the index of the first of these items that has a t; 0 if none has */
} source;

/* Adds `name` to list `which` and to the report, with the text what + other + rest. If memory runs
 * out, an error is set, which the caller notices by hd_error_count at the end. */
static void note(problems *p, int which, const char *name, const char *what, const char *other,
                 const char *rest)
{
    hd__text text = {0}, *list = &p->lists[which];
    hd__text_format(&text, "%s%s%s", what, other, rest);
    if (text.failed) {
        return;
    }
    hd__text_format(list, "%s\"%s\"", list->len ? ", " : "", name);
    if (which == SHAPES || which == UNEQUAL) {
        hd__text_format(list, " is %s", text.s);
    }
    list->failed |= p->report && !hd_dict_set_string(p->report, name, text.s);
    hd_free(text.s);
}

/* Returns the tensor to copy into item: d's tensor of this name, converted. If the tensor has the
 * wrong shape or is missing, returns NULL and notes the problem. A missing name is no problem if d
 * has another name of the same tensor (`named`). */
static hd_tensor *source_of(const hd_dict *d, const hd__nn_item *item, bool named, problems *p)
{
    hd_dict_kind kind = hd_dict_kind_of(d, item->name);
    if (kind == HD_DICT_MISSING) {
        if (!named) {
            note(p, MISSING, item->name, "missing", "", "");
        }
        return NULL;
    }
    hd_tensor *t = kind == HD_DICT_TENSOR ? hd_dict_get(d, item->name) : NULL;
    if (!t || !hd__nn_sizes_are(t, hd_ndim(item->t), hd_sizes(item->t))) {
        note(p, SHAPES, item->name, t ? HD__DIMS(t) : "no tensor", ", expected ",
             HD__DIMS(item->t));
        return NULL;
    }
    hd_tensor *y = hd_contiguous(hd_to(t, hd_dtype_of(item->t)));
    return y && hd_shares_storage(y, item->t) ? hd_clone(y) : y;
}

static bool same_bytes(const hd_tensor *a, const hd_tensor *b)
{
    return memcmp(hd_data(a), hd_data(b), (size_t)(hd_numel(a) * hd_dtype_size(hd_dtype_of(a)))) ==
           0;
}

/* Notes the sources of a shared parameter that differ. Such a parameter may have a source under
 * each of its names, and all of them must have the same bytes. */
static void note_unequal(const hd__nn_items *items, source *sources, problems *p)
{
    for (int64_t i = 0; i < items->n; i++) {
        int64_t *supplied = &sources[items->v[i].first].supplied;
        if (sources[i].t && !*supplied) {
            *supplied = i + 1;
        } else if (sources[i].t && !same_bytes(sources[i].t, sources[*supplied - 1].t)) {
            note(p, UNEQUAL, items->v[i].name, "unequal to \"", items->v[*supplied - 1].name,
                 "\", which is the same tensor in the module");
        }
    }
}

/* Notes the tensors of d that the module does not have. Skips other entries: strings are a file's
 * metadata, not a part of the state. */
static void note_unexpected(const hd_dict *names, const hd_dict *d, problems *p)
{
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *name = hd_dict_name(d, i);
        if (hd_dict_kind_of(d, name) == HD_DICT_TENSOR &&
            hd_dict_kind_of(names, name) == HD_DICT_MISSING) {
            note(p, UNEXPECTED, name, "unexpected", "", "");
        }
    }
}

/* Fills sources, one for each item, and notes each name that cannot be loaded. */
static void find_sources(const hd_dict *d, const hd__nn_items *items, source *sources, problems *p)
{
    for (int64_t i = 0; i < items->n; i++) {
        bool has = hd_dict_kind_of(d, items->v[i].name) != HD_DICT_MISSING;
        sources[items->v[i].first].named |= has;
    }
    for (int64_t i = 0; i < items->n; i++) {
        const hd__nn_item *item = &items->v[i];
        sources[i].t = source_of(d, item, sources[item->first].named, p);
    }
    note_unequal(items, sources, p);
    note_unexpected(items->names, d, p);
}

/* Checks that nothing in p is an error. Missing and unexpected names are errors only if `strict`.
 * Otherwise returns false with an error: "Linear: missing "a"; unexpected "b", "c"; in the
 * dictionary "d" is (2, 3), expected (2, 4)". */
static bool is_fitting(const hd_module *m, bool strict, const problems *p)
{
    static const char *const before[LISTS] = {"missing ", "unexpected ", "in the dictionary ",
                                              "in the dictionary "};
    bool names = strict && (p->lists[MISSING].len || p->lists[UNEXPECTED].len);
    hd__text text = {0};
    for (int i = names ? MISSING : SHAPES; i < LISTS; i++) {
        if (p->lists[i].len) {
            hd__text_format(&text, "%s%s%s", text.len ? "; " : "", before[i], p->lists[i].s);
        }
    }
    bool only_shapes = !names && !p->lists[UNEQUAL].len, fitting = !text.len && !text.failed;
    if (text.len && !text.failed) {
        hd_fail(only_shapes ? HD_SHAPE : HD_VALUE, "%s: %s", m->type->name, text.s);
    }
    hd_free(text.s);
    return fitting;
}

/* Writes every item that has a source. If one of them is read-only, writes none and returns false
 * with an error. */
static bool write_all(const hd_module *m, const hd__nn_items *items, const source *sources)
{
    bool ok = true;
    for (int64_t i = 0; i < items->n && ok; i++) {
        char arg[300];
        snprintf(arg, sizeof arg, "%s: \"%s\"", m->type->name, items->v[i].name);
        ok = !sources[i].t || hd__tensor_writable(arg, items->v[i].t);
    }
    for (int64_t i = 0; i < items->n && ok; i++) {
        if (sources[i].t) {
            hd__tensor_write_array(items->v[i].t, hd_data(sources[i].t));
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
    if (report && (!hd__object("report", report) || !hd__arg_may_save())) {
        return false;
    }
    problems p = {.report = report ? hd_dict_new() : NULL};
    hd__nn_items found = {0};
    bool ok = hd__nn_collect(m, HD__PARAMETER | HD__BUFFER, &found);
    source *sources = ok ? hd__mem_alloc_zeroed((size_t)(found.n + 1) * sizeof *sources) : NULL;
    if (sources) {
        find_sources(d, &found, sources, &p);
    }
    ok = hd_error_count() == failures;
    if (report) {
        ok = hd__dict_commit(report, p.report, ok);
    }
    ok = ok && is_fitting(m, strict, &p) && write_all(m, &found, sources);
    hd_free(sources);
    for (int i = 0; i < LISTS; i++) {
        hd_free(p.lists[i].s);
    }
    hd__nn_items_free(&found);
    return ok;
}

/* ---------------------------------------------------------------- all parameters at once */

bool hd_module_zero_grad(hd_module *m)
{
    HD__CALL("hd_module_zero_grad");
    hd__nn_items found = {0};
    bool ok = hd__nn_collect(m, HD__PARAMETER | HD__UNNAMED, &found);
    for (int64_t i = 0; i < found.n && ok; i++) {
        ok = hd_set_grad(found.v[i].t, HD_NONE);
    }
    hd__nn_items_free(&found);
    return ok;
}

/* Sets requires_grad of all parameters. On failure, restores the values that it has changed, and
 * returns false with an error. Restoring cannot fail: it needs no memory, because each changed
 * parameter has a node already. */
static bool require_grad_all(const hd__nn_items *parameters, bool on)
{
    int64_t i = 0;
    for (; i < parameters->n; i++) {
        hd_tensor *p = parameters->v[i].t;
        bool changes = hd_requires_grad(p) != on;
        if (!hd_requires_grad_(p, on)) {
            break;
        }
        parameters->v[i].kind = changes ? HD__PARAMETER : 0;
    }
    bool ok = i == parameters->n;
    while (!ok && i-- > 0) {
        if (parameters->v[i].kind) {
            hd_requires_grad_(parameters->v[i].t, !on);
        }
    }
    return ok;
}

bool hd_module_requires_grad_(hd_module *m, bool on)
{
    HD__CALL("hd_module_requires_grad_");
    hd__nn_items found = {0};
    bool ok =
        hd__nn_collect(m, HD__PARAMETER | HD__UNNAMED, &found) && require_grad_all(&found, on);
    hd__nn_items_free(&found);
    return ok;
}

/* True if name is the prefix, or begins with the prefix and a dot. Every name is below "". */
static bool is_below(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return n == 0 || (strncmp(name, prefix, n) == 0 && (name[n] == '.' || !name[n]));
}

/* Fails with HD_VALUE, and returns false. The message lists the beginnings of the parameters'
 * names, up to the first dot, each once. */
static bool refuse_prefix(const hd_module *m, const hd__nn_items *found, const char *prefix)
{
    hd__text words = {0};
    for (int64_t i = 0; i < found->n; i++) {
        const char *name = found->v[i].name;
        size_t n = strcspn(name, ".");
        if (i == 0 || strncmp(name, found->v[i - 1].name, n + 1) != 0) {
            hd__text_format(&words, "%s%.*s", i ? ", " : "", (int)n, name);
        }
    }
    if (!words.failed) {
        hd_fail(HD_VALUE, "%s: no parameter's name begins with \"%s\"%s%s", m->type->name, prefix,
                words.s ? ": expected a name that begins with " : ", because it has no parameters",
                words.s ? words.s : "");
    }
    hd_free(words.s);
    return false;
}

bool hd_module_freeze(hd_module *m, const char *prefix)
{
    HD__CALL("hd_module_freeze");
    hd__nn_items found = {0};
    bool ok = hd__arg_given("prefix", prefix) && hd__nn_collect(m, HD__PARAMETER, &found);
    int64_t n = 0;
    for (int64_t i = 0; i < found.n && ok; i++) {
        if (is_below(found.v[i].name, prefix)) {
            found.v[n++] = found.v[i];
        }
    }
    if (ok && n == 0 && *prefix) {
        ok = refuse_prefix(m, &found, prefix);
    } else if (ok) {
        found.n = n;
        ok = require_grad_all(&found, false);
    }
    hd__nn_items_free(&found);
    return ok;
}

int64_t hd_module_num_parameters(const hd_module *m, bool trainable_only)
{
    HD__CALL("hd_module_num_parameters");
    hd__nn_items found = {0};
    int64_t count = hd__nn_collect(m, HD__PARAMETER | HD__UNNAMED, &found) ? 0 : -1;
    for (int64_t i = 0; i < found.n && count >= 0; i++) {
        const hd__nn_item *item = &found.v[i];
        bool counts = item->first == i && (!trainable_only || hd_requires_grad(item->t));
        count += counts ? hd_numel(item->t) : 0;
    }
    hd__nn_items_free(&found);
    return count;
}

/* ---------------------------------------------------------------- dtype */

/* One tensor in its new dtype. As in PyTorch, a parameter stays the same object, because optimizers
 * and hooks point to it. It takes over the storage of `to`. A buffer is replaced by `to`. */
typedef struct conversion {
    /* the tensor in its new dtype; the tensor itself if it has this dtype already or holds no
     * floats */
    hd_tensor *to;
    /* a parameter that changes: its converted gradient, or HD_NONE if it has no gradient; NULL for
     * other tensors */
    hd_tensor *grad;
} conversion;

static hd_tensor *converted(hd_tensor *t, hd_dtype d)
{
    return hd__tensor_holds_floats(hd_dtype_of(t)) ? hd_to(t, d) : t;
}

static hd_tensor *converted_grad(const hd_module *m, hd_tensor *p, hd_dtype d)
{
    if (!hd_is_leaf(p)) {
        return hd_fail(HD_GRAD, "%s: a parameter %s is the result of an operation: expected a leaf",
                       m->type->name, HD__DIMS(p));
    }
    hd_tensor *g = hd__tensor_may_take_over(p) ? hd_grad(p) : NULL;
    return g == HD_NONE ? g : hd_to(g, d);
}

/* Fills `all` with the conversions. Returns false with an error if one fails. A tensor in several
 * fields is converted once. */
static bool prepare_conversions(const hd_module *m, const hd__nn_items *items, hd_dtype d,
                                conversion *all)
{
    bool ok = true;
    for (int64_t i = 0; i < items->n && ok; i++) {
        const hd__nn_item *item = &items->v[i];
        conversion *c = &all[item->first];
        c->to = item->first == i ? converted(item->t, d) : c->to;
        ok = c->to;
        if (ok && item->kind == HD__PARAMETER && c->to != item->t && !c->grad) {
            c->grad = converted_grad(m, item->t, d);
            ok = c->grad;
        }
    }
    return ok;
}

static bool apply_conversion(const hd__nn_item *item, bool first, const conversion *c)
{
    if (c->grad && first) {
        hd__tensor_take_over(item->t, c->to, c->grad);
    }
    return c->grad || c->to == item->t || hd_assign(item->field, c->to);
}

static bool convert_all(const hd_module *m, const hd__nn_items *items, hd_dtype d)
{
    conversion *all = hd__mem_alloc_zeroed((size_t)(items->n + 1) * sizeof *all);
    bool ok = all && prepare_conversions(m, items, d, all);
    for (int64_t i = 0; i < items->n && ok; i++) {
        const int64_t first = items->v[i].first;
        ok = apply_conversion(&items->v[i], first == i, &all[first]);
    }
    hd_free(all);
    return ok;
}

bool(hd_module_to)(hd_module *m, hd_dtype d)
{
    HD__CALL("hd_module_to");
    if (!hd__object("m", m)) {
        return false;
    }
    if (!hd__tensor_is_float(d)) {
        return hd_fail(HD_DTYPE, "%s to dtype %s: expected float32 or float64", m->type->name,
                       hd_dtype_name(d));
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    int kinds = HD__PARAMETER | HD__BUFFER | HD__TRANSIENT | HD__UNNAMED;
    hd__nn_items found = {0};
    bool ok = hd__nn_collect(m, kinds, &found) && convert_all(m, &found, d);
    hd__nn_items_free(&found);
    return ok;
}
