/* optim.c - what every optimizer does: holding parameters, checking a step, walking elements.
 *
 * A step looks at everything first and writes then: gradients, memory for states, the right to
 * write. States are made in a parameter's first step and never again. */
#include "optim/optim_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- making and freeing */

bool hd__not_negative(const char *function, const char *option, double value)
{
    if (value >= 0) { /* NaN is not */
        return true;
    }
    hd_error_set(HD_VALUE, "%s: %s %g: expected 0 or more", function, option, value);
    return false;
}

bool hd__options_size(const char *function, size_t size, size_t want, const char *defaults)
{
    if (size == want) {
        return true;
    }
    hd_error_set(HD_VALUE, "%s: o->size %zu: expected %zu, as of %s()", function, size, want,
                 defaults);
    return false;
}

static bool parameter_ok(const char *function, const hd_list *list, int64_t i)
{
    hd_tensor *p = hd_list_get(list, i);
    if (!p || p == HD_NONE) {
        hd_error_set(HD_NULL_ARG, "%s: parameter %" PRId64 " is HD_NONE: expected a tensor",
                     function, i);
        return false;
    }
    hd_dtype d = hd_dtype_of(p);
    if (d != HD_FLOAT32 && d != HD_FLOAT64) {
        hd_error_set(HD_DTYPE, "%s: parameter %" PRId64 " is %s: expected float32 or float64",
                     function, i, hd_dtype_name(d));
        return false;
    }
    if (!hd_is_leaf(p)) {
        hd_error_set(HD_GRAD,
                     "%s: parameter %" PRId64 " of %s is the result of an operation: expected a "
                     "leaf",
                     function, i, HD__SIZES(hd_ndim(p), hd_sizes(p)));
        return false;
    }
    for (int d = 0; d < hd_ndim(p); d++) {
        if (hd_size(p, d) > 1 && hd_stride(p, d) == 0) {
            hd_error_set(HD_VALUE,
                         "%s: parameter %" PRId64
                         " of %s is expanded: several elements share memory",
                         function, i, HD__SIZES(hd_ndim(p), hd_sizes(p)));
            return false;
        }
    }
    for (int64_t j = 0; j < i; j++) {
        if (hd_list_get(list, j) == p) {
            hd_error_set(HD_VALUE, "%s: parameters %" PRId64 " and %" PRId64 " are the same tensor",
                         function, j, i);
            return false;
        }
    }
    return true;
}

static bool parameters_ok(const char *function, const hd_list *list)
{
    if (!hd__given(function, "parameters", list)) {
        return false;
    }
    if (hd_list_len(list) == 0) {
        hd_error_set(HD_VALUE, "%s: an empty list of parameters: expected one or more", function);
        return false;
    }
    for (int64_t i = 0; i < hd_list_len(list); i++) {
        if (!parameter_ok(function, list, i)) {
            return false;
        }
    }
    return true;
}

hd_optim *hd__optim_new(const char *function, const hd__optim_type *type, const hd_list *parameters,
                        double lr)
{
    if (!parameters_ok(function, parameters)) {
        return NULL;
    }
    int64_t n = hd_list_len(parameters);
    hd_optim *o = hd__alloc_zeroed(sizeof *o);
    hd__slot *slots = hd__alloc_zeroed((size_t)n * sizeof *slots);
    if (!o || !slots) {
        hd_free(o);
        hd_free(slots);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        slots[i].p = hd_retain(hd_list_get(parameters, i));
    }
    o->type = type;
    o->lr = lr;
    o->n = n;
    o->slots = slots;
    return o;
}

void hd_optim_free(hd_optim *o)
{
    if (!o || (void *)o == (void *)HD_NONE) {
        return;
    }
    for (int64_t i = 0; i < o->n; i++) {
        hd_release(o->slots[i].p);
        for (int k = 0; k < HD__STATES; k++) {
            hd_release(o->slots[i].state[k]);
        }
    }
    hd_free(o->slots);
    hd_free(o);
}

/* ---------------------------------------------------------------- walking the elements */

typedef struct part {
    const hd_optim *o;
    const hd__slot *slot;
    hdk_step whole;
    int64_t bytes; /* an element's */
    hd_dtype d;
} part;

static void *at(void *data, int64_t element, int64_t bytes)
{
    return data ? (char *)data + element * bytes : NULL;
}

/* n elements, where p, g and the states begin so many elements further. */
static void update(const part *a, int64_t p, int64_t g, int64_t state, int64_t n)
{
    hdk_step run = a->whole;
    run.p = at(run.p, p, a->bytes);
    run.g = (const char *)run.g + g * a->bytes;
    for (int k = 0; k < HD__STATES; k++) {
        run.state[k] = at(run.state[k], state, a->bytes);
    }
    a->o->type->update(a->o, a->slot, &run, n, a->d);
}

static void update_range(int64_t begin, int64_t end, void *arg)
{
    update(arg, begin, begin, begin, end - begin);
}

/* Row by row, where a parameter or its gradient is not contiguous. */
static void update_strided(part *a, const hd_tensor *p, const hd_tensor *g)
{
    int last = hd_ndim(p) - 1;
    const int64_t *sizes = hd_sizes(p), *ps = hd_strides(p), *gs = hd_strides(g);
    a->whole.p_stride = ps[last];
    a->whole.g_stride = gs[last];
    int64_t index[HD_MAX_DIMS] = {0}, rows = hd_numel(p) / sizes[last];
    for (int64_t row = 0; row < rows; row++) {
        int64_t p_at = 0, g_at = 0;
        for (int d = 0; d < last; d++) {
            p_at += index[d] * ps[d];
            g_at += index[d] * gs[d];
        }
        update(a, p_at, g_at, row * sizes[last], sizes[last]);
        for (int d = last - 1; d >= 0 && ++index[d] == sizes[d]; d--) {
            index[d] = 0;
        }
    }
}

enum { GRAIN = 32768 };

static void update_slot(const hd_optim *o, hd__slot *slot, void *data, const hd_tensor *g)
{
    part a = {.o = o, .slot = slot, .d = hd_dtype_of(slot->p)};
    a.bytes = hd_dtype_size(a.d);
    a.whole = (hdk_step){.p = data, .g = hd_data(g), .p_stride = 1, .g_stride = 1};
    for (int k = 0; k < HD__STATES && slot->state[k]; k++) {
        a.whole.state[k] = hd_data_mut(slot->state[k]);
    }
    slot->steps++;
    int64_t n = hd_numel(slot->p);
    if (hd_is_contiguous(slot->p) && hd_is_contiguous(g)) {
        hd__parallel_for(n, GRAIN, update_range, &a);
    } else if (n > 0) {
        update_strided(&a, slot->p, g);
    }
}

/* ---------------------------------------------------------------- stepping */

typedef struct pending {
    hd_tensor *grad; /* HD_NONE: the parameter is left alone */
    void *data;      /* the parameter's */
} pending;

static bool grad_fits(int64_t i, const hd_tensor *p, const hd_tensor *g)
{
    int n = hd_ndim(p);
    if (hd_dtype_of(g) == hd_dtype_of(p) && hd_ndim(g) == n &&
        memcmp(hd_sizes(g), hd_sizes(p), (size_t)n * sizeof(int64_t)) == 0) {
        return true;
    }
    hd_error_set(HD_SHAPE, "hd_optim_step: parameter %" PRId64 ": a gradient %s of %s for %s of %s",
                 i, HD__SIZES(hd_ndim(g), hd_sizes(g)), hd_dtype_name(hd_dtype_of(g)),
                 HD__SIZES(n, hd_sizes(p)), hd_dtype_name(hd_dtype_of(p)));
    return false;
}

static bool make_states(const hd_optim *o, hd__slot *slot)
{
    for (int k = 0; k < o->type->n_states(o); k++) {
        if (!slot->state[k]) {
            slot->state[k] = hd_retain(hd_zeros_like(slot->p, hd_dtype_of(slot->p)));
        }
        if (!slot->state[k]) {
            return false;
        }
    }
    return true;
}

/* All that can fail; the write itself cannot. */
static bool prepare(const hd_optim *o, pending *todo)
{
    for (int64_t i = 0; i < o->n; i++) {
        hd_tensor *p = o->slots[i].p, *g = hd_grad(p);
        if (g && g != HD_NONE && hd_shares_storage(g, p)) {
            g = hd_clone(g);
        }
        if (!g || (g != HD_NONE && (!grad_fits(i, p, g) || !make_states(o, &o->slots[i])))) {
            return false;
        }
        todo[i].grad = g;
    }
    for (int64_t i = 0; i < o->n; i++) {
        if (todo[i].grad != HD_NONE && !(todo[i].data = hd_data_mut(o->slots[i].p))) {
            return false;
        }
    }
    return true;
}

bool hd_optim_step(hd_optim *o)
{
    if (!hd__given("hd_optim_step", "o", o)) {
        return false;
    }
    if (hd_error_code() != HD_OK) {
        hd_error_set(HD_STATE, "hd_optim_step: an error stands: nothing is changed");
        return false;
    }
    HD_SCOPE;
    HD_NO_GRAD;
    pending *todo = hd_alloc((size_t)o->n * sizeof *todo);
    bool ok = todo && prepare(o, todo);
    for (int64_t i = 0; ok && i < o->n; i++) {
        if (todo[i].grad != HD_NONE) {
            update_slot(o, &o->slots[i], todo[i].data, todo[i].grad);
        }
    }
    hd_free(todo);
    return ok;
}

bool hd_optim_zero_grad(hd_optim *o)
{
    bool ok = hd__given("hd_optim_zero_grad", "o", o);
    for (int64_t i = 0; ok && i < o->n; i++) {
        ok = hd_set_grad(o->slots[i].p, HD_NONE);
    }
    return ok;
}

/* ---------------------------------------------------------------- learning rate */

double hd_optim_lr(const hd_optim *o)
{
    return hd__given("hd_optim_lr", "o", o) ? o->lr : NAN;
}

bool hd_optim_set_lr(hd_optim *o, double lr)
{
    if (!hd__given("hd_optim_set_lr", "o", o) || !hd__not_negative("hd_optim_set_lr", "lr", lr)) {
        return false;
    }
    o->lr = lr;
    return true;
}
