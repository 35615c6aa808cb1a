/* clip.c - limits for gradients, as torch.nn.utils' clip_grad_norm_ and clip_grad_value_.
 *
 * All gradients are read before the first is written. Sums are in double, grain by grain in their
 * order, so that they do not depend on the number of threads. */
#include "optim/optim_internal.h"

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------- collecting */

typedef struct grads {
    hd_tensor **at; /* the gradients that exist and have elements */
    int64_t n;
    double *norms; /* one for each gradient */
    hd__walk *walks;
} grads;

static hd_tensor *grad_of(const hd_list *parameters, int64_t i)
{
    hd_tensor *p = hd__parameter_at(parameters, i), *g = p ? hd_grad(p) : NULL;
    if (g && g != HD_NONE && hd__is_expanded(g)) {
        return hd__fail(HD_VALUE,
                        "the gradient of parameter %" PRId64
                        " of %s is expanded: several elements share memory",
                        i, HD__DIMS(g));
    }
    return g;
}

static bool collect(const hd_list *parameters, grads *found)
{
    int64_t n = hd_list_len(parameters);
    found->n = 0;
    found->at = hd__alloc_items(n + 1, sizeof(hd_tensor *));
    found->norms = hd__alloc_items(n + 1, sizeof(double));
    found->walks = hd__alloc_items(n + 1, sizeof *found->walks);
    bool ok = found->at && found->norms && found->walks;
    for (int64_t i = 0; i < n && ok; i++) {
        hd_tensor *g = grad_of(parameters, i);
        ok = g;
        if (ok && g != HD_NONE && hd_numel(g) > 0) {
            found->at[found->n++] = g;
        }
    }
    return ok;
}

static void grads_free(grads *found)
{
    hd_free(found->at);
    hd_free(found->norms);
    hd_free(found->walks);
}

/* ---------------------------------------------------------------- norms */

typedef struct summing {
    const char *data;
    hd_dtype d;
    double p;
    double *sums; /* one for each grain; for a strided tensor only the first */
    bool grains;
} summing;

static void sum_run(const int64_t at[2], const int64_t strides[2], int64_t element, int64_t n,
                    void *arg)
{
    const summing *s = arg;
    int64_t bytes = hd_dtype_size(s->d), grain = s->grains ? HD__GRAIN : n;
    for (int64_t i = 0; i < n; i += grain) {
        int64_t len = n - i < grain ? n - i : grain;
        double *sum = s->sums + (s->grains ? (element + i) / HD__GRAIN : 0);
        hdk_optim()->norm[s->d](s->data + (at[0] + i * strides[0]) * bytes, strides[0], len, s->p,
                                sum);
    }
}

/* The p-norm from its sum of powers. */
static double root(double sum, double p)
{
    return p == 0 || isinf(p) ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

static double first_sum(double p)
{
    return p == -INFINITY ? INFINITY : 0;
}

/* The number of sums: one for each grain of a contiguous tensor, otherwise one. */
static int64_t sums_of(const hd_tensor *g)
{
    return hd_is_contiguous(g) ? (hd_numel(g) + HD__GRAIN - 1) / HD__GRAIN : 1;
}

/* Adds the sums, or compares them if p is infinite. */
static double fold(const double *sums, int64_t n, double p)
{
    double sum = first_sum(p);
    for (int64_t i = 0; i < n; i++) {
        if (isinf(p)) {
            hdk_optim()->norm[HD_FLOAT64](&sums[i], 1, 1, p, &sum);
        } else {
            sum += sums[i];
        }
    }
    return sum;
}

/* tasks and sums have room for all gradients. */
static void sum_all(const grads *found, double p, summing *tasks, double *sums)
{
    double *end = sums;
    for (int64_t i = 0; i < found->n; i++) {
        const hd_tensor *g = found->at[i];
        tasks[i] = (summing){hd_data(g), hd_dtype_of(g), p, end, hd_is_contiguous(g)};
        found->walks[i] = (hd__walk){.a = g, .arg = &tasks[i]};
        for (int64_t k = sums_of(g); k > 0; k--) {
            *end++ = first_sum(p);
        }
    }
    hd__walk_all(found->walks, found->n, sum_run);
    for (int64_t i = 0; i < found->n; i++) {
        found->norms[i] = root(fold(tasks[i].sums, sums_of(found->at[i]), p), p);
    }
}

static bool total_norm(const grads *found, double p, double *norm)
{
    int64_t n = 0;
    for (int64_t i = 0; i < found->n; i++) {
        n += sums_of(found->at[i]);
    }
    double *sums = hd__alloc_items(n, sizeof *sums), sum = found->n ? first_sum(p) : 0;
    summing *tasks = hd__alloc_items(found->n, sizeof *tasks);
    bool ok = sums && tasks;
    if (ok) {
        sum_all(found, p, tasks, sums);
        hdk_optim()->norm[HD_FLOAT64](found->norms, 1, found->n, p, &sum);
        *norm = found->n ? root(sum, p) : 0;
    }
    hd_free(sums);
    hd_free(tasks);
    return ok;
}

/* ---------------------------------------------------------------- writing */

typedef struct changing {
    char *data;
    hd_dtype d;
    int kernel;
    double a;
} changing;

static void change_run(const int64_t at[2], const int64_t strides[2], int64_t element, int64_t n,
                       void *arg)
{
    (void)element;
    const changing *t = arg;
    hdk_optim()->change[t->kernel][t->d](t->data + at[0] * hd_dtype_size(t->d), strides[0], n,
                                         t->a);
}

/* Changes all of them or none: a gradient that a hook is given may not be changed. */
static bool change_all(const grads *found, int kernel, double a)
{
    changing *tasks = hd__alloc_items(found->n, sizeof *tasks);
    bool ok = tasks;
    for (int64_t i = 0; ok && i < found->n; i++) {
        ok = hd__may_write(found->at[i]);
    }
    for (int64_t i = 0; ok && i < found->n; i++) {
        tasks[i] = (changing){hd_data_mut(found->at[i]), hd_dtype_of(found->at[i]), kernel, a};
        found->walks[i] = (hd__walk){.a = found->at[i], .arg = &tasks[i]};
    }
    if (ok) {
        hd__walk_all(found->walks, found->n, change_run);
    }
    hd_free(tasks);
    return ok;
}

/* ---------------------------------------------------------------- public */

static bool not_negative(const char *name, double v)
{
    return v >= 0 || hd__fail(HD_VALUE, "%s %g: expected 0 or more", name, v); /* NaN: false */
}

static bool norm_ok(double norm, bool error_if_nonfinite)
{
    return isfinite(norm) || !error_if_nonfinite ||
           hd__fail(HD_VALUE, "the norm of the gradients is %s: expected a finite number",
                    isnan(norm) ? "nan" : "inf");
}

double hd_clip_grad_norm_(const hd_list *parameters, double max_norm, double norm_type,
                          bool error_if_nonfinite)
{
    HD__CALL("hd_clip_grad_norm_");
    if (!hd__list_arg("parameters", parameters) || !not_negative("max_norm", max_norm)) {
        return NAN;
    }
    if (isnan(norm_type)) {
        hd__fail(HD_VALUE, "norm_type nan: expected a number");
        return NAN;
    }
    if (hd_list_len(parameters) == 0) {
        hd__warn("the list of parameters is empty, so no gradient is clipped: expected the "
                 "parameters that the optimizer has");
    }
    HD__SCOPE_OR(NAN);
    HD_NO_GRAD;
    grads found;
    double norm = NAN;
    bool ok = collect(parameters, &found) && total_norm(&found, norm_type, &norm) &&
              norm_ok(norm, error_if_nonfinite);
    double a = max_norm / (norm + 1e-6);
    if (ok && !(a >= 1)) { /* true for NaN */
        ok = change_all(&found, HDK_SCALE, a);
    }
    grads_free(&found);
    return ok ? norm : NAN;
}

bool hd_clip_grad_value_(const hd_list *parameters, double clip_value)
{
    HD__CALL("hd_clip_grad_value_");
    if (!hd__list_arg("parameters", parameters) || !not_negative("clip_value", clip_value)) {
        return false;
    }
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    grads found;
    bool ok = collect(parameters, &found) && change_all(&found, HDK_CLAMP_BOTH, clip_value);
    grads_free(&found);
    return ok;
}
