/* step.c - one step of any optimizer.
 *
 * A step does everything that can fail before it writes: it checks the gradients, makes the states,
 * and checks that the parameters may be written. Then all threads write the parameters in one pass.
 * A parameter's states are made in its first step, and converted after hd_module_to has changed its
 * dtype. */
#include "optim/optim.h"
#include "optim/walk.h"

/* The step of one parameter that has a gradient. */
typedef struct pending {
    hd__optim_slot *slot;
    hd_tensor *grad;              /* the gradient, contiguous */
    hd_tensor *state[HD__STATES]; /* the parameter's states; NULL: a state that is not used */
    hdk_step step;
    int kernel;
} pending;

/* Fills *t for one parameter and its gradient g, and does everything that can fail. Returns false
 * with an error if memory runs out, or if the step must not write to the parameter or one of its
 * states, for example because a hook has received that memory as a gradient. */
static bool step_ask(const hd_optim *o, hd__optim_slot *slot, hd_tensor *g, pending *t)
{
    const hd__optim_type *type = o->type;
    const hd__optim_options *now = &o->groups[slot->group].now;
    hd_tensor *p = slot->p;
    t->slot = slot;
    t->kernel = type->kernel;
    t->grad = hd_contiguous(hd_shares_storage(g, p) ? hd_clone(g) : g);
    bool ok = t->grad && hd__tensor_may_write(p);
    for (int k = 0; ok && k < HD__STATES; k++) {
        t->state[k] = NULL;
        if (hd__optim_uses(type, now, k)) {
            double start =
                type->start ? *hd__optim_option_double(&type->options[type->start], now) : 0;
            hd_tensor *old = slot->state[k];
            t->state[k] = old ? old : hd_full_like(p, hd_dtype_of(p), start);
            ok = t->state[k] && hd__tensor_may_write(t->state[k]);
        }
    }
    return ok;
}

static void step_begin(const hd_optim *o, hd_tensor *dense, pending *t)
{
    hd__optim_slot *slot = t->slot;
    t->step = (hdk_step){.p = hd_data_mut(dense), .g = hd_data(t->grad)};
    t->step.numbers = o->type->numbers(&o->groups[slot->group].now, ++slot->steps);
    for (int k = 0; k < HD__STATES; k++) {
        if (t->state[k] && !slot->state[k]) {
            slot->state[k] = hd_retain(t->state[k]);
            t->step.numbers.first = true;
        }
        t->step.state[k] = t->state[k] ? hd_data_mut(t->state[k]) : NULL;
    }
}

static void step_run(int64_t i, int64_t grain, int64_t begin, int64_t end, void *arg)
{
    (void)grain;
    const pending *t = (const pending *)arg + i;
    hdk_optim()->step[t->kernel][hd_dtype_of(t->grad)](&t->step, begin, end);
}

/* Converts the states to the dtypes that hd_module_to has given to their parameters. Returns false
 * with an error if memory runs out. */
HD__RARE static bool convert_states(hd_optim *o, unsigned int dtypes)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < o->n * HD__STATES; i++) {
        const hd__optim_slot *slot = &o->slots[i / HD__STATES];
        hd_tensor **state = &o->slots[i / HD__STATES].state[i % HD__STATES];
        hd_tensor *to = *state ? hd_to(*state, hd_dtype_of(slot->p)) : NULL;
        ok = !*state || (to && hd_assign(state, to));
    }
    o->dtypes = ok ? dtypes : o->dtypes;
    return ok;
}

/* Steps every parameter that has a gradient. Returns the number of these parameters, or -1 with an
 * error if the step fails. */
static int64_t step_all(hd_optim *o)
{
    hd__optim_walk w;
    pending *todo = hd__arg_alloc_items(o->n, sizeof *todo);
    bool ok = hd__optim_walk_begin(&w, o->n) && todo;
    for (int64_t i = 0; ok && i < o->n; i++) {
        hd_tensor *p = o->slots[i].p, *g = hd_grad(p);
        ok = g && (g == HD_NONE ||
                   (step_ask(o, &o->slots[i], g, &todo[w.n]) && hd__optim_walk_add(&w, p)));
    }
    for (int64_t i = 0; ok && i < w.n; i++) {
        step_begin(o, w.dense[i], &todo[i]);
    }
    if (ok) {
        hd__optim_walk_all(&w, true, step_run, todo);
        o->stepped = o->scheduled;
    }
    hd_free(w.x);
    hd_free(todo);
    return ok ? w.n : -1;
}

bool hd_optim_step(hd_optim *o)
{
    HD__CALL("hd_optim_step");
    if (!hd__object("o", o) || !hd__optim_may_step()) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    const unsigned int dtypes = atomic_load_explicit(&hd__tensor_taken_over, memory_order_relaxed);
    if (HD__UNLIKELY(o->dtypes != dtypes) && !convert_states(o, dtypes)) {
        return false;
    }
    if (hd__event_telling()) {
        hd__events->call_begins();
    }
    const int64_t n = step_all(o);
    if (hd__event_telling() || (n >= 0 && hd__event_advised())) {
        hd__events->stepped(o, n);
    }
    return n >= 0;
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
