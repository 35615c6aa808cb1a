/* stray_modules.c - in debug mode, warns of a module that another module's forward runs, but that
 * is neither registered nor freed.
 *
 * A forward may run a trained module without a parent on purpose: a discriminator with an optimizer
 * of its own, or a net whose features are compared. Such a program frees this module. So the
 * warning comes at the end of the program, for modules that were not freed. */
#include <stdio.h>

#include "base/error/lasting.h"
#include "base/start.h"
#include "diagnose/diagnose_internal.h"
#include "nn/names.h"

/* The list of stray modules, protected by hd__start_diagnose_lock. When another module's forward
 * ran a stray module, the module had no parent, was in training mode, and had a parameter that
 * requires grad. A module leaves the list when it is freed. */
static hd_module *strays;

/* True if m or one of its descendants has a parameter that requires grad. */
static bool is_trained(hd_module *m)
{
    hd__nn_walk w = {.root = m};
    bool trained = false;
    while (!trained && hd__nn_walk_next(&w)) {
        for (int64_t i = 0; i < w.m->priv->n && !trained; i++) {
            const hd__nn_entry *e = &w.m->priv->entries[i];
            const hd_tensor *t = e->kind == HD__PARAMETER ? *e->tensor : NULL;
            trained = t && hd__tensor_exists(t) && hd_requires_grad(t);
        }
    }
    return hd__nn_walk_end(&w) && trained;
}

static void note_stray(const char *around, hd_module *m)
{
    char text[200];
    const char *a = strchr("AEIOU", *m->type->name) ? "an" : "a";
    snprintf(text, sizeof text, "%.90s runs %s %.90s", around, a, m->type->name);
    const char *lasting = hd__lasting_text(text);
    HD__LOCKED(hd__start_diagnose_lock);
    if (!m->priv->stray.text) {
        m->priv->stray = (hd__nn_stray){.text = lasting, .next = strays};
        if (strays) {
            strays->priv->stray.prev = m;
        }
        strays = m;
    }
}

void hd__hear_forward_begins(const hd_module *around, hd_module *m, hd_tensor *x)
{
    if (hd__event_watching() && around && !m->priv->parent && m->priv->training && is_trained(m)) {
        note_stray(around->type->name, m);
    }
    hd__trace_tell_forward(m->type->name, x);
}

void hd__hear_module_freed(const hd_module *m)
{
    HD__LOCKED(hd__start_diagnose_lock);
    const hd__nn_stray *s = &m->priv->stray;
    if (s->text) {
        *(s->prev ? &s->prev->priv->stray.next : &strays) = s->next;
    }
    if (s->next) {
        s->next->priv->stray.prev = s->prev;
    }
}

/* Returns the text of a stray module that still has no parent and was not reported; NULL if there
 * is none. Marks all strays with this text as reported. */
static const char *take_stray(void)
{
    HD__LOCKED(hd__start_diagnose_lock);
    const char *text = NULL;
    for (const hd_module *m = strays; m; m = m->priv->stray.next) {
        hd__nn_stray *s = &m->priv->stray;
        if (!s->told && !m->priv->parent && (!text || s->text == text)) {
            text = s->text;
            s->told = true;
        }
    }
    return text;
}

void hd__diagnose_tell_strays(void)
{
    for (const char *text; (text = take_stray());) {
        hd_warn("%s that has no parent: hd_module_parameters and hd_module_state_dict leave it "
                "out, and nothing has freed it. Register it with hd_register_module; if it is to "
                "stay apart, free it with hd_module_free",
                text);
    }
}
