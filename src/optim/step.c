/* step.c - one step of any optimizer.
 *
 * A step does everything that can fail before it writes: it looks at the gradients, makes the
 * states and asks for the right to write. Then it writes all parameters in one pass over the
 * threads. The states of a parameter are made in its first step and never again. */
#include "optim/optim_internal.h"

#include <string.h>

/* ---------------------------------------------------------------- writing */

typedef struct part {
    const hd_optim *o;
    const hd__slot *slot;
    hdk_step whole;
    int64_t bytes; /* the size of an element */
    hd_dtype d;
} part;

static void *element_at(void *data, int64_t element, int64_t bytes)
{
    return data ? (char *)data + element * bytes : NULL;
}

static void step_run(const int64_t begin[2], const int64_t strides[2], int64_t element, int64_t n,
                     void *arg)
{
    const part *a = arg;
    hdk_step run = a->whole;
    run.p = element_at(run.p, begin[0], a->bytes);
    run.g = (const char *)run.g + begin[1] * a->bytes;
    run.p_stride = strides[0];
    run.g_stride = strides[1];
    for (int k = 0; k < HD__STATES; k++) {
        run.state[k] = element_at(run.state[k], element, a->bytes);
    }
    a->o->type->update(&a->o->groups[a->slot->group].now, a->slot, &run, n, a->d);
}

static unsigned states_of(const hd_optim *o, const hd__slot *slot)
{
    return o->type->uses(&o->groups[slot->group].now);
}

/* step_ask has asked for the right to write. */
static part step_part(const hd_optim *o, hd__slot *slot, const hd_tensor *g)
{
    part a = {.o = o, .slot = slot, .d = hd_dtype_of(slot->p)};
    a.bytes = hd_dtype_size(a.d);
    a.whole = (hdk_step){.p = hd_data_mut(slot->p), .g = hd_data(g)};
    unsigned used = states_of(o, slot);
    for (int k = 0; k < HD__STATES; k++) {
        a.whole.state[k] = used >> k & 1 ? hd_data_mut(slot->state[k]) : NULL;
    }
    slot->steps++;
    return a;
}

/* ---------------------------------------------------------------- looking */

typedef struct pending {
    hd_tensor *grad; /* HD_NONE: the parameter stays as it is */
    unsigned made;   /* bit k: this step made state k */
    part part;       /* set when the step writes */
} pending;

/* Asks for the memory of states that are missing. */
static bool make_states(const hd_optim *o, hd__slot *slot, unsigned *made)
{
    unsigned used = states_of(o, slot);
    for (int k = 0; k < HD__STATES; k++) {
        if (!(used >> k & 1) || slot->state[k]) {
            continue;
        }
        slot->state[k] = hd_retain(hd_empty_like(slot->p, hd_dtype_of(slot->p)));
        if (!slot->state[k]) {
            return false;
        }
        *made |= 1u << k;
    }
    return true;
}

/* The states that were made begin with their start value, or go again if the step failed. */
static bool end_states(const hd_optim *o, hd__slot *slot, unsigned made, bool ok)
{
    const hd__optim_options *options = &o->groups[slot->group].now;
    double start = o->type->start ? o->type->start(options) : 0;
    for (int k = 0; k < HD__STATES; k++) {
        if (made >> k & 1 && ok) {
            ok = hd_fill_(slot->state[k], start);
            slot->fresh = true;
        } else if (made >> k & 1) {
            hd_release(slot->state[k]);
            slot->state[k] = NULL;
        }
    }
    return ok;
}

/* A hook may be given a gradient in the memory of the parameter or of a state. */
static bool may_write(const hd_optim *o, const hd__slot *slot)
{
    unsigned used = states_of(o, slot);
    bool ok = hd__may_write(slot->p);
    for (int k = 0; k < HD__STATES && ok; k++) {
        ok = !(used >> k & 1) || hd__may_write(slot->state[k]);
    }
    return ok;
}

/* Does all that can fail, except for the values of new states. */
static bool step_ask(const hd_optim *o, pending *todo)
{
    for (int64_t i = 0; i < o->n; i++) {
        hd_tensor *p = o->slots[i].p, *g = hd_grad(p);
        if (g && g != HD_NONE && hd_shares_storage(g, p)) {
            g = hd_clone(g);
        }
        if (!g || (g != HD_NONE && !make_states(o, &o->slots[i], &todo[i].made))) {
            return false;
        }
        todo[i].grad = g;
    }
    for (int64_t i = 0; i < o->n; i++) {
        if (todo[i].grad != HD_NONE && !may_write(o, &o->slots[i])) {
            return false;
        }
    }
    return true;
}

/* After it, the write itself cannot fail. */
static bool step_prepare(const hd_optim *o, pending *todo)
{
    memset(todo, 0, (size_t)o->n * sizeof *todo);
    bool ok = step_ask(o, todo);
    for (int64_t i = 0; i < o->n; i++) {
        if (todo[i].made) {
            ok = end_states(o, &o->slots[i], todo[i].made, ok) && ok;
        }
    }
    return ok;
}

/* walks has room for one for each parameter. */
static void step_write(hd_optim *o, pending *todo, hd__walk *walks)
{
    int64_t n = 0;
    for (int64_t i = 0; i < o->n; i++) {
        if (todo[i].grad != HD_NONE) {
            hd__slot *slot = &o->slots[i];
            todo[i].part = step_part(o, slot, todo[i].grad);
            walks[n++] = (hd__walk){.a = slot->p, .b = todo[i].grad, .arg = &todo[i].part};
        }
    }
    hd__walk_all(walks, n, step_run);
    for (int64_t i = 0; i < o->n; i++) {
        o->slots[i].fresh &= todo[i].grad == HD_NONE;
    }
}

bool hd_optim_step(hd_optim *o)
{
    HD__CALL("hd_optim_step");
    if (!hd__object("o", o) || !hd__may_step()) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    pending *todo = hd__alloc_items(o->n, sizeof *todo);
    hd__walk *walks = hd__alloc_items(o->n, sizeof *walks);
    bool ok = todo && walks && step_prepare(o, todo);
    if (ok) {
        step_write(o, todo, walks);
        o->stepped = o->scheduled;
    }
    hd_free(todo);
    hd_free(walks);
    return ok;
}

bool hd_optim_zero_grad(hd_optim *o)
{
    HD__CALL("hd_optim_zero_grad");
    bool ok = hd__object("o", o);
    for (int64_t i = 0; ok && i < o->n; i++) {
        ok = hd_set_grad(o->slots[i].p, HD_NONE);
    }
    return ok;
}
