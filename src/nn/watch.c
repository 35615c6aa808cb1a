/* watch.c - warnings of what a constructor made and did not register.
 *
 * A field that is not registered may be meant so: a teacher, a module or a parameter that others
 * have, too. What tells a mistake is that the module's own constructor made it, between
 * hd_module_new and hd_module_ready, that the type has no function that frees it and, of a child,
 * that backward gave it gradients which no optimizer uses. */
#include "nn/nn_internal.h"

#include <string.h>

/* The next word of m's struct that can be an address, from *at on, which moves behind it; 0: there
 * is none. What is registered has a parent, or more holders than a scope. */
static uintptr_t next_word(const hd_module *m, size_t *at)
{
    uintptr_t word = 0;
    while (!word && *at + sizeof word <= m->type->instance_size) {
        memcpy(&word, (const char *)m + *at, sizeof word);
        word = word < 4096 || word % _Alignof(max_align_t) ? 0 : word;
        *at += sizeof word;
    }
    return word;
}

static bool has_field_of(const hd_module *m, const hd_module *child)
{
    size_t at = sizeof *m;
    uintptr_t word = 1;
    while (word && word != (uintptr_t)child) {
        word = next_word(m, &at);
    }
    return word;
}

/* Is this so of a parameter of m or of one below it? It goes down as forwards do, and writes
 * nothing, because other threads may ask at the same time. */
static bool any_parameter(const hd_module *m, bool (*so)(const hd_tensor *p))
{
    bool any = false;
    for (int64_t i = 0; i < m->priv->n && !any; i++) {
        const hd__entry *e = &m->priv->entries[i];
        const hd_module *child = hd__child(e);
        const hd_tensor *p = e->kind == HD__PARAMETER ? *e->tensor : NULL;
        any = child ? any_parameter(child, so) : p && hd__tensor_exists(p) && so(p);
    }
    return any;
}

/* Has p a gradient that no optimizer has looked at? */
static bool got_gradient(const hd_tensor *p)
{
    hd__grad_use *use = hd_requires_grad(p) ? hd__grad_use_of(p, NULL) : NULL;
    return use && atomic_load(&use->written);
}

static const hd_module *outermost(const hd_module *m)
{
    while (m->priv->parent) {
        m = m->priv->parent;
    }
    return m;
}

void hd__watch_child(const hd_module *parent, const hd_module *m)
{
    static atomic_uint_least64_t told;
    const struct hd__module *p = parent->priv;
    bool made_here = m->priv->made > p->made && m->priv->made <= p->ready;
    if (made_here && !parent->type->free && p->training && m->priv->training && hd_grad_mode() &&
        has_field_of(parent, m) && any_parameter(m, got_gradient) &&
        !any_parameter(m, hd__has_optim) && any_parameter(outermost(parent), hd__has_optim) &&
        hd__first(&told, (uintptr_t)parent->type * 31 + (uintptr_t)m->type)) {
        hd_warn("%s: its forward runs a %s that is not registered: it is not trained, saved or "
                "freed (hd_register_module)",
                parent->type->name, m->type->name);
    }
}

void hd__watch_ready(const hd_module *m)
{
    static atomic_uint_least64_t told;
    size_t at = sizeof *m;
    uintptr_t word = m->type->free || !hd__warns() ? 0 : next_word(m, &at);
    for (; word; word = next_word(m, &at)) {
        const hd_tensor *t = hd__scope_alone(word);
        const hd__grad_use *use = t && hd_is_parameter(t) ? hd__grad_use_of(t, NULL) : NULL;
        if (use && use->made >= m->priv->made && hd_requires_grad(t) &&
            hd__first(&told, (uintptr_t)m->type)) {
            hd_warn("%s: its parameter %s is not registered: hd_module_parameters and files leave "
                    "it out, and it is freed with its scope (hd_register_parameter)",
                    m->type->name, HD__DIMS(t));
        }
    }
}
