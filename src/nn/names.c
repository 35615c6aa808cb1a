/* names.c - what is inside a module, under dotted names: iteration and lookup.
 *
 * The order is PyTorch's: a module's own parameters, then its buffers, then its children in turn;
 * each kind in the order of registration. A field that the user has emptied since then has no
 * name. */
#include "nn/nn_internal.h"

#include <string.h>

/* ---------------------------------------------------------------- visiting */

static bool step_into(hd__stack *stack, hd_module *m, const hd__text *path)
{
    if (!hd__grow(&stack->v, &stack->room, stack->n + 1, sizeof *stack->v)) {
        return false;
    }
    stack->v[stack->n++] = (struct hd__step){m, 0, path ? path->len : 0};
    return true;
}

/* The next child of the module on top of the stack; NULL: it has no more. */
static const hd__entry *next_child(hd__stack *stack)
{
    struct hd__step *at = &stack->v[stack->n - 1];
    while (at->next < at->m->priv->n) {
        const hd__entry *e = &at->m->priv->entries[at->next++];
        if (hd__child(e)) {
            return e;
        }
    }
    return NULL;
}

static void add_part(hd__text *path, size_t len, const char *name)
{
    hd__text_cut(path, len);
    hd__text_add(path, ".", len ? 1 : 0);
    hd__text_add(path, name, strlen(name));
}

bool hd__walk(hd_module *m, hd__stack *stack, hd__text *path, hd__visitor f,
              bool (*leave)(void *user), void *user)
{
    stack->n = 0;
    bool on = step_into(stack, m, path) && f(m, path ? "" : NULL, user);
    while (on && stack->n) {
        const hd__entry *e = next_child(stack);
        if (!e) {
            stack->n--;
            on = !leave || leave(user);
            continue;
        }
        if (path) {
            add_part(path, stack->v[stack->n - 1].len, e->name);
        }
        on = !(path && path->failed) && step_into(stack, hd__child(e), path) &&
             f(hd__child(e), path ? path->s : NULL, user);
    }
    return on;
}

typedef struct visit {
    hd__visitor f;
    void *user;
} visit;

static bool visit_one(hd_module *m, const char *name, void *user)
{
    const visit *v = user;
    HD__CALLS_BACK;
    return v->f(m, name, v->user);
}

bool hd_module_visit(hd_module *m, hd__visitor f, void *user)
{
    HD__CALL("hd_module_visit");
    if (!hd__object("m", m)) {
        return false;
    }
    if (!f) {
        return hd__null_arg("f");
    }
    hd__text path = {0};
    hd__stack stack = {0};
    visit v = {f, user};
    bool went_on = hd__walk(m, &stack, &path, visit_one, NULL, &v);
    hd_free(path.s);
    hd_free(stack.v);
    return went_on;
}

/* ---------------------------------------------------------------- collecting */

typedef struct collection {
    int kinds;
    bool once;
    hd__items *items;
} collection;

/* The slot of t, or the free one where it would go. */
static int64_t items_slot(const hd__items *items, const hd_tensor *t)
{
    uint64_t mask = (uint64_t)items->slots - 1,
             at = ((uintptr_t)t >> 4) * 0x9E3779B97F4A7C15u >> 20;
    while (items->table[at & mask] && items->v[items->table[at & mask] - 1].t != t) {
        at++;
    }
    return (int64_t)(at & mask);
}

int64_t hd__items_find(const hd__items *items, const hd_tensor *t)
{
    return items->slots ? items->table[items_slot(items, t)] - 1 : -1;
}

/* Makes a table at most half full with room for one more. */
static bool room_in_table(hd__items *items)
{
    if (2 * (items->filled + 1) <= items->slots) {
        return true;
    }
    hd__items wider = *items;
    wider.slots = items->slots ? 2 * items->slots : 16;
    wider.table = hd__alloc_zeroed((size_t)wider.slots * sizeof *wider.table);
    if (!wider.table) {
        return false;
    }
    for (int64_t i = 0; i < items->slots; i++) {
        if (items->table[i]) {
            wider.table[items_slot(&wider, items->v[items->table[i] - 1].t)] = items->table[i];
        }
    }
    hd_free(items->table);
    *items = wider;
    return true;
}

/* module_name NULL: without names. *made: e's full name, or NULL. */
static bool full_name(const char *module_name, const hd__entry *e, char **made)
{
    hd__text name = {0};
    if (module_name) {
        hd__text_add(&name, module_name, strlen(module_name));
        hd__text_add(&name, ".", *module_name ? 1 : 0);
        hd__text_add(&name, e->name, strlen(e->name));
    }
    if (name.failed) {
        hd_free(name.s);
        return false;
    }
    *made = name.s;
    return true;
}

static bool add_item(const collection *c, const char *module_name, const hd__entry *e)
{
    hd__items *items = c->items;
    hd_tensor *t = *e->tensor;
    if (!t || t == HD_NONE) {
        return true;
    }
    bool again = hd__items_find(items, t) >= 0;
    items->shared |= again;
    if (again && c->once) {
        return true;
    }
    char *name = NULL;
    if (!room_in_table(items) ||
        !hd__grow(&items->v, &items->room, items->n + 1, sizeof(hd__item)) ||
        !full_name(module_name, e, &name)) {
        return false;
    }
    items->v[items->n++] = (hd__item){name, e->kind, e->tensor, t};
    if (!again) {
        items->table[items_slot(items, t)] = items->n;
        items->filled++;
    }
    return true;
}

static bool collect_kind(const collection *c, const hd_module *m, const char *name, int kinds)
{
    for (int64_t i = 0; i < m->priv->n; i++) {
        const hd__entry *e = &m->priv->entries[i];
        if ((e->kind & kinds) && !add_item(c, name, e)) {
            return false;
        }
    }
    return true;
}

static bool collect_module(hd_module *m, const char *name, void *user)
{
    const collection *c = user;
    return collect_kind(c, m, name, c->kinds & HD__PARAMETER) &&
           collect_kind(c, m, name, c->kinds & (HD__BUFFER | HD__TRANSIENT));
}

bool hd__collect(const hd_module *m, int kinds, bool once, hd__items *items)
{
    collection c = {kinds, once, items};
    hd__text path = {0};
    hd__stack stack = {0};
    bool ok = hd__walk((hd_module *)m, &stack, kinds & HD__UNNAMED ? NULL : &path, collect_module,
                       NULL, &c);
    hd_free(path.s);
    hd_free(stack.v);
    return ok;
}

hd_dict *hd__items_names(const hd__items *items)
{
    hd_dict *names = hd_dict_new();
    bool ok = names;
    for (int64_t i = 0; i < items->n && ok; i++) {
        ok = hd_dict_set_int(names, items->v[i].name, i);
    }
    if (!ok) {
        hd_dict_free(names);
    }
    return ok ? names : NULL;
}

void hd__items_free(hd__items *items)
{
    for (int64_t i = 0; i < items->n; i++) {
        hd_free(items->v[i].name);
    }
    hd_free(items->v);
    hd_free(items->table);
}

/* ---------------------------------------------------------------- lists and dictionaries */

hd_list *hd_module_parameters(const hd_module *m)
{
    HD__CALL("hd_module_parameters");
    hd__items found = {0};
    bool ok = hd__object("m", m) && hd__collect(m, HD__PARAMETER | HD__UNNAMED, true, &found);
    hd_list *list = ok ? hd_list_n(0, NULL) : NULL;
    for (int64_t i = 0; list && i < found.n; i++) {
        list = hd_list_append(list, *found.v[i].field) ? list : NULL;
    }
    hd__items_free(&found);
    return list;
}

/* detached: each name has an alias of its own, also where a tensor has several names. */
static hd_dict *named(const hd_module *m, int kinds, bool detached)
{
    if (!hd__object("m", m)) {
        return NULL;
    }
    HD__SCOPE_OR(NULL);
    hd__items found = {0};
    hd_dict *d = hd_dict_new();
    bool ok = d && hd__collect(m, kinds, !detached, &found);
    for (int64_t i = 0; ok && i < found.n; i++) {
        hd_tensor *t = *found.v[i].field;
        ok = hd_dict_set(d, found.v[i].name, detached ? hd_detach(t) : t);
    }
    hd__items_free(&found);
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

static const hd__entry *find_entry(const hd_module *m, const char *name, size_t len, int kinds)
{
    for (int64_t i = 0; i < m->priv->n; i++) {
        const hd__entry *e = &m->priv->entries[i];
        if ((e->kind & kinds) && strncmp(e->name, name, len) == 0 && e->name[len] == '\0') {
            return e;
        }
    }
    return NULL;
}

/* Follows the parts of name except the last one, which it leaves in *name. NULL: there is no such
 * child. */
static const hd_module *descend(const hd_module *m, const char **name)
{
    for (const char *dot; m && (dot = strchr(*name, '.')); *name = dot + 1) {
        const hd__entry *e = find_entry(m, *name, (size_t)(dot - *name), HD__CHILD);
        m = e ? hd__child(e) : NULL;
    }
    return m;
}

const hd__entry *hd__find(const hd_module *m, const char *name, int kinds)
{
    const hd_module *holder = descend(m, &name);
    const hd__entry *e = holder ? find_entry(holder, name, strlen(name), kinds) : NULL;
    bool empty = e && (e->tensor ? !*e->tensor || *e->tensor == HD_NONE : !hd__child(e));
    return empty ? NULL : e;
}

static const hd__entry *lookup(const hd_module *m, const char *name, int kinds, const char *what)
{
    const hd__entry *e = hd__find(m, name, kinds);
    if (!e) {
        hd__fail(HD_VALUE, "%s has no %s \"%s\"", m->type->name, what, name);
    }
    return e;
}

hd_module *hd_module_get(hd_module *m, const char *name)
{
    HD__CALL("hd_module_get");
    if (!hd__object("m", m) || !hd__given("name", name)) {
        return NULL;
    }
    if (!*name) {
        return m;
    }
    const hd__entry *e = lookup(m, name, HD__CHILD, "module");
    return e ? hd__child(e) : NULL;
}

static hd_tensor *get_tensor(hd_module *m, const char *name, int kinds, const char *what)
{
    if (!hd__object("m", m) || !hd__given("name", name)) {
        return NULL;
    }
    const hd__entry *e = lookup(m, name, kinds, what);
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
