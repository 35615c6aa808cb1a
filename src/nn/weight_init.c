/* weight_init.c - torch.nn.init: functions that fill a tensor outside of the graph, with PyTorch's
 * formulas and random numbers.
 *
 * Bounds and deviations are computed in double and in PyTorch's order of operations, because their
 * rounding shows in the float32 weights. */
#include "base/random/draws.h"
#include "nn/module_args.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- plain fills */

hd_tensor *hd_init_uniform_(hd_tensor *x, double a, double b)
{
    HD__CALL("hd_init_uniform_");
    HD_NO_GRAD;
    return hd_uniform_(x, a, b);
}

hd_tensor *hd_init_normal_(hd_tensor *x, double mean, double std)
{
    HD__CALL("hd_init_normal_");
    HD_NO_GRAD;
    return hd_normal_(x, mean, std);
}

hd_tensor *hd_init_constant_(hd_tensor *x, double value)
{
    HD__CALL("hd_init_constant_");
    HD_NO_GRAD;
    return hd_fill_(x, value);
}

hd_tensor *hd_init_ones_(hd_tensor *x)
{
    HD__CALL("hd_init_ones_");
    return hd_init_constant_(x, 1);
}

hd_tensor *hd_init_zeros_(hd_tensor *x)
{
    HD__CALL("hd_init_zeros_");
    return hd_init_constant_(x, 0);
}

/* ---------------------------------------------------------------- truncated normal */

/* Returns Phi(x), the standard normal distribution function. */
static double normal_cdf(double x)
{
    return (1 + erf(x / sqrt(2.0))) / 2;
}

/* Returns 1 if an element of mask is true, 0 if none is, and -1 on error. */
static int some_true(hd_tensor *mask)
{
    hd_tensor *any = hd_any(mask);
    return any ? hd_item_int(any) != 0 : -1;
}

/* A normal distribution, truncated to [a, b]. If [a, b] covers enough of it, `normal` is true, and
 * candidates come from the normal distribution. Otherwise they are uniform in [a, b], and each is
 * accepted with a probability proportional to its density. */
typedef struct truncation {
    double mean, std, a, b;
    bool normal;
} truncation;

static hd_tensor *draw_candidates(const truncation *t, hd_tensor *c)
{
    return t->normal ? hd_normal_(c, t->mean, t->std) : hd_uniform_(c, t->a, t->b);
}

/* Returns a bool tensor that is true where a candidate in c is refused; NULL on error. A normal
 * candidate is refused outside of [a, b]. A uniform candidate is refused if log(v) > -0.5 *
 * ((c - mean) / std)^2 + 0.5 * mode^2, where v is uniform in [0, 1), and mode is (m - mean) / std
 * for the point m of [a, b] nearest to the mean. */
static hd_tensor *refused(const truncation *t, hd_tensor *c)
{
    if (t->normal) {
        return hd_logical_or(hd_lt_scalar(c, t->a), hd_gt_scalar(c, t->b));
    }
    double mode = (fmax(t->a, fmin(t->mean, t->b)) - t->mean) / t->std;
    hd_tensor *density = hd_div_scalar(hd_sub_scalar(c, t->mean), t->std);
    density = hd_sub_scalar(hd_mul_scalar(hd_pow_scalar(density, 2), -0.5), -0.5 * (mode * mode));
    return hd_gt(hd_log(hd_uniform_(hd_clone(c), 0, 1)), density);
}

static bool truncation_ok(double mean, double std, double a, double b)
{
    return (isfinite(mean) && isfinite(std) && std > 0 && a <= b) ||
           hd_fail(HD_VALUE,
                   "mean %g, std %g, a %g, b %g: expected a finite mean, a "
                   "finite std above 0, and a <= b",
                   mean, std, a, b);
}

/* Returns a tensor of x's shape that hd_normal_ fills with the same numbers as x; NULL on error.
 * hd_normal_ fills a contiguous tensor in blocks, and any other tensor number by number, with other
 * results. So if x is not contiguous, the result has gaps between its elements. */
static hd_tensor *drawn_like(hd_tensor *x)
{
    hd_tensor *y = hd_clone(x);
    if (y && !hd_is_contiguous(x) && hd_is_contiguous(y)) {
        y = hd_select(hd_empty(hd_dtype_of(x), hd_numel(x), 2), 1, 0);
        y = hd_view_n(y, hd_ndim(x), hd_sizes(x));
    }
    return y;
}

/* Fills x from t: draws candidates for all elements, then again for the refused ones, until none is
 * refused. Draws into a copy, so that a failure, which returns false with an error, leaves x
 * unchanged. */
static bool truncated(hd_tensor *x, const truncation *t)
{
    HD__SCOPE_OR(false);
    HD_NO_GRAD;
    hd_tensor *y = drawn_like(x);
    hd_tensor *c = hd_clone(y); /* has y's order in memory, which is the order of the draws */
    hd_tensor *pending = c ? refused(t, draw_candidates(t, y)) : NULL;
    while (pending) {
        HD__SCOPE_OR(false);
        int some = some_true(pending);
        if (some <= 0) {
            return some == 0 && hd_copy_(x, y);
        }
        bool ok = hd_copy_(y, hd_where(pending, draw_candidates(t, c), y)) &&
                  hd_copy_(pending, hd_logical_and(pending, refused(t, c)));
        if (!ok) {
            return false;
        }
    }
    return false;
}

hd_tensor *hd_init_trunc_normal_(hd_tensor *x, double mean, double std, double a, double b)
{
    HD__CALL("hd_init_trunc_normal_");
    if (!hd__nn_tensor_given("x", x) || !truncation_ok(mean, std, a, b)) {
        return NULL;
    }
    if (mean < a - 2 * std || mean > b + 2 * std) {
        hd_warn("mean %g is outside [a, b] = [%g, %g] by more than 2 std, %g, so the values may "
                "not follow the requested distribution. Choose a mean nearer to [a, b]",
                mean, a, b, 2 * std);
    }
    double inside = normal_cdf((b - mean) / std) - normal_cdf((a - mean) / std);
    const truncation t = {mean, std, a, b, .normal = inside > 0.3};
    HD__DRAWS_BEGIN(d);
    bool ok = truncated(x, &t);
    hd__draws_end(&d, ok);
    return ok ? x : NULL;
}

/* ---------------------------------------------------------------- by fan */

typedef struct fans {
    double in, out;
} fans;

static bool has_two_dims(const hd_tensor *x)
{
    return hd__nn_tensor_given("x", x) &&
           (hd_ndim(x) >= 2 ||
            hd_fail(HD_SHAPE, "x %s: expected two dimensions or more", HD__DIMS(x)));
}

/* Sets *f to the fans of the weight x (out, in, sizes...): f->in is in * size, and f->out is
 * out * size, where size is the product of `sizes`. Returns false with an error if x has fewer than
 * two dims. */
static bool fans_of(const hd_tensor *x, fans *f)
{
    if (!has_two_dims(x)) {
        return false;
    }
    double field = 1;
    for (int d = 2; d < hd_ndim(x); d++) {
        field *= (double)hd_size(x, d);
    }
    *f = (fans){(double)hd_size(x, 1) * field, (double)hd_size(x, 0) * field};
    return true;
}

/* Fills x with uniform or normal numbers of mean 0 and standard deviation std. Returns x, or NULL
 * with an error. */
static hd_tensor *draw_around_0(hd_tensor *x, double std, bool uniform)
{
    double bound = sqrt(3.0) * std;
    return uniform ? hd_init_uniform_(x, -bound, bound) : hd_init_normal_(x, 0, std);
}

static hd_tensor *xavier(hd_tensor *x, double gain, bool uniform)
{
    fans f;
    bool ok =
        fans_of(x, &f) &&
        (f.in + f.out != 0 || hd_fail(HD_SHAPE, "x %s: expected sizes above 0", HD__DIMS(x))) &&
        (gain >= 0 || hd_fail(HD_VALUE, "gain %g: expected 0 or more", gain));
    return ok ? draw_around_0(x, gain * sqrt(2.0 / (f.in + f.out)), uniform) : NULL;
}

hd_tensor *hd_init_xavier_uniform_(hd_tensor *x, double gain)
{
    HD__CALL("hd_init_xavier_uniform_");
    return xavier(x, gain, true);
}

hd_tensor *hd_init_xavier_normal_(hd_tensor *x, double gain)
{
    HD__CALL("hd_init_xavier_normal_");
    return xavier(x, gain, false);
}

double hd_calculate_gain(const char *nonlinearity, double param)
{
    HD__CALL("hd_calculate_gain");
    static const struct {
        const char *name;
        double gain; /* the gain of relu is sqrt(2) */
    } gains[] = {{"tanh", 5.0 / 3},       {"selu", 3.0 / 4},      {"relu", 1.4142135623730951},
                 {"linear", 1},           {"sigmoid", 1},         {"conv1d", 1},
                 {"conv2d", 1},           {"conv3d", 1},          {"conv_transpose1d", 1},
                 {"conv_transpose2d", 1}, {"conv_transpose3d", 1}};
    if (!hd__arg_given("nonlinearity", nonlinearity)) {
        return NAN;
    }
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) {
        if (strcmp(gains[i].name, nonlinearity) == 0) {
            return gains[i].gain;
        }
    }
    if (strcmp(nonlinearity, "leaky_relu") == 0) {
        double slope = isnan(param) ? 0.01 : param;
        return sqrt(2.0 / (1 + slope * slope));
    }
    hd_fail(HD_VALUE,
            "nonlinearity \"%s\": expected linear, conv1d, conv2d, conv3d, "
            "conv_transpose1d, conv_transpose2d, conv_transpose3d, sigmoid, tanh, relu, "
            "leaky_relu or selu",
            nonlinearity);
    return NAN;
}

static hd_tensor *kaiming(hd_tensor *x, double a, hd_fan mode, const char *nonlinearity,
                          bool uniform)
{
    fans f;
    if (!hd__nn_tensor_given("x", x)) {
        return NULL;
    }
    if (hd_numel(x) == 0) {
        hd_warn("x %s has no elements, so nothing is initialized: expected sizes above 0",
                HD__DIMS(x));
        return x;
    }
    if (mode != HD_FAN_IN && mode != HD_FAN_OUT) {
        return hd_fail(HD_VALUE, "mode %d: expected HD_FAN_IN or HD_FAN_OUT", (int)mode);
    }
    double gain = hd_calculate_gain(nonlinearity, a);
    bool ok = !isnan(gain) && fans_of(x, &f);
    return ok ? draw_around_0(x, gain / sqrt(mode == HD_FAN_IN ? f.in : f.out), uniform) : NULL;
}

hd_tensor *hd_init_kaiming_uniform_(hd_tensor *x, double a, hd_fan mode, const char *nonlinearity)
{
    HD__CALL("hd_init_kaiming_uniform_");
    return kaiming(x, a, mode, nonlinearity, true);
}

hd_tensor *hd_init_kaiming_normal_(hd_tensor *x, double a, hd_fan mode, const char *nonlinearity)
{
    HD__CALL("hd_init_kaiming_normal_");
    return kaiming(x, a, mode, nonlinearity, false);
}

/* ---------------------------------------------------------------- orthogonal */

/* Makes the rows of a, float64 (n, m) with n <= m, orthonormal by Gram-Schmidt. Returns false with
 * an error if that fails. Each row is projected twice, which leaves only rounding errors (Giraud,
 * Langou and Rozloznik 2005). No row is negated, so R in this QR decomposition has a positive
 * diagonal, as in PyTorch's orthogonal_. */
static bool orthonormal_rows(hd_tensor *a)
{
    bool ok = true;
    for (int64_t i = 0; i < hd_size(a, 0) && ok; i++) {
        HD__SCOPE_OR(false);
        hd_tensor *row = hd_select(a, 0, i), *before = hd_narrow(a, 0, 0, i); /* (m,), (i, m) */
        ok = row && before;
        for (int pass = 0; pass < 2 && i > 0 && ok; pass++) {
            ok = hd_sub_(row, hd_matmul(hd_matmul(before, row), before));
        }
        ok = ok && hd_div_(row, hd_sqrt(hd_dot(row, row)));
    }
    return ok;
}

/* Returns gain times an orthogonal matrix in the shape and dtype of x, which is not empty; NULL on
 * error. */
static hd_tensor *orthogonal_as(const hd_tensor *x, double gain)
{
    int64_t rows = hd_size(x, 0), cols = hd_numel(x) / rows;
    hd_tensor *a = hd_normal_(hd_empty(hd_dtype_of(x), rows, cols), 0, 1);
    a = hd_to(a, HD_FLOAT64);
    a = rows >= cols ? hd_contiguous(hd_t(a)) : a; /* (n, m), n <= m */
    if (!a || !orthonormal_rows(a)) {
        return NULL;
    }
    a = hd_to(rows >= cols ? hd_t(a) : a, hd_dtype_of(x));
    return hd_mul_scalar(hd_reshape_n(a, hd_ndim(x), hd_sizes(x)), gain);
}

hd_tensor *hd_init_orthogonal_(hd_tensor *x, double gain)
{
    HD__CALL("hd_init_orthogonal_");
    if (!has_two_dims(x)) {
        return NULL;
    }
    if (hd_numel(x) == 0) {
        return x;
    }
    HD__SCOPE_OR(NULL);
    HD_NO_GRAD;
    HD__DRAWS_BEGIN(d);
    hd_tensor *y = orthogonal_as(x, gain);
    bool ok = y && hd_copy_(x, y);
    hd__draws_end(&d, ok);
    return ok ? x : NULL;
}
