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

enum { STRAYS = 64 };

/* The first one of each type of module that ran such a module. The lock protects them. */
typedef struct stray {
    const hd_module *m; /* NULL: none, or it was told of */
    const char *text;   /* "Net runs a Linear"; NULL: none */
} stray;
static stray strays[STRAYS];

/* Does m, or a module below it, have a parameter that requires grad? */
static bool is_trained(hd_module *m)
{
    hd__walk w = {.root = m};
    bool trained = false;
    while (!trained && hd__walk_next(&w)) {
        for (int64_t i = 0; i < w.m->priv->n && !trained; i++) {
            const hd__entry *e = &w.m->priv->entries[i];
            const hd_tensor *t = e->kind == HD__PARAMETER ? *e->tensor : NULL;
            trained = t && hd__tensor_exists(t) && hd_requires_grad(t);
        }
    }
    return hd__walk_end(&w) && trained;
}

static void note_stray(const char *around, const hd_module *m)
{
    char text[200];
    const char *a = strchr("AEIOU", *m->type->name) ? "an" : "a";
    snprintf(text, sizeof text, "%.90s runs %s %.90s", around, a, m->type->name);
    const stray found = {m, hd__text_for_ever(text)};
    stray *place = &strays[hd__hash(around, strlen(around)) % STRAYS];
    HD__LOCKED(hd__diagnose_lock);
    *place = place->text ? *place : found;
}

void hd__hear_forward_begins(const hd_module *around, hd_module *m, hd_tensor *x)
{
    if (hd__watching() && around && !m->priv->parent && m->priv->training && is_trained(m)) {
        note_stray(around->type->name, m);
    }
    hd__tell_forward(m->type->name, x);
}

void hd__hear_module_freed(const hd_module *m)
{
    HD__LOCKED(hd__diagnose_lock);
    for (int i = 0; i < STRAYS; i++) {
        strays[i] = strays[i].m == m ? (stray){0} : strays[i];
    }
}

/* The text of a stray that nothing holds now. It is given once. */
static const char *take_stray(stray *s)
{
    HD__LOCKED(hd__diagnose_lock);
    const hd_module *m = s->m;
    s->m = NULL;
    return m && !m->priv->parent ? s->text : NULL;
}

void hd__tell_strays(void)
{
    for (int i = 0; i < STRAYS; i++) {
        const char *text = take_stray(&strays[i]);
        if (text) {
            hd_warn("%s that has no parent: hd_module_parameters and files leave it out, and "
                    "nothing has freed it. Register it with hd_register_module; if it is to stay "
                    "apart, free it with hd_module_free",
                    text);
        }
    }
}
