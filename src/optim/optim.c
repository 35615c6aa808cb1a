/* optim.c - makes and frees optimizers, checks their parameters, and adds groups. */
#include "optim/optim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

atomic_int hd__optim_alive;

/* ---------------------------------------------------------------- parameters */

hd_tensor *hd__optim_parameter_at(const hd_list *list, int64_t i)
{
    hd_tensor *p = hd_list_get(list, i);
    return p != HD_NONE
               ? p
               : hd_fail(HD_NULL_ARG, "parameter %" PRId64 " is HD_NONE: expected a tensor", i);
}

static bool optim_parameter_ok(const hd_list *list, int64_t i)
{
    hd_tensor *p = hd__optim_parameter_at(list, i);
    if (!p) {
        return false;
    }
    hd_dtype d = hd_dtype_of(p);
    if (!hd__tensor_holds_floats(d)) { /* bfloat16 passes: it never gets a gradient */
        return hd_fail(HD_DTYPE, "parameter %" PRId64 " has dtype %s: expected float32 or float64",
                       i, hd_dtype_name(d));
    }
    if (!hd_is_leaf(p)) {
        return hd_fail(HD_GRAD,
                       "parameter %" PRId64 " of %s is the result of an operation: expected a leaf "
                       "(hd_parameter makes one)",
                       i, HD__DIMS(p));
    }
    if (hd__tensor_overlaps_itself(p)) {
        return hd_fail(
            HD_VALUE,
            "parameter %" PRId64
            " of %s is expanded: several elements share memory. Make the parameter from a clone",
            i, HD__DIMS(p));
    }
    for (int64_t j = 0; j < i; j++) {
        if (hd_list_get(list, j) == p) {
            return hd_fail(HD_VALUE,
                           "parameters %" PRId64 " and %" PRId64
                           " are the same tensor: expected each once",
                           j, i);
        }
    }
    return true;
}

static bool parameters_ok(const hd_list *list)
{
    if (!hd__tensor_list_arg("parameters", list)) {
        return false;
    }
    if (hd_list_len(list) == 0) {
        return hd_fail(HD_VALUE, "the list of parameters is empty: expected one or more. Register "
                                 "a module's parts with hd_register_module");
    }
    for (int64_t i = 0; i < hd_list_len(list); i++) {
        if (!optim_parameter_ok(list, i)) {
            return false;
        }
    }
    return true;
}

static bool none_is_there(const hd_optim *o, const hd_list *list)
{
    for (int64_t i = 0; i < hd_list_len(list); i++) {
        for (int64_t j = 0; j < o->n; j++) {
            if (o->slots[j].p == hd_list_get(list, i)) {
                return hd_fail(HD_VALUE, "parameter %" PRId64 " is in group %" PRId64 " already", i,
                               o->slots[j].group);
            }
        }
    }
    return true;
}

/* ---------------------------------------------------------------- making and freeing */

static bool optim_options_ok(const char *name, const hd__optim_type *type,
                             const hd__optim_options *options)
{
    const hd__optim_options *defaults = type->defaults;
    return hd__arg_size_ok(name, options->size, defaults->size, type->giver) &&
           hd__optim_options_ok(type->options, options) &&
           (!type->options_ok || type->options_ok(options));
}

/* Adds a group, whose parameters and options were checked before. Returns false with an error if
 * memory runs out. */
static bool add_group(hd_optim *o, const hd_list *parameters, const hd__optim_options *options)
{
    int64_t more = hd_list_len(parameters);
    if (!hd__text_grow(&o->slots, &o->room, o->n + more, sizeof *o->slots) ||
        !hd__text_grow(&o->groups, &o->groups_room, o->n_groups + 1, sizeof *o->groups)) {
        return false;
    }
    hd__optim_group *g = &o->groups[o->n_groups];
    *g = (hd__optim_group){0};
    memcpy(&g->given, options, options->size);
    g->now = g->given;
    for (int64_t i = 0; i < more; i++) {
        o->slots[o->n++] =
            (hd__optim_slot){.p = hd_retain(hd_list_get(parameters, i)), .group = o->n_groups};
    }
    o->n_groups++;
    return true;
}

static atomic_uint_least64_t last_number;

hd_optim *hd__optim_new(const hd__optim_type *type, const hd_list *parameters, const void *options)
{
    options = options ? options : type->defaults;
    if (!optim_options_ok("o", type, options) || !parameters_ok(parameters)) {
        return NULL;
    }
    hd_optim *o = hd__object_new(HD__OPTIM, sizeof *o);
    if (!o) {
        return NULL;
    }
    o->type = type;
    o->number = atomic_fetch_add(&last_number, 1) + 1;
    o->dtypes = atomic_load(&hd__tensor_taken_over);
    atomic_fetch_add(&hd__optim_alive, 1);
    if (!add_group(o, parameters, options)) {
        hd_optim_free(o);
        return NULL;
    }
    return o;
}

void hd_optim_free(hd_optim *o)
{
    HD__CALL("hd_optim_free");
    if (hd__object_may_free("o", o, HD_NONE)) {
        for (int64_t i = 0; i < o->n; i++) {
            hd_release(o->slots[i].p);
            for (int k = 0; k < HD__STATES; k++) {
                hd_release(o->slots[i].state[k]);
            }
        }
        hd_free(o->slots);
        hd_free(o->groups);
        atomic_fetch_sub(&hd__optim_alive, 1);
        hd__mem_retire_object(o, hd__call_kept());
    }
}

/* ---------------------------------------------------------------- groups */

bool hd_optim_add_group(hd_optim *o, const hd_list *parameters, const void *options)
{
    HD__CALL("hd_optim_add_group");
    if (!hd__object("o", o)) {
        return false;
    }
    hd__optim_options first = o->groups[0].given; /* a copy, because the groups may move */
    options = options ? options : &first;
    return optim_options_ok("options", o->type, options) && parameters_ok(parameters) &&
           none_is_there(o, parameters) && add_group(o, parameters, options);
}

int64_t hd_optim_group_count(const hd_optim *o)
{
    HD__CALL("hd_optim_group_count");
    return hd__object("o", o) ? o->n_groups : -1;
}

static bool group_ok(const hd_optim *o, int64_t group)
{
    return hd__object("o", o) &&
           ((group >= 0 && group < o->n_groups) ||
            hd_fail(HD_INDEX, "group %" PRId64 ": expected 0 to %" PRId64, group, o->n_groups - 1));
}

double hd_optim_group_lr(const hd_optim *o, int64_t group)
{
    HD__CALL("hd_optim_group_lr");
    return group_ok(o, group) ? *hd__optim_lr(o, group) : NAN;
}

bool hd_optim_group_set_lr(hd_optim *o, int64_t group, double lr)
{
    HD__CALL("hd_optim_group_set_lr");
    if (!group_ok(o, group) || !hd__optim_number_ok("lr", HD__NOT_NEGATIVE, lr)) {
        return false;
    }
    *hd__optim_lr(o, group) = lr;
    return true;
}

double hd_optim_lr(const hd_optim *o)
{
    HD__CALL("hd_optim_lr");
    return hd_optim_group_lr(o, 0);
}

bool hd_optim_set_lr(hd_optim *o, double lr)
{
    HD__CALL("hd_optim_set_lr");
    bool ok = hd__object("o", o);
    for (int64_t i = 0; ok && i < o->n_groups; i++) {
        ok = hd_optim_group_set_lr(o, i, lr);
    }
    return ok;
}
