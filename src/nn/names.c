/* names.c - iterates over a module's tensors and submodules, and finds them by their dotted names.
 *
 * The order is PyTorch's: a module's own parameters, then its buffers, then its children one after
 * another; each kind in the order of registration. A field that the user has set to NULL is
 * skipped. */
#include "nn/names.h"

#include <string.h>

/* ---------------------------------------------------------------- visiting */

/* Makes m the current module of the walk, and pushes it on the stack. Returns false if memory runs
 * out. */
static bool step_into(hd__nn_walk *w, hd_module *m)
{
    w->path.failed |= !hd__text_grow(&w->v, &w->room, w->n + 1, sizeof *w->v);
    if (w->path.failed) {
        return false;
    }
    w->m = m;
    w->v[w->n++] = (struct hd__nn_step){m, 0, w->path.len};
    return true;
}

/* Sets w->path to the path of the innermost module, a dot and `name`. */
static void walk_name(hd__nn_walk *w, const char *name)
{
    size_t len = w->v[w->n - 1].len;
    hd__text_cut(&w->path, len);
    hd__text_format(&w->path, "%s%s", len ? "." : "", name);
}

bool hd__nn_walk_next(hd__nn_walk *w)
{
    if (!w->n) {
        return step_into(w, w->root);
    }
    for (; w->n; w->n--) {
        struct hd__nn_step *step = &w->v[w->n - 1];
        hd_module *child = hd__nn_child_from(step->m, &step->next);
        if (child) {
            w->at = &step->m->priv->entries[step->next++];
            if (w->named) {
                walk_name(w, w->at->name);
            }
            return step_into(w, child);
        }
    }
    return false;
}

bool hd__nn_walk_end(hd__nn_walk *w)
{
    hd_free(w->path.s);
    hd_free(w->v);
    return !w->path.failed;
}

/* Repairs the walk's stack after the visitor has freed modules and perhaps put others in their
 * places. Drops each module of the stack that is no longer where the walk found it, and all modules
 * below it. */
static void walk_cut(hd__nn_walk *w)
{
    for (int64_t i = 1; i < w->n; i++) {
        const struct hd__nn_step *above = &w->v[i - 1];
        if (hd__nn_child(&above->m->priv->entries[above->next - 1]) != w->v[i].m) {
            w->n = i;
        }
    }
}

static bool call_visitor(const hd__nn_walk *w,
                         bool (*f)(hd_module *m, const char *name, void *user), void *user)
{
    HD__CALLS_BACK;
    return f(w->m, w->at ? w->path.s : "", user);
}

bool hd_module_visit(hd_module *m, bool (*f)(hd_module *m, const char *name, void *user),
                     void *user)
{
    HD__CALL("hd_module_visit");
    if (!hd__object("m", m) || (!f && !hd__arg_null_arg("f"))) {
        return false;
    }
    hd__nn_walk w = {.root = m, .named = true};
    bool on = true;
    while (on && hd__nn_walk_next(&w)) {
        uint64_t freed = hd__nn_modules_freed;
        on = call_visitor(&w, f, user) && hd__object("m", m);
        if (on && freed != hd__nn_modules_freed) {
            walk_cut(&w);
        }
    }
    return hd__nn_walk_end(&w) && on;
}

/* ---------------------------------------------------------------- collecting */

/* Adds to items the tensor t of entry e in the walk's current module. Returns false with an error
 * if memory runs out. */
static bool add_item(hd__nn_items *items, hd__nn_walk *w, const hd__nn_entry *e, hd_tensor *t)
{
    const char *name = NULL;
    if (items->names) {
        walk_name(w, e->name);
        if (w->path.failed || !hd_dict_set_int(items->names, w->path.s, items->n)) {
            return false;
        }
        name = hd_dict_name(items->names, -1);
    }
    if (!hd__text_grow(&items->v, &items->room, items->n + 1, sizeof *items->v)) {
        return false;
    }
    items->v[items->n++] = (hd__nn_item){name, e->kind, e->tensor, t, 0};
    return true;
}

static bool collect_kind(hd__nn_items *items, hd__nn_walk *w, int kinds)
{
    bool ok = true;
    for (int64_t i = 0; i < w->m->priv->n && ok; i++) {
        const hd__nn_entry *e = &w->m->priv->entries[i];
        hd_tensor *t = e->kind & kinds ? *e->tensor : NULL;
        ok = !t || t == HD_NONE || add_item(items, w, e, t);
    }
    return ok;
}

/* Sets `first` of each item. Returns false with an error if memory runs out. A hash table, at most
 * half full, maps a tensor's address to 1 + the index of its first item. */
static bool find_first(hd__nn_items *items)
{
    int64_t slots = 16;
    while (slots < 2 * items->n) {
        slots *= 2;
    }
    int64_t *table = hd__mem_alloc_zeroed((size_t)slots * sizeof *table);
    for (int64_t i = 0; table && i < items->n; i++) {
        const hd_tensor *t = items->v[i].t;
        uint64_t at = ((uintptr_t)t >> 4) * 0x9E3779B97F4A7C15u >> 20;
        int64_t *slot = &table[at & ((uint64_t)slots - 1)];
        while (*slot && items->v[*slot - 1].t != t) {
            slot = &table[++at & ((uint64_t)slots - 1)];
        }
        *slot = *slot ? *slot : i + 1;
        items->v[i].first = *slot - 1;
    }
    bool ok = table;
    hd_free(table);
    return ok;
}

bool hd__nn_collect(const hd_module *m, int kinds, hd__nn_items *items)
{
    if (!hd__object("m", m)) {
        return false;
    }
    bool named = !(kinds & HD__UNNAMED);
    items->names = named ? hd_dict_new() : NULL;
    hd__nn_walk w = {.root = (hd_module *)m, .named = named};
    bool ok = !named || items->names;
    while (ok && hd__nn_walk_next(&w)) {
        ok = collect_kind(items, &w, kinds & HD__PARAMETER) &&
             collect_kind(items, &w, kinds & (HD__BUFFER | HD__TRANSIENT));
    }
    return hd__nn_walk_end(&w) && ok && find_first(items);
}

void hd__nn_items_free(hd__nn_items *items)
{
    hd_dict_free(items->names);
    hd_free(items->v);
}

/* ---------------------------------------------------------------- lists and dictionaries */

hd_list *hd_module_parameters(const hd_module *m)
{
    HD__CALL("hd_module_parameters");
    hd__nn_items found = {0};
    bool ok = hd__nn_collect(m, HD__PARAMETER | HD__UNNAMED, &found);
    hd_list *list = ok ? hd_list_n(0, NULL) : NULL;
    for (int64_t i = 0; list && i < found.n; i++) {
        if (found.v[i].first == i && !hd_list_append(list, found.v[i].t)) {
            list = NULL;
        }
    }
    hd__nn_items_free(&found);
    return list;
}

/* Returns a dictionary of the tensors whose kind is in the mask `kinds`; NULL on error. If
 * `detached`, each name gets an alias of its own, even if several names share a tensor. Otherwise a
 * shared tensor appears once, under its first name. */
static hd_dict *named(const hd_module *m, int kinds, bool detached)
{
    HD__SCOPE_OR(NULL);
    hd__nn_items found = {0};
    hd_dict *d = hd__nn_collect(m, kinds, &found) ? hd_dict_new() : NULL;
    bool ok = d;
    for (int64_t i = 0; ok && i < found.n; i++) {
        const hd__nn_item *item = &found.v[i];
        if (detached || item->first == i) {
            ok = hd_dict_set(d, item->name, detached ? hd_detach(item->t) : item->t);
        }
    }
    hd__nn_items_free(&found);
    if (!ok) {
        hd_dict_free(d);
    }
    return ok ? d : NULL;
}

hd_dict *hd_module_named_parameters(const hd_module *m)
{
    HD__CALL("hd_module_named_parameters");
    return named(m, HD__PARAMETER, false);
}

hd_dict *hd_module_named_buffers(const hd_module *m)
{
    HD__CALL("hd_module_named_buffers");
    return named(m, HD__BUFFER | HD__TRANSIENT, false);
}

hd_dict *hd_module_state_dict(const hd_module *m)
{
    HD__CALL("hd_module_state_dict");
    return named(m, HD__PARAMETER | HD__BUFFER, true);
}

/* ---------------------------------------------------------------- lookup */

static hd__nn_entry *find_entry(const hd_module *m, const char *name, size_t len, int kinds)
{
    for (int64_t i = 0; i < m->priv->n; i++) {
        hd__nn_entry *e = &m->priv->entries[i];
        if ((e->kind & kinds) && strncmp(e->name, name, len) == 0 && e->name[len] == '\0') {
            return e;
        }
    }
    return NULL;
}

/* Follows *name from m, part by part, but not its last part. Returns the module that it reaches,
 * and sets *name to the last part. Returns NULL without an error if a part that it follows names no
 * child. */
static hd_module *descend(hd_module *m, const char **name)
{
    for (const char *dot; m && (dot = strchr(*name, '.')); *name = dot + 1) {
        const hd__nn_entry *e = find_entry(m, *name, (size_t)(dot - *name), HD__CHILD);
        m = e ? hd__nn_child(e) : NULL;
    }
    return m;
}

hd__nn_entry *hd__nn_find(const hd_module *m, const char *name, int kinds, const char *what,
                          hd_module **holder)
{
    if (!hd__object("m", m) || !hd__arg_given("name", name)) {
        return NULL;
    }
    const char *last = name;
    hd_module *has = descend((hd_module *)m, &last);
    hd__nn_entry *e = has ? find_entry(has, last, strlen(last), kinds) : NULL;
    if (!e || (!holder && (e->tensor ? !*e->tensor || *e->tensor == HD_NONE : !hd__nn_child(e)))) {
        return hd_fail(HD_VALUE, "%s has no %s \"%s\"", m->type->name, what, name);
    }
    if (holder) {
        *holder = has;
    }
    return e;
}

hd_module *hd_module_get(hd_module *m, const char *name)
{
    HD__CALL("hd_module_get");
    if (!hd__object("m", m) || !hd__arg_given("name", name)) {
        return NULL;
    }
    if (!*name) {
        return m;
    }
    const hd__nn_entry *e = hd__nn_find(m, name, HD__CHILD, "module", NULL);
    return e ? hd__nn_child(e) : NULL;
}

static hd_tensor *get_tensor(hd_module *m, const char *name, int kinds, const char *what)
{
    const hd__nn_entry *e = hd__nn_find(m, name, kinds, what, NULL);
    return e ? *e->tensor : NULL;
}

hd_tensor *hd_module_get_parameter(hd_module *m, const char *name)
{
    HD__CALL("hd_module_get_parameter");
    return get_tensor(m, name, HD__PARAMETER, "parameter");
}

hd_tensor *hd_module_get_buffer(hd_module *m, const char *name)
{
    HD__CALL("hd_module_get_buffer");
    return get_tensor(m, name, HD__BUFFER | HD__TRANSIENT, "buffer");
}
