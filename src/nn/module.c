/* module.c - makes modules, registers their parameters, buffers and children, and frees them.
 *
 * A failed registration marks the module as failed. So a constructor may register everything
 * without checks, and hd_module_ready checks once at the end. Registering releases the field's old
 * tensor, as hd_assign does. */
#include "base/random/draws.h"
#include "nn/module.h"
#include "nn/module_args.h"
#include "nn/names.h"

#include <string.h>

/* ---------------------------------------------------------------- making */

static bool type_ok(const hd_module_type *type)
{
    return hd__arg_given("type", type) && HD__SIZE_OK(type, "HD_MODULE_TYPE") &&
           hd__arg_given("type->name", type->name) &&
           (type->instance_size >= sizeof(hd_module) ||
            hd_fail(HD_VALUE,
                    "%s: instance_size %zu: expected at least %zu, because the struct begins with "
                    "an hd_module",
                    type->name, type->instance_size, sizeof(hd_module)));
}

hd_module *hd_module_new(const hd_module_type *type)
{
    HD__CALL("hd_module_new");
    if (!type_ok(type)) {
        return NULL;
    }
    hd_module *m = hd__object_new(HD__MODULE, type->instance_size);
    struct hd__module *priv = hd__mem_alloc_zeroed(sizeof *priv);
    if (!m || !priv) {
        hd_free(m);
        hd_free(priv);
        return NULL;
    }
    priv->training = true;
    m->type = type;
    m->priv = priv;
    return m;
}

hd_module *hd_module_ready(hd_module *m)
{
    HD__CALL("hd_module_ready");
    if (!hd__object("m", m)) {
        return NULL;
    }
    if (!m->priv->failed) {
        return m;
    }
    hd_fail(HD_STATE, "a registration in %s failed", m->type->name);
    if (!m->priv->parent) {
        hd_module_free(m);
    }
    return NULL;
}

/* ---------------------------------------------------------------- walking without allocating */

/* Returns m's first child at entry i or later, and stores in that child the way back to m (`above`
 * and `place`). Returns NULL if there is no such child. */
static hd_module *child_from(hd_module *m, int64_t i)
{
    hd_module *child = hd__nn_child_from(m, &i);
    if (child) {
        child->priv->above = m;
        child->priv->place = i;
    }
    return child;
}

hd_module *hd__module_after(const hd_module *root, hd_module *m)
{
    hd_module *next = child_from(m, 0);
    for (; !next && m != root; m = m->priv->above) {
        next = child_from(m->priv->above, m->priv->place + 1);
    }
    return next;
}

bool hd__nn_has_children(const hd_module *m)
{
    int64_t i = 0;
    return hd__nn_child_from(m, &i);
}

/* Frees m, whose children are freed already. If the program uses m later, the error names
 * freed_by. */
static void free_alone(hd_module *m, const char *freed_by)
{
    if (hd__events) {
        hd__events->module_freed(m);
    }
    for (int64_t i = 0; i < m->priv->n; i++) {
        const hd__nn_entry *e = &m->priv->entries[i];
        if (e->kind != HD__CHILD) {
            hd_release(*e->tensor);
        }
        hd_free(e->name);
    }
    hd_free(m->priv->entries);
    hd_free(m->priv);
    hd__mem_retire_object(m, freed_by);
}

HD__TLS uint64_t hd__nn_modules_freed;

/* Frees root, which has no parent, and all modules below it, children first. Calls the `free`
 * functions of their types on the way down, while the children still exist. */
static void module_free(hd_module *root, const char *freed_by)
{
    int64_t entry = 0;
    hd__nn_modules_freed++;
    for (hd_module *m = root, *next; m; m = next) {
        if (entry == 0 && m->type->free) {
            HD__CALLS_BACK;
            m->type->free(m);
        }
        next = child_from(m, entry);
        entry = 0;
        if (!next) {
            next = m == root ? NULL : m->priv->above;
            entry = m->priv->place + 1;
            free_alone(m, next ? "hd_module_free of its parent" : freed_by);
        }
    }
}

/* ---------------------------------------------------------------- registering */

static const char registered_already[] = "is registered already";

static bool module_refuse(const hd_module *m, const char *name, const char *what)
{
    return hd_fail(HD_VALUE, "%s: \"%s\" %s", m->type->name, name, what);
}

static bool name_ok(const hd_module *m, const char *name)
{
    if (!*name || strchr(name, '.')) {
        return module_refuse(m, name, "is not a valid name: expected text without dots");
    }
    for (int64_t i = 0; i < m->priv->n; i++) {
        if (strcmp(m->priv->entries[i].name, name) == 0) {
            return module_refuse(m, name, registered_already);
        }
    }
    return true;
}

/* Checks that the field lies in m's struct, after the hd_module at its start, and that no entry of
 * m has this field yet. Otherwise returns false with an error. */
static bool field_ok(const hd_module *m, const char *name, const void *field)
{
    if (!hd__arg_given("field", field)) {
        return false;
    }
    uintptr_t begin = (uintptr_t)m, at = (uintptr_t)field;
    if (at < begin + sizeof(hd_module) || at - begin > m->type->instance_size - sizeof(void *) ||
        at % _Alignof(void *) != 0) {
        return module_refuse(m, name,
                             "has a field that is not in its module's struct. Pass a member's "
                             "address, such as &m->head");
    }
    for (int64_t i = 0; i < m->priv->n; i++) {
        const hd__nn_entry *e = &m->priv->entries[i];
        if ((const void *)e->tensor == field || (const void *)e->child == field) {
            if (strcmp(e->name, name) == 0) {
                return module_refuse(m, name, registered_already);
            }
            return hd_fail(HD_VALUE,
                           "%s: \"%s\" is registered with the struct field that \"%s\" already "
                           "uses: expected a field of its own",
                           m->type->name, name, e->name);
        }
    }
    return true;
}

static bool module_add(hd_module *m, const char *name, hd__nn_entry e)
{
    struct hd__module *priv = m->priv;
    size_t bytes = strlen(name) + 1;
    if (!hd__text_grow(&priv->entries, &priv->room, priv->n + 1, sizeof e)) {
        return false;
    }
    e.name = hd_alloc(bytes);
    if (e.name) {
        memcpy(e.name, name, bytes);
        priv->entries[priv->n++] = e;
    }
    return e.name;
}

/* Checks that t may be a parameter: a leaf of float32, float64 or bfloat16 that hd_parameter made
 * or that requires grad. Otherwise returns false with an error. */
static bool module_parameter_ok(const hd_module *m, const char *name, const hd_tensor *t)
{
    hd_dtype d = hd_dtype_of(t);
    return (hd__tensor_holds_floats(d) ||
            hd_fail(HD_DTYPE, "%s: \"%s\" is %s: expected float32, float64 or bfloat16",
                    m->type->name, name, hd_dtype_name(d))) &&
           (hd_is_leaf(t) || hd_fail(HD_GRAD,
                                     "%s: \"%s\" %s is the result of an operation: "
                                     "expected a leaf (hd_parameter makes one)",
                                     m->type->name, name, HD__DIMS(t))) &&
           (hd_is_parameter(t) || hd_requires_grad(t) ||
            hd_fail(HD_VALUE,
                    "%s: \"%s\" %s is a plain tensor: expected a parameter "
                    "(hd_parameter makes one)",
                    m->type->name, name, HD__DIMS(t)));
}

static bool register_tensor(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t,
                            hd__nn_kind kind)
{
    if (!hd__object("m", m)) {
        return false;
    }
    bool placed = hd__arg_given("name", name) && field_ok(m, name, field);
    bool ok = placed && name_ok(m, name) && hd__tensor_given("t", t, true) &&
              (t == HD_NONE || kind != HD__PARAMETER || module_parameter_ok(m, name, t));
    ok = ok && (t == HD_NONE || module_add(m, name, (hd__nn_entry){.kind = kind, .tensor = field}));
    if (placed) {
        ok = hd_assign(field, ok ? t : HD_NONE) && ok;
    }
    m->priv->failed |= !ok;
    return ok;
}

bool hd_register_parameter(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t)
{
    HD__CALL("hd_register_parameter");
    return register_tensor(m, name, field, t, HD__PARAMETER);
}

bool hd_register_buffer(hd_module *m, const char *name, hd_tensor **field, hd_tensor *t,
                        bool persistent)
{
    HD__CALL("hd_register_buffer");
    return register_tensor(m, name, field, t, persistent ? HD__BUFFER : HD__TRANSIENT);
}

bool hd_module_set_parameter(hd_module *m, const char *name, hd_tensor *t)
{
    HD__CALL("hd_module_set_parameter");
    const hd__nn_entry *e = hd__nn_find(m, name, HD__PARAMETER, "parameter", NULL);
    if (!e || !hd__nn_tensor_given("t", t) || !module_parameter_ok(m, name, t)) {
        return false;
    }
    const hd_tensor *old = *e->tensor;
    const hd_dtype d = hd_dtype_of(t), was = hd_dtype_of(old);
    const bool stores =
        (d == HD_BFLOAT16 && was == HD_FLOAT32) || (d == HD_FLOAT32 && was == HD_BFLOAT16);
    return (((d == was || stores) && hd__nn_sizes_are(t, hd_ndim(old), hd_sizes(old))) ||
            hd_fail(
                HD_SHAPE,
                "%s: \"%s\": t is %s %s, the parameter %s %s: expected the same dtype and shape",
                m->type->name, name, hd_dtype_name(d), HD__DIMS(t), hd_dtype_name(was),
                HD__DIMS(old))) &&
           hd_assign(e->tensor, t);
}

/* Returns true if child may become a child of m, which may be NULL. Sets *ours to true: if the
 * caller fails later, it must free child. Otherwise sets *ours to false, and returns false with an
 * error: child is not a module, contains m, or has a parent already, which will free it. */
static bool child_ok(const hd_module *m, const hd_module *child, bool *ours)
{
    *ours = false;
    if (!hd__object("child", child)) {
        return false;
    }
    /* A child without children can contain m only if it is m itself, so one step up is enough. */
    bool look_up = hd__nn_has_children(child);
    for (const hd_module *up = m; up; up = look_up ? up->priv->parent : NULL) {
        if (up == child) {
            return hd_fail(HD_STATE, "%s cannot be below itself", child->type->name);
        }
    }
    if (child->priv->parent) {
        return hd_fail(HD_STATE, "%s has a parent already: a %s", child->type->name,
                       child->priv->parent->type->name);
    }
    *ours = true;
    return true;
}

static bool register_child(hd_module *m, const char *name, hd_module **field, hd_module *child,
                           bool own)
{
    bool ours, given = hd__object("m", m);
    bool ok =
        child_ok(given ? m : NULL, child, &ours) && given && hd__arg_given("name", name) &&
        (own || (field_ok(m, name, field) && name_ok(m, name))) &&
        module_add(m, name,
                   (hd__nn_entry){.kind = HD__CHILD, .child = field, .own = own ? child : NULL});
    if (ok && !own) {
        *field = child;
    }
    if (ok) {
        child->priv->parent = m;
    } else if (ours) {
        module_free(child, hd__call_kept());
    }
    if (given) {
        m->priv->failed |= !ok;
    }
    return ok;
}

bool hd_register_module(hd_module *m, const char *name, hd_module **field, hd_module *child)
{
    HD__CALL("hd_register_module");
    return register_child(m, name, field, child, false);
}

bool hd__nn_register_own(hd_module *m, const char *name, hd_module *child)
{
    return register_child(m, name, NULL, child, true);
}

/* ---------------------------------------------------------------- replacing a child */

/* Puts child into entry e. Returns the old child, which has no parent now, or NULL if there was
 * none. */
static hd_module *child_exchange(hd__nn_entry *e, hd_module *child)
{
    hd_module **place = e->child ? e->child : &e->own, *old = *place;
    *place = child;
    if (old) {
        old->priv->parent = NULL;
    }
    return old;
}

bool hd_module_set(hd_module *m, const char *name, hd_module *child)
{
    HD__CALL("hd_module_set");
    bool ours, given = hd__object("m", m);
    hd_module *holder = given ? m : NULL;
    hd__nn_entry *e = given ? hd__nn_find(m, name, HD__CHILD, "module", &holder) : NULL;
    bool ok = child_ok(holder, child, &ours) && e;
    hd_module *old = ok ? child_exchange(e, child) : ours ? child : NULL;
    if (ok) {
        child->priv->parent = holder;
    }
    if (old) {
        module_free(old, hd__call_kept());
    }
    return ok;
}

hd_module *hd_module_take(hd_module *m, const char *name)
{
    HD__CALL("hd_module_take");
    hd__nn_entry *e = hd__nn_find(m, name, HD__CHILD, "module", NULL);
    return e ? child_exchange(e, NULL) : NULL;
}

/* ---------------------------------------------------------------- blank modules */

static HD__TLS bool init_mode = true;

bool hd_set_init_mode(bool on)
{
    bool before = init_mode;
    init_mode = on;
    return before;
}

void hd__nn_register_blank(hd_module *m, const char *name, hd_tensor **field, bool wanted, int n,
                           const int64_t *sizes)
{
    if (m->priv->failed) {
        return; /* hd_module_ready will fail, so nothing more is allocated */
    }
    hd_scope *scope = hd_scope_open();
    hd_tensor *t = scope ? HD_NONE : NULL;
    if (scope && wanted) {
        t = init_mode ? hd_empty_n(HD_FLOAT32, n, sizes) : hd_zeros_n(HD_FLOAT32, n, sizes);
        t = hd_parameter(t, true);
    }
    hd_register_parameter(m, name, field, t);
    hd_scope_close(scope);
}

bool hd__module_draw(hd_module *m)
{
    bool (*draw)(hd_module * m) = m->priv->draw;
    m->priv->draw = NULL;
    return !draw || !init_mode || draw(m);
}

hd_module *hd__module_drawn(hd_module *m, bool (*draw)(hd_module *m))
{
    if (!m || !hd_module_ready(m)) {
        return NULL;
    }
    m->priv->draw = draw ? draw : m->priv->draw;
    HD_NO_GRAD;
    HD__DRAWS_BEGIN(d);
    bool ok = true;
    for (hd_module *each = m; ok && each; each = hd__module_after(m, each)) {
        ok = hd__module_draw(each);
    }
    hd__draws_end(&d, ok);
    if (!ok) {
        hd_module_free(m);
    }
    return ok ? m : NULL;
}

/* ---------------------------------------------------------------- freeing */

void hd_module_free(hd_module *m)
{
    HD__CALL("hd_module_free");
    bool ok = hd__object_may_free("m", m, HD_NONE);
    if (ok && m->priv->parent) {
        hd_fail(HD_STATE, "%s is a child of %s, which frees it", m->type->name,
                m->priv->parent->type->name);
    } else if (ok) {
        module_free(m, hd__call_kept());
    }
}

/* ---------------------------------------------------------------- training */

/* Cannot fail half-way, because hd__module_after allocates nothing. */
bool hd_module_train(hd_module *m, bool on)
{
    HD__CALL("hd_module_train");
    if (!hd__object("m", m)) {
        return false;
    }
    for (hd_module *each = m; each; each = hd__module_after(m, each)) {
        each->priv->training = on;
    }
    return true;
}

bool hd_module_eval(hd_module *m)
{
    HD__CALL("hd_module_eval");
    return hd_module_train(m, false);
}

bool hd_module_training(const hd_module *m)
{
    HD__CALL("hd_module_training");
    return hd__object("m", m) && m->priv->training;
}

/* ---------------------------------------------------------------- debuggers */

const hd_debug_module_layout_table hd_debug_module_layout = {
    .size = sizeof(hd_debug_module_layout_table),
    .type = offsetof(hd_module, type),
    .type_name = offsetof(hd_module_type, name),
    .priv = offsetof(hd_module, priv),
    .training = offsetof(struct hd__module, training),
    .n = offsetof(struct hd__module, n),
    .entries = offsetof(struct hd__module, entries),
    .entry_size = sizeof(hd__nn_entry),
    .entry_name = offsetof(hd__nn_entry, name),
    .entry_kind = offsetof(hd__nn_entry, kind),
    .entry_tensor = offsetof(hd__nn_entry, tensor),
    .entry_child = offsetof(hd__nn_entry, child),
    .entry_own = offsetof(hd__nn_entry, own),
};
