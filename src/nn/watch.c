/* watch.c - warnings of what a constructor made and did not register.
 *
 * A field that is not registered may be meant so: a teacher, a module or a parameter that others
 * have, too. What tells a mistake is that the module's own constructor made it, between
 * hd_module_new and hd_module_ready, and that the type has no function that frees it. */
#include "nn/nn_internal.h"

#include <string.h>

static bool registered_at(const hd_module *m, const void *word)
{
    bool any = false;
    for (int64_t i = 0; i < m->priv->n && !any; i++) {
        const hd__entry *e = &m->priv->entries[i];
        any = e->kind == HD__CHILD ? (const void *)e->child == word : (void *)e->tensor == word;
    }
    return any;
}

/* The next word of m's struct that is not registered, from *at on, which moves behind it; 0: none
 * that can be an address. */
static uintptr_t next_word(const hd_module *m, size_t *at)
{
    uintptr_t word = 0;
    while (!word && *at + sizeof word <= m->type->instance_size) {
        const char *place = (const char *)m + *at;
        memcpy(&word, place, sizeof word);
        word = word % _Alignof(max_align_t) || registered_at(m, place) ? 0 : word;
        *at += sizeof word;
    }
    return word;
}

static bool holds_unregistered(const hd_module *m, const hd_module *child)
{
    size_t at = sizeof *m;
    uintptr_t word = 1;
    while (word && word != (uintptr_t)child) {
        word = next_word(m, &at);
    }
    return word;
}

/* Is this so of a parameter of the module or of one below it? */
static bool any_parameter(hd_module *root, bool (*so)(const hd_tensor *p))
{
    bool any = false;
    for (hd_module *m = root; m && !any; m = hd__module_after(root, m)) {
        for (int64_t i = 0; i < m->priv->n && !any; i++) {
            const hd__entry *e = &m->priv->entries[i];
            const hd_tensor *p = e->kind == HD__PARAMETER ? *e->tensor : NULL;
            any = p && hd__tensor_exists(p) && so(p);
        }
    }
    return any;
}

static hd_module *outermost(hd_module *m)
{
    while (m->priv->parent) {
        m = m->priv->parent;
    }
    return m;
}

/* A model has many modules of one type: is this the type that was warned of last? It is now. */
static bool told_of(_Atomic(const hd_module_type *) *last, const hd_module *m)
{
    return atomic_exchange(last, m->type) == m->type;
}

void hd__watch_child(hd_module *parent, hd_module *m)
{
    static _Atomic(const hd_module_type *) last;
    const struct hd__module *p = parent->priv;
    bool made_here = m->priv->made > p->made && m->priv->made <= p->ready;
    if (!m->priv->told && made_here && !parent->type->free && p->training && m->priv->training &&
        hd_grad_mode() && holds_unregistered(parent, m) && any_parameter(m, hd_requires_grad) &&
        !any_parameter(m, hd__has_optim) && any_parameter(outermost(parent), hd__has_optim)) {
        m->priv->told = true;
        if (!told_of(&last, parent)) {
            hd_warn("%s: its forward runs a %s that is not registered: it is not trained, saved or "
                    "freed (hd_register_module)",
                    parent->type->name, m->type->name);
        }
    }
}

void hd__watch_ready(const hd_module *m)
{
    static _Atomic(const hd_module_type *) last;
    size_t at = sizeof *m;
    uintptr_t word = m->type->free ? 0 : next_word(m, &at);
    for (; word; word = next_word(m, &at)) {
        int64_t version;
        const hd_tensor *t = hd__scope_alone(word);
        const hd__grad_use *use = t && hd_is_parameter(t) ? hd__grad_use_of(t, &version) : NULL;
        if (use && use->made >= m->priv->made && hd_requires_grad(t) && !told_of(&last, m)) {
            hd_warn("%s: its parameter %s is not registered: it is not trained or saved, and is "
                    "freed with its scope (hd_register_parameter)",
                    m->type->name, HD__DIMS(t));
        }
    }
}
