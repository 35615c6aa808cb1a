/* state.c - an optimizer, written to a dictionary and read from one, under the names of PyTorch's
 * Optimizer.state_dict. Reading copies everything that it needs first and then changes o. */
#include "optim/optim_internal.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- writing */

static int64_t group_size(const hd_optim *o, int64_t group)
{
    int64_t n = 0;
    for (int64_t i = 0; i < o->n; i++) {
        n += o->slots[i].group == group;
    }
    return n;
}

static bool save_group(const hd_optim *o, int64_t i, hd_dict *d, const char *prefix, hd__text *t)
{
    const char *list = "param_groups";
    return hd_dict_set_double(d, hd__key(t, prefix, list, i, "lr"), *hd__lr(o, i)) &&
           hd_dict_set_int(d, hd__key(t, prefix, list, i, "params"), group_size(o, i)) &&
           hd__options_visit(d, NULL, prefix, list, i, &o->type->options[1], &o->groups[i].given);
}

/* A parameter that was never stepped has no state. */
static bool save_slot(const hd_optim *o, int64_t i, hd_dict *d, const char *prefix, hd__text *t)
{
    const hd__slot *slot = &o->slots[i];
    if (slot->steps == 0) {
        return true;
    }
    bool ok = hd_dict_set_int(d, hd__key(t, prefix, "state", i, "step"), slot->steps);
    for (int k = 0; k < HD__STATES && ok; k++) {
        if (slot->state[k]) {
            ok = hd_dict_set(d, hd__key(t, prefix, "state", i, o->type->states[k].name),
                             hd_detach(slot->state[k]));
        }
    }
    return ok;
}

bool hd_optim_save(const hd_optim *o, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_optim_save");
    if (!hd__state_given("o", o, d, prefix) || !hd__may_save(hd__call)) {
        return false;
    }
    HD__SCOPE_OR(false);
    hd__text t = {0};
    hd_dict *fresh = hd_dict_new();
    bool ok = fresh &&
              hd_dict_set_string(fresh, hd__key(&t, prefix, NULL, 0, "type"), o->type->name) &&
              hd_dict_set_int(fresh, hd__key(&t, prefix, NULL, 0, "param_groups"), o->n_groups);
    for (int64_t i = 0; i < o->n_groups && ok; i++) {
        ok = save_group(o, i, fresh, prefix, &t);
    }
    for (int64_t i = 0; i < o->n && ok; i++) {
        ok = save_slot(o, i, fresh, prefix, &t);
    }
    hd_free(t.s);
    return hd__dict_commit(d, fresh, ok);
}

/* ---------------------------------------------------------------- reading */

typedef struct reader {
    const hd_optim *o;
    const hd_dict *d;
    const char *prefix;
    hd__text t;
    double *lr;      /* of each group */
    hd__slot *slots; /* the new slots: their states are retained, p is not */
} reader;

static bool read_group(reader *r, int64_t i)
{
    const hd_optim *o = r->o;
    const char *list = "param_groups";
    if (!hd__options_visit(NULL, r->d, r->prefix, list, i, &o->type->options[1],
                           &o->groups[i].given) ||
        !hd__int_equal(r->d, hd__key(&r->t, r->prefix, list, i, "params"), group_size(o, i))) {
        return false;
    }
    const char *key = hd__key(&r->t, r->prefix, list, i, "lr");
    return hd_dict_get_double(r->d, key, &r->lr[i]) &&
           (!isnan(r->lr[i]) || hd__fail(HD_VALUE, "'%s' is nan: expected a number", key));
}

/* Reads state k of slot i. A cycle may have brought the momentum down to 0; then the state may be
 * missing. */
static bool read_state(reader *r, int64_t i, int k)
{
    const hd__slot *old = &r->o->slots[i];
    const hd__optim_type *type = r->o->type;
    const char *key = hd__key(&r->t, r->prefix, "state", i, type->states[k].name);
    const hd__group *g = &r->o->groups[old->group];
    bool needed = hd__uses(type, &g->given, k) && hd__uses(type, &g->now, k);
    if (!key) {
        return false;
    }
    if (!needed && hd_dict_kind_of(r->d, key) == HD_DICT_MISSING) {
        return true;
    }
    hd_tensor *copy = hd__dict_copy("", r->d, key, old->p);
    r->slots[i].state[k] = copy ? hd_retain(copy) : NULL;
    return copy;
}

static bool read_slot(reader *r, int64_t i)
{
    const char *key = hd__key(&r->t, r->prefix, "state", i, "step");
    hd__slot *slot = &r->slots[i];
    if (!key) {
        return false;
    }
    if (hd_dict_kind_of(r->d, key) == HD_DICT_MISSING) {
        return true;
    }
    bool ok = hd__int_within(r->d, key, 1, HD__MOST_SAVED, &slot->steps);
    for (int k = 0; k < HD__STATES && r->o->type->states[k].name && ok; k++) {
        ok = read_state(r, i, k);
    }
    return ok;
}

static bool optim_read(reader *r)
{
    const hd_optim *o = r->o;
    bool ok = hd__string_equal(r->d, hd__key(&r->t, r->prefix, NULL, 0, "type"), o->type->name) &&
              hd__int_equal(r->d, hd__key(&r->t, r->prefix, NULL, 0, "param_groups"), o->n_groups);
    for (int64_t i = 0; i < o->n_groups && ok; i++) {
        ok = read_group(r, i);
    }
    for (int64_t i = 0; i < o->n && ok; i++) {
        ok = read_slot(r, i);
    }
    return ok;
}

/* Exchanges what was read with what o had. */
static void take_over(hd_optim *o, reader *r)
{
    for (int64_t i = 0; i < o->n_groups; i++) {
        *hd__lr(o, i) = r->lr[i];
    }
    for (int64_t i = 0; i < o->n; i++) {
        hd__slot old = o->slots[i];
        o->slots[i] = r->slots[i];
        o->slots[i].p = old.p;
        o->slots[i].group = old.group;
        r->slots[i] = old;
    }
}

bool hd_optim_load(hd_optim *o, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_optim_load");
    if (!hd__state_given("o", o, d, prefix)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    reader r = {.o = o, .d = d, .prefix = prefix};
    r.lr = hd__alloc_items(o->n_groups, sizeof *r.lr);
    r.slots = hd__alloc_zeroed((size_t)o->n * sizeof *r.slots);
    bool ok = r.lr && r.slots && optim_read(&r);
    if (ok) {
        take_over(o, &r);
    }
    for (int64_t i = 0; r.slots && i < o->n; i++) {
        for (int k = 0; k < HD__STATES; k++) {
            hd_release(r.slots[i].state[k]);
        }
    }
    hd_free(r.slots);
    hd_free(r.lr);
    hd_free(r.t.s);
    return ok;
}
