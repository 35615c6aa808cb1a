/* containers.c - Sequential and ModuleList. Their children are named "0", "1", ... and have no
 * fields in a struct. Instead, the module's entries hold them. */
#include "nn/containers.h"
#include "nn/module_args.h"

#include <inttypes.h>
#include <stdio.h>

static hd_tensor *sequential_forward(hd_module *self, hd_tensor *x)
{
    for (int64_t i = 0; x && i < self->priv->n; i++) {
        hd_module *child = hd__nn_list_child(self, i);
        x = child ? hd_forward(child, x) : x;
    }
    return x;
}

static const hd_module_type sequential_type =
    HD_MODULE_TYPE(hd_module, "Sequential", sequential_forward);
static const hd_module_type module_list_type = HD_MODULE_TYPE(hd_module, "ModuleList", NULL);

bool hd__nn_is_module_list(const hd_module *m)
{
    return m->type == &module_list_type;
}

/* Entry i is child i, because a container has no tensors. */
hd_module *hd__nn_list_child(const hd_module *list, int64_t i)
{
    return i < list->priv->n ? hd__nn_child(&list->priv->entries[i]) : NULL;
}

/* ---------------------------------------------------------------- making */

static bool container_append(hd_module *list, hd_module *child)
{
    char name[32] = ""; /* if list is NULL, hd__nn_register_own frees the child */
    if (list) {
        snprintf(name, sizeof name, "%" PRId64, list->priv->n);
    }
    return hd__nn_register_own(list, name, child);
}

static hd_module *make(const hd_module_type *type, int64_t n, hd_module *const *modules)
{
    if (!hd__nn_size_arg("n", n, 0) || (n > 0 && !hd__arg_given("modules", modules))) {
        return NULL;
    }
    hd_module *m = hd_module_new(type);
    bool ok = true;
    for (int64_t i = 0; i < n; i++) {
        /* The loop goes on after a failure, so that every module is in the list or freed. */
        char name[40];
        snprintf(name, sizeof name, "modules[%" PRId64 "]", i);
        if (hd__object(name, modules[i])) {
            container_append(m, modules[i]);
        } else {
            ok = false;
        }
    }
    if (!ok) {
        hd_module_free(m);
        return NULL;
    }
    return m ? hd_module_ready(m) : NULL;
}

hd_module *hd_sequential_n(int64_t n, hd_module *const *modules)
{
    HD__CALL("hd_sequential");
    return make(&sequential_type, n, modules);
}

hd_module *hd_module_list_n(int64_t n, hd_module *const *modules)
{
    HD__CALL("hd_module_list");
    return make(&module_list_type, n, modules);
}

/* ---------------------------------------------------------------- using */

static bool list_arg(const hd_module *list)
{
    return hd__object("list", list) &&
           (list->type == &sequential_type || hd__nn_is_module_list(list) ||
            hd_fail(HD_VALUE, "list is a %s: expected a ModuleList or a Sequential",
                    list->type->name));
}

bool hd_module_list_append(hd_module *list, hd_module *child)
{
    HD__CALL("hd_module_list_append");
    bool ok = list_arg(list);
    if (!ok && child && hd__object("child", child) && !child->priv->parent && child != list) {
        hd_module_free(child);
    }
    return ok && container_append(list, child);
}

int64_t hd_module_list_len(const hd_module *list)
{
    HD__CALL("hd_module_list_len");
    return list_arg(list) ? list->priv->n : -1;
}

hd_module *hd_module_list_get(hd_module *list, int64_t i)
{
    HD__CALL("hd_module_list_get");
    int64_t at = list_arg(list) ? hd__arg_index(i, list->priv->n, "modules") : -1;
    hd_module *child = at < 0 ? NULL : hd__nn_list_child(list, at);
    if (at >= 0 && !child) {
        return hd_fail(
            HD_STATE,
            "module %" PRId64
            " of this %s was removed by hd_module_take. Set another one with hd_module_set",
            at, list->type->name);
    }
    return child;
}
