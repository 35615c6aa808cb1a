/* clip.c - limits gradients, as clip_grad_norm_ and clip_grad_value_ of torch.nn.utils do.
 *
 * All gradients are read before the first is written. Sums are in double, first within each grain
 * (walk.h) and then over the grains in order, so the number of threads does not matter. */
#include "optim/optim.h"
#include "optim/walk.h"

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------- collecting */

typedef struct grads {
    hd__optim_walk w; /* the walk over the gradients that exist and have elements */
    /* sums[g] is the sum of |x|^p over grain g, which is a part of one gradient, or all of it
     * (walk.h) */
    double *sums;
    int kernel;    /* the kernel that changes the gradients */
    double number; /* the p of the norm, or the number for `kernel` */
} grads;

static hd_tensor *grad_of(const hd_list *parameters, int64_t i)
{
    hd_tensor *p = hd__optim_parameter_at(parameters, i), *g = p ? hd_grad(p) : NULL;
    if (g && g != HD_NONE && hd__tensor_overlaps_itself(g)) {
        return hd_fail(
            HD_VALUE,
            "the gradient of parameter %" PRId64
            " of %s is expanded: several elements share memory. Give hd_set_grad a clone",
            i, HD__DIMS(g));
    }
    return g;
}

static bool collect(const hd_list *parameters, grads *f)
{
    int64_t n = hd_list_len(parameters);
    *f = (grads){0};
    bool ok = hd__optim_walk_begin(&f->w, n);
    for (int64_t i = 0; i < n && ok; i++) {
        hd_tensor *g = grad_of(parameters, i);
        ok = g && (g == HD_NONE || hd_numel(g) == 0 || hd__optim_walk_add(&f->w, g));
    }
    return ok;
}

/* ---------------------------------------------------------------- norms */

/* Adds |x|^p to f->sums[grain] for elements [begin, end) of gradient i, where p is f->number. If p
 * is INFINITY or -INFINITY, the sum becomes the maximum or minimum of |x| instead. If the gradient
 * is not contiguous, reads its copy row by row. */
static void sum_run(int64_t i, int64_t grain, int64_t begin, int64_t end, void *arg)
{
    const grads *f = arg;
    const hd_tensor *x = f->w.dense[i];
    int64_t row = x == f->w.x[i] ? end - begin : hd_size(x, -1);
    for (int64_t at = begin; at < end; at += row) {
        hdk_optim()->norm[hd_dtype_of(x)](hd_data(x), at, at + row, f->number, &f->sums[grain]);
    }
}

/* Returns the p-norm of elements whose sum of |x|^p is `sum`. If p is 0 or infinite, `sum` is their
 * norm already. */
static double root(double sum, double p)
{
    return p == 0 || isinf(p) ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

static double first_sum(double p)
{
    return p == -INFINITY ? INFINITY : 0;
}

/* Returns the total of the n sums. If p is INFINITY, returns their maximum, and if p is -INFINITY,
 * their minimum. */
static double fold(const double *sums, int64_t n, double p)
{
    double sum = first_sum(p);
    if (isinf(p)) {
        hdk_optim()->norm[HD_FLOAT64](sums, 0, n, p, &sum);
        return sum;
    }
    for (int64_t i = 0; i < n; i++) {
        sum += sums[i];
    }
    return sum;
}

static bool total_norm(grads *f, double p, double *norm)
{
    const hd__optim_walk *w = &f->w;
    int64_t n = 0;
    for (int64_t i = 0; i < w->n; i++) {
        n += hd__optim_grains(w->x[i]);
    }
    double *sums = f->sums = hd__arg_alloc_items(n, sizeof *sums), sum = first_sum(p);
    if (!sums) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        sums[i] = first_sum(p);
    }
    f->number = p;
    hd__optim_walk_all(w, false, sum_run, f);
    const double *from = sums;
    for (int64_t i = 0; i < w->n; i++) {
        int64_t grains = hd__optim_grains(w->x[i]);
        /* overwrites the sum of a grain, which is not needed any more */
        sums[i] = root(fold(from, grains, p), p);
        from += grains;
    }
    hdk_optim()->norm[HD_FLOAT64](sums, 0, w->n, p, &sum);
    *norm = w->n ? root(sum, p) : 0;
    return true;
}

/* ---------------------------------------------------------------- writing */

static void change_run(int64_t i, int64_t grain, int64_t begin, int64_t end, void *arg)
{
    (void)grain;
    const grads *f = arg;
    const hd_tensor *x = f->w.dense[i];
    void *data = (void *)(uintptr_t)hd_data(x);
    hdk_optim()->change[f->kernel][hd_dtype_of(x)](data, begin, end, f->number);
}

/* Clipping adds 1 to the version of each gradient. Notes the new version in the gradient's record
 * of use. Otherwise src/diagnose/stale_gradients.c would take the clipping for a change by the
 * program. */
static void note_clip(const hd_list *parameters)
{
    for (int64_t i = 0; hd__error_warns() && i < hd_list_len(parameters); i++) {
        int64_t version;
        hd__tensor_grad_use *use = hd__tensor_grad_use_of(hd_list_get(parameters, i), &version);
        if (use && version == use->version + 1) {
            use->version = version;
        }
    }
}

/* Changes all gradients with the kernel and its number a, and returns true. If one of them must not
 * be written, for example because a hook received it, changes none, and returns false with an
 * error. */
static bool change_all(const hd_list *parameters, grads *f, int kernel, double a)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < f->w.n; i++) {
        ok = hd__tensor_may_write(f->w.x[i]);
    }
    for (int64_t i = 0; ok && i < f->w.n; i++) {
        ok = hd_data_mut(f->w.dense[i]);
    }
    f->kernel = kernel;
    f->number = a;
    if (ok) {
        hd__optim_walk_all(&f->w, true, change_run, f);
        note_clip(parameters);
    }
    return ok;
}

static void grads_free(grads *f)
{
    hd_free(f->w.x);
    hd_free(f->sums);
}

/* ---------------------------------------------------------------- public */

static bool norm_ok(double norm, bool error_if_nonfinite)
{
    return isfinite(norm) || !error_if_nonfinite ||
           hd_fail(HD_VALUE, "the norm of the gradients is %s: expected a finite number",
                   isnan(norm) ? "nan" : "inf");
}

double hd_clip_grad_norm_(const hd_list *parameters, double max_norm, double norm_type,
                          bool error_if_nonfinite)
{
    HD__CALL("hd_clip_grad_norm_");
    if (!hd__tensor_list_arg("parameters", parameters) ||
        !hd__optim_number_ok("max_norm", HD__NOT_NEGATIVE, max_norm) ||
        !hd__optim_number_ok("norm_type", HD__ANY_NUMBER, norm_type)) {
        return NAN;
    }
    if (hd_list_len(parameters) == 0) {
        hd_warn("the list of parameters is empty, so no gradient is clipped. Pass the parameters "
                "of the optimizer");
    }
    HD__SCOPE_OR(NAN);
    HD_NO_GRAD;
    grads found;
    double norm = NAN;
    bool ok = collect(parameters, &found) && total_norm(&found, norm_type, &norm) &&
              norm_ok(norm, error_if_nonfinite);
    double a = max_norm / (norm + 1e-6);
    if (ok && !(a >= 1)) { /* true for NaN */
        ok = change_all(parameters, &found, HDK_SCALE, a);
    }
    grads_free(&found);
    return ok ? norm : NAN;
}

bool hd_clip_grad_value_(const hd_list *parameters, double clip_value)
{
    HD__CALL("hd_clip_grad_value_");
    if (!hd__tensor_list_arg("parameters", parameters) ||
        !hd__optim_number_ok("clip_value", HD__NOT_NEGATIVE, clip_value)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    grads found;
    bool ok =
        collect(parameters, &found) && change_all(parameters, &found, HDK_CLAMP_BOTH, clip_value);
    grads_free(&found);
    return ok;
}
