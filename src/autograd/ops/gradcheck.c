/* gradcheck.c - hd_gradcheck, which compares backward's gradients with central differences in
 * float64.
 *
 * Both are gradients of one number: the sum of the elements of f's result, each times a fixed
 * weight. So one backward is enough. The weights differ, so that errors do not cancel. */
#include <math.h>

#include "autograd/grad.h"
#include "base/random/draws.h"
#include "tensor/copy.h"
#include "tensor/dims.h"
#include "tensor/list.h"
#include "tensor/tensor_args.h"

typedef struct check {
    hd_gradcheck_fn f;
    void *user;
    int n;
    hd_tensor *const *inputs;
    hd_gradcheck_options o;
} check;

hd_gradcheck_options hd_gradcheck_defaults(void)
{
    return (hd_gradcheck_options){
        .size = sizeof(hd_gradcheck_options), .eps = 1e-6, .atol = 1e-5, .rtol = 1e-3};
}

/* Returns weights in [0.5, 1.5) for the elements of y, no two of them equal; NULL on failure. */
static hd_tensor *weights_like(const hd_tensor *y)
{
    hd_tensor *w = hd__tensor_empty_as(HD_FLOAT64, y);
    for (int64_t i = 0; w && i < w->numel; i++) {
        double turn = (double)(i + 1) * 0.6180339887498949;
        ((double *)hd__tensor_ptr(w))[i] = 0.5 + turn - floor(turn);
    }
    return w;
}

static hd_tensor *call_f(const check *c)
{
    HD__CALLS_BACK;
    return c->f(c->inputs, c->n, c->user);
}

static hd_tensor *check_call(const check *c)
{
    hd_generator *g = hd_generator_current();
    hd_tensor *y = hd_generator_seed(g, c->o.seed) ? call_f(c) : NULL;
    return y && hd__tensor_arg("f's result", y) && hd__tensor_float_arg(y) ? y : NULL;
}

/* Returns sum(weights * f's result), computed in float64; NaN on failure. */
static double weighted(const check *c)
{
    HD__SCOPE_OR(NAN);
    HD_NO_GRAD;
    hd_tensor *y = check_call(c);
    return y ? hd_item(hd_sum(hd_mul(hd__tensor_cast(y, HD_FLOAT64), weights_like(y)))) : NAN;
}

/* Returns the address of element i of x, in row-major order. */
static double *element(hd_tensor *x, int64_t i)
{
    hd__dims all;
    hd__dims_place at;
    hd__dims_make(&all, x->ndim, x->sizes, 1, &x);
    hd__dims_seek(&all, i, &at);
    return (double *)((char *)hd__tensor_ptr(x) + at.offset[0]);
}

static double difference(const check *c, double *at)
{
    double before = *at;
    *at = before + c->o.eps;
    double above = weighted(c);
    *at = before - c->o.eps;
    double below = weighted(c);
    *at = before;
    return (above - below) / (2 * c->o.eps);
}

static bool gradients_agree(const check *c, int input, hd_tensor *grad, const char *name)
{
    hd_tensor *x = c->inputs[input];
    for (int64_t i = 0; i < x->numel; i++) {
        uint64_t failures = hd_error_count();
        double numeric = difference(c, element(x, i));
        if (hd_error_count() != failures) {
            return false;
        }
        double given = *element(grad, i);
        if (!(fabs(given - numeric) <= c->o.atol + c->o.rtol * fabs(numeric))) {
            return hd_fail(HD_GRAD,
                           "%s, input %d at %s: backward gives %.9g, differences give %.9g", name,
                           input, HD__INDEX(x, i), given, numeric);
        }
    }
    return true;
}

static bool gradcheck_inputs_ok(int n, hd_tensor *const *inputs)
{
    if (!hd__tensor_args("inputs", n, inputs, false)) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        if (hd__graph_requires_grad(inputs[i]) &&
            (inputs[i]->dtype != HD_FLOAT64 || !hd_is_leaf(inputs[i]) ||
             hd__tensor_overlaps_itself(inputs[i]))) {
            return hd_fail(HD_VALUE,
                           "input %d, %s of %s: expected a float64 leaf that is not expanded", i,
                           HD__SHAPE(inputs[i]), hd_dtype_name(inputs[i]->dtype));
        }
    }
    return true;
}

/* Sets grads[i] to the gradient of weighted(c) for input i, as backward computes it, or to HD_NONE
 * if input i has none. Writes the grad_fn of f's result to name. Returns false with an error if f
 * or backward fails. */
static bool analytic(const check *c, hd_tensor **grads, char name[64])
{
    hd_tensor *y = check_call(c);
    if (!y) {
        return false;
    }
    const char *fn = hd_grad_fn(y);
    snprintf(name, 64, "%s", fn && *fn ? fn : "f");
    int checked = 0;
    hd_tensor *wanted[HD__FEW];
    for (int i = 0; i < c->n; i++) {
        grads[i] = HD_NONE;
        if (hd__graph_requires_grad(c->inputs[i])) {
            wanted[checked++] = c->inputs[i];
        }
    }
    if (!checked || !hd__graph_requires_grad(y)) {
        return true;
    }
    hd_grad_options o = hd_grad_defaults();
    o.allow_unused = true;
    hd_tensor *w = weights_like(y);
    w = w ? hd__tensor_cast(w, y->dtype) : NULL;
    hd_list *ys = hd_list_n(1, &y), *xs = hd_list_n(checked, wanted);
    hd_list *ws = w ? hd_list_n(1, &w) : NULL; /* if NULL, hd_grad_of would use ones */
    hd_list *found = ys && xs && ws ? hd_grad_of(ys, xs, ws, &o) : NULL;
    for (int i = 0, k = 0; found && i < c->n; i++) {
        if (hd__graph_requires_grad(c->inputs[i])) {
            grads[i] = found->items[k++];
        }
    }
    return found;
}

bool hd_gradcheck_n(hd_gradcheck_fn f, void *user, int n, hd_tensor *const *inputs,
                    const hd_gradcheck_options *o)
{
    HD__CALL("hd_gradcheck");
    if (!f || !inputs) {
        return hd__arg_null_arg(f ? "inputs" : "f");
    }
    if (n < 1 || n > HD__FEW) {
        return hd_fail(HD_VALUE, "%d inputs: expected 1 to %d", n, HD__FEW);
    }
    if ((o && !HD__SIZE_OK(o, "hd_gradcheck_defaults()")) || !gradcheck_inputs_ok(n, inputs)) {
        return false;
    }
    HD__SCOPE_OR(false);
    bool before = hd_set_grad_mode(true);
    HD__DRAWS_BEGIN(d);
    check c = {f, user, n, inputs, o ? *o : hd_gradcheck_defaults()};
    hd_tensor *grads[HD__FEW];
    char name[64];
    bool ok = analytic(&c, grads, name);
    for (int i = 0; ok && i < n; i++) {
        if (hd__graph_requires_grad(inputs[i])) {
            hd_tensor *g =
                hd__tensor_is_none(grads[i]) ? hd_zeros_like(inputs[i], HD_FLOAT64) : grads[i];
            ok = g && gradients_agree(&c, i, g, name);
        }
    }
    hd__draws_end(&d, ok);
    hd_set_grad_mode(before);
    return ok;
}
