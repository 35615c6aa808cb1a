/* stray_modules.c - the warning of a parameter that a constructor made and did not register.
 *
 * A field that is not registered may be meant so: a parameter that others have, too. What tells a
 * mistake is that the module's own constructor made it, between hd_module_new and hd_module_ready,
 * and that the type has no function that frees it. */
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
