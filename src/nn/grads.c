/* grads.c - the gradients of a module, written to a dictionary and read from one. A checkpoint
 * between two backwards of one step needs them besides the state. Reading makes all copies
 * first. */
#include "nn/nn_internal.h"

#include <string.h>

/* ---------------------------------------------------------------- writing */

static bool save_one(hd_dict *d, const char *key, const hd_tensor *p)
{
    hd_tensor *g = hd_grad(p);
    if (!key || !g) {
        return false;
    }
    return g == HD_NONE ? hd__dict_set_removed(d, key) : hd_dict_set(d, key, g);
}

bool hd_module_save_grads(const hd_module *m, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_module_save_grads");
    if (!hd__state_given("m", m, d, prefix) || !hd__may_save(hd__call)) {
        return false;
    }
    HD__SCOPE_OR(false);
    hd__text key = {0};
    hd__items found = {0};
    hd_dict *fresh = hd_dict_new();
    bool ok = fresh && hd__collect(m, HD__PARAMETER, true, &found);
    for (int64_t i = 0; i < found.n && ok; i++) {
        ok = save_one(fresh, hd__key(&key, prefix, NULL, 0, found.v[i].name), *found.v[i].field);
    }
    hd_free(key.s);
    hd__items_free(&found);
    return hd__dict_commit(d, fresh, ok);
}

/* ---------------------------------------------------------------- reading */

/* A row-major copy of d's gradient for p; HD_NONE if there is none, NULL on error. */
static hd_tensor *read_one(const hd_module *m, const hd_dict *d, const char *key,
                           const hd_tensor *p)
{
    if (!key || hd_dict_kind_of(d, key) == HD_DICT_MISSING) {
        return key ? HD_NONE : NULL;
    }
    return hd__dict_copy(m->type->name, d, key, p);
}

/* Looks at tensors only: with an empty prefix, other parts of a checkpoint's state may be in d,
 * too. */
static bool all_known(const hd_module *m, const hd_dict *d, const char *prefix,
                      const hd_dict *names)
{
    size_t n = strlen(prefix);
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *key = hd_dict_name(d, i);
        if ((n > 0 && (strncmp(key, prefix, n) != 0 || key[n] != '.')) ||
            hd_dict_kind_of(d, key) != HD_DICT_TENSOR) {
            continue;
        }
        const char *name = key + n + (n > 0);
        if (!*name || hd_dict_kind_of(names, name) == HD_DICT_MISSING) {
            return hd__fail(HD_VALUE,
                            "%s: '%s' is unexpected: expected names of "
                            "hd_module_named_parameters",
                            m->type->name, key);
        }
    }
    return true;
}

bool hd_module_load_grads(hd_module *m, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_module_load_grads");
    if (!hd__state_given("m", m, d, prefix)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    hd__text key = {0};
    hd__items found = {0};
    hd_list *parameters = hd_list_n(0, NULL), *grads = hd_list_n(0, NULL);
    bool ok = parameters && grads && hd__collect(m, HD__PARAMETER, true, &found);
    hd_dict *names = ok ? hd__items_names(&found) : NULL;
    ok = names && all_known(m, d, prefix, names);
    for (int64_t i = 0; i < found.n && ok; i++) {
        hd_tensor *p = *found.v[i].field;
        hd_tensor *g = read_one(m, d, hd__key(&key, prefix, NULL, 0, found.v[i].name), p);
        ok = g && hd_list_append(parameters, p) && hd_list_append(grads, g);
    }
    ok = ok && hd_set_grads(parameters, grads);
    hd_dict_free(names);
    hd_free(key.s);
    hd__items_free(&found);
    return ok;
}
