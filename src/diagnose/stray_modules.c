/* stray_modules.c - in debug mode, the warning of a module that a forward runs and that nothing
 * holds.
 *
 * A module without a parent, which is in training and has a parameter that requires grad, may run
 * in another one's forward on purpose: a discriminator that has an optimizer of its own, or a net
 * whose features are compared. Who means it frees that module. So the warning waits for the end,
 * and tells of what was neither registered nor freed. */
#include <stdio.h>

#include "base/error/lasting.h"
#include "diagnose/diagnose_internal.h"
#include "nn/names.h"

/* The list of all modules that ran so and are not freed; hd__diagnose_lock protects it. */
static hd_module *strays;

/* Does m, or a module below it, have a parameter that requires grad? */
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
    HD__LOCKED(hd__diagnose_lock);
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
    HD__LOCKED(hd__diagnose_lock);
    const hd__nn_stray *s = &m->priv->stray;
    if (s->text) {
        *(s->prev ? &s->prev->priv->stray.next : &strays) = s->next;
    }
    if (s->next) {
        s->next->priv->stray.prev = s->prev;
    }
}

/* The text of a stray that nothing holds and that was not told of; NULL: there is none. From now on
 * it counts as told of, and so do all others of this text. */
static const char *take_stray(void)
{
    HD__LOCKED(hd__diagnose_lock);
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
        hd_warn("%s that has no parent: hd_module_parameters and files leave it out, and nothing "
                "has freed it. Register it with hd_register_module; if it is to stay apart, free "
                "it with hd_module_free",
                text);
    }
}
