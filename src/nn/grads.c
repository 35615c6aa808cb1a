/* grads.c - writes a module's gradients into a dictionary and reads them back. A checkpoint that is
 * taken between two backwards of one step needs the gradients besides the state_dict. Reading
 * copies all gradients before it changes one. */
#include "heed/nn.h"
#include "tensor/for_nn_and_optim.h"

#include <string.h>

/* ---------------------------------------------------------------- writing */

static bool save_one(hd_dict *d, const char *key, const hd_tensor *p)
{
    hd_tensor *g = hd_grad(p);
    return key && g && (g == HD_NONE ? hd__dict_set_removed(d, key) : hd_dict_set(d, key, g));
}

static bool save_grads(const void *m, hd_dict *fresh, const char *prefix)
{
    hd__text key = {0};
    hd_dict *parameters = hd_module_named_parameters(m);
    bool ok = parameters;
    for (int64_t i = 0; ok && i < hd_dict_len(parameters); i++) {
        const char *name = hd_dict_name(parameters, i);
        ok = save_one(fresh, hd__text_key(&key, prefix, NULL, 0, name),
                      hd_dict_get(parameters, name));
    }
    hd_free(key.s);
    hd_dict_free(parameters);
    return ok;
}

bool hd_module_save_grads(const hd_module *m, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_module_save_grads");
    return hd__tensor_state_save("m", m, d, prefix, save_grads);
}

/* ---------------------------------------------------------------- reading */

/* Returns a contiguous copy of the gradient that d has for p; HD_NONE if d has none, and NULL on
 * error. */
static hd_tensor *read_one(const hd_module *m, const hd_dict *d, const char *key,
                           const hd_tensor *p)
{
    bool missing = key && hd_dict_kind_of(d, key) == HD_DICT_MISSING;
    return missing ? HD_NONE : key ? hd__dict_copy(m->type->name, d, key, p) : NULL;
}

/* Checks that each tensor of d under `prefix` belongs to a parameter of m. Otherwise returns false
 * with HD_VALUE. Skips entries that are not tensors, because with an empty prefix, d may also hold
 * other parts of a checkpoint. */
static bool all_known(const hd_module *m, const hd_dict *d, const char *prefix,
                      const hd_dict *parameters)
{
    size_t n = strlen(prefix);
    for (int64_t i = 0; i < hd_dict_len(d); i++) {
        const char *key = hd_dict_name(d, i);
        if ((n > 0 && (strncmp(key, prefix, n) != 0 || key[n] != '.')) ||
            hd_dict_kind_of(d, key) != HD_DICT_TENSOR) {
            continue;
        }
        const char *name = key + n + (n > 0);
        if (!*name || hd_dict_kind_of(parameters, name) == HD_DICT_MISSING) {
            return hd_fail(
                HD_VALUE,
                "%s: '%s' is not a parameter: expected names of hd_module_named_parameters",
                m->type->name, key);
        }
    }
    return true;
}

bool hd_module_load_grads(hd_module *m, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_module_load_grads");
    if (!hd__tensor_state_given("m", m, d, prefix)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    hd__text key = {0};
    hd_dict *parameters = hd_module_named_parameters(m);
    hd_list *leaves = hd_list_n(0, NULL), *grads = hd_list_n(0, NULL);
    bool ok = parameters && all_known(m, d, prefix, parameters);
    for (int64_t i = 0; ok && i < hd_dict_len(parameters); i++) {
        const char *name = hd_dict_name(parameters, i);
        hd_tensor *p = hd_dict_get(parameters, name);
        hd_tensor *g = read_one(m, d, hd__text_key(&key, prefix, NULL, 0, name), p);
        ok = g && hd_list_append(leaves, p) && hd_list_append(grads, g);
    }
    ok = ok && hd_set_grads(leaves, grads);
    hd_free(key.s);
    hd_dict_free(parameters);
    return ok;
}
