/* state.c - saves an optimizer in a dictionary and loads it, with the names of PyTorch's
 * Optimizer.state_dict. Loading copies everything that it needs before it changes the optimizer, so
 * a failed load changes nothing. */
#include "optim/optim.h"

/* Saves the groups, or loads the lr of each into lr[i]. All other loaded values must be equal to
 * those of o. Returns false with an error otherwise. */
static bool groups_visit(hd__optim_saved *s, const hd_optim *o, double *lr)
{
    const char *list = "param_groups";
    bool ok = hd__optim_saved_text(s, "type", o->type->name) &&
              hd__optim_saved_int(s, NULL, 0, list, o->n_groups);
    for (int64_t i = 0; i < o->n_groups && ok; i++) {
        int64_t n = 0;
        for (int64_t k = 0; k < o->n; k++) {
            n += o->slots[k].group == i;
        }
        ok = hd__optim_saved_number(s, list, i, "lr", HD__ANY_NUMBER,
                                    lr ? &lr[i] : hd__optim_lr(o, i)) &&
             hd__optim_saved_int(s, list, i, "params", n) &&
             hd__optim_saved_options(s, list, i, &o->type->options[1], &o->groups[i].given);
    }
    return ok;
}

/* ---------------------------------------------------------------- writing */

/* Writes the state of parameter i. Writes nothing if no step has changed the parameter. Returns
 * false with an error if memory runs out. */
static bool save_slot(hd__optim_saved *s, const hd_optim *o, int64_t i)
{
    const hd__optim_slot *slot = &o->slots[i];
    if (slot->steps == 0) {
        return true;
    }
    bool ok =
        hd_dict_set_int(s->to, hd__text_key(&s->key, s->prefix, "state", i, "step"), slot->steps);
    for (int k = 0; k < HD__STATES && ok; k++) {
        if (slot->state[k]) {
            const char *name = o->type->states[k].name;
            ok = hd_dict_set(s->to, hd__text_key(&s->key, s->prefix, "state", i, name),
                             hd_to(hd_detach(slot->state[k]), hd_dtype_of(slot->p)));
        }
    }
    return ok;
}

static bool optim_write(const void *object, hd_dict *d, const char *prefix)
{
    const hd_optim *o = object;
    hd__optim_saved s = {.to = d, .prefix = prefix};
    bool ok = groups_visit(&s, o, NULL);
    for (int64_t i = 0; i < o->n && ok; i++) {
        ok = save_slot(&s, o, i);
    }
    hd_free(s.key.s);
    return ok;
}

bool hd_optim_save(const hd_optim *o, hd_dict *d, const char *prefix)
{
    HD__CALL("hd_optim_save");
    return hd__tensor_state_save("o", o, d, prefix, optim_write);
}

/* ---------------------------------------------------------------- reading */

/* Sets *state to a copy of the saved state k of slot i. If this state is not saved, but o does not
 * need it, leaves *state unchanged: o needs no state of the momentum after a one-cycle schedule has
 * set the momentum to 0. Otherwise returns false with an error if the state cannot be read. */
static bool read_state(hd__optim_saved *s, const hd_optim *o, int64_t i, int k, hd_tensor **state)
{
    const hd__optim_type *type = o->type;
    const hd__optim_group *g = &o->groups[o->slots[i].group];
    const char *key = hd__text_key(&s->key, s->prefix, "state", i, type->states[k].name);
    bool needed = hd__optim_uses(type, &g->given, k) && hd__optim_uses(type, &g->now, k);
    if (!key || (!needed && hd_dict_kind_of(s->from, key) == HD_DICT_MISSING)) {
        return key;
    }
    *state = hd__dict_copy("", s->from, key, o->slots[i].p);
    return *state;
}

static bool read_slot(hd__optim_saved *s, const hd_optim *o, int64_t i, hd__optim_slot *slot)
{
    const char *key = hd__text_key(&s->key, s->prefix, "state", i, "step");
    if (!key || hd_dict_kind_of(s->from, key) == HD_DICT_MISSING) {
        return key;
    }
    bool ok = hd__dict_int_within(s->from, key, 1, HD__MOST_SAVED, &slot->steps);
    for (int k = 0; k < HD__STATES && o->type->states[k].name && ok; k++) {
        ok = read_state(s, o, i, k, &slot->state[k]);
    }
    return ok;
}

static void take_over(hd_optim *o, const double *lr, const hd__optim_slot *slots)
{
    for (int64_t i = 0; i < o->n_groups; i++) {
        *hd__optim_lr(o, i) = lr[i];
    }
    for (int64_t i = 0; i < o->n; i++) {
        hd__optim_slot *slot = &o->slots[i];
        slot->steps = slots[i].steps;
        for (int k = 0; k < HD__STATES; k++) {
            hd_release(slot->state[k]);
            slot->state[k] = hd_retain(slots[i].state[k]);
        }
    }
}

bool hd_optim_load(hd_optim *o, const hd_dict *d, const char *prefix)
{
    HD__CALL("hd_optim_load");
    if (!hd__tensor_state_given("o", o, d, prefix)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    hd__optim_saved s = {.from = d, .prefix = prefix};
    double *lr = hd__arg_alloc_items(o->n_groups, sizeof *lr);
    /* The scope owns the tensors in slots[i].state. */
    hd__optim_slot *slots = hd__mem_alloc_zeroed((size_t)o->n * sizeof *slots);
    bool ok = lr && slots && groups_visit(&s, o, lr);
    for (int64_t i = 0; i < o->n && ok; i++) {
        ok = read_slot(&s, o, i, &slots[i]);
    }
    if (ok) {
        take_over(o, lr, slots);
    }
    hd_free(slots);
    hd_free(lr);
    hd_free(s.key.s);
    return ok;
}
