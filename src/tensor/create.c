/* create.c - makes tensors filled with one value, a range of numbers, or random numbers. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/random/generator.h"
#include "base/threads/pool.h"
#include "tensor/copy.h"
#include "tensor/kernels/copy.h"
#include "tensor/random_fill.h"
#include "tensor/strides.h"
#include "tensor/tensor_args.h"

enum { FILL_GRAIN = 32768 };

/* ---------------------------------------------------------------- filled */

hd_tensor *(hd_empty_n)(hd_dtype d, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_empty");
    return hd__tensor_empty(d, ndim, sizes);
}

hd_tensor *(hd_zeros_n)(hd_dtype d, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_zeros");
    hd_tensor *y = hd__tensor_empty(d, ndim, sizes);
    if (y && y->numel > FILL_GRAIN) {
        hd__tensor_fill(y, hd_scalar_int(0));
    } else if (y) {
        memset(hd__tensor_ptr(y), 0, y->storage->nbytes);
    }
    return y;
}

hd_tensor *(hd_ones_n)(hd_dtype d, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_ones");
    return hd_full_n(d, 1, ndim, sizes);
}

hd_tensor *(hd_full_n)(hd_dtype d, hd_scalar value, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_full");
    if (!hd__tensor_dtype_arg(d) || !hd__tensor_scalar_fits(d, value)) {
        return NULL;
    }
    hd_tensor *y = hd__tensor_empty(d, ndim, sizes);
    return y ? hd__tensor_fill(y, value) : NULL;
}

hd_tensor *(hd_scalar_tensor)(hd_dtype d, hd_scalar value)
{
    HD__CALL("hd_scalar_tensor");
    return hd_full_n(d, value, 0, NULL);
}

hd_tensor *(hd_empty_like)(const hd_tensor *x, hd_dtype d)
{
    HD__CALL("hd_empty_like");
    return hd__tensor_any_arg("x", x, false) ? hd__tensor_empty(d, x->ndim, x->sizes) : NULL;
}

hd_tensor *(hd_zeros_like)(const hd_tensor *x, hd_dtype d)
{
    HD__CALL("hd_zeros_like");
    return hd_full_like(x, d, 0);
}

hd_tensor *(hd_ones_like)(const hd_tensor *x, hd_dtype d)
{
    HD__CALL("hd_ones_like");
    return hd_full_like(x, d, 1);
}

hd_tensor *(hd_full_like)(const hd_tensor *x, hd_dtype d, hd_scalar value)
{
    HD__CALL("hd_full_like");
    return hd__tensor_any_arg("x", x, false) ? hd_full_n(d, value, x->ndim, x->sizes) : NULL;
}

/* ---------------------------------------------------------------- ranges */

/* Returns the length of the arange of dtype d from start to end by step. Returns -1 with HD_VALUE
 * if start or end is not finite, or if step is NaN, is 0 or leads away from end. For int64, the
 * caller has made all three numbers integers. For floats the length is computed in double, even
 * from integers, as in PyTorch. */
static int64_t arange_len(hd_dtype d, hd_scalar start, hd_scalar end, hd_scalar step)
{
    double a = hd__tensor_scalar_double(start), b = hd__tensor_scalar_double(end),
           s = hd__tensor_scalar_double(step);
    bool finite = isfinite(a) && isfinite(b) && !isnan(s);
    if (!finite || s == 0 || (s > 0 ? b < a : b > a)) {
        hd_fail(HD_VALUE, "from %g to %g by %g: expected %s", a, b, s,
                finite ? "a step from the start towards the end" : "finite numbers");
        return -1;
    }
    if (d == HD_INT64) {
        uint64_t span = s > 0 ? (uint64_t)end.v.i - (uint64_t)start.v.i
                              : (uint64_t)start.v.i - (uint64_t)end.v.i;
        uint64_t by = s > 0 ? (uint64_t)step.v.i : 0 - (uint64_t)step.v.i;
        uint64_t len = span / by + (span % by != 0);
        return len > INT64_MAX ? INT64_MAX : (int64_t)len;
    }
    double len = ceil((b - a) / s);
    return len < 0x1p63 ? (int64_t)len : INT64_MAX;
}

/* Truncates *s, a number of an int64 arange, to an integer, as PyTorch does. Returns false with
 * HD_VALUE if int64 cannot hold it. */
static bool to_whole(hd_scalar *s)
{
    if (!s->is_int && !hd__tensor_scalar_fits(HD_INT64, *s)) {
        return false;
    }
    *s = hd_scalar_int(hd__tensor_scalar_int(*s));
    return true;
}

typedef struct steps {
    hd_tensor *y;
    hd_scalar start, step;
} steps;

/* Writes the elements [begin, end) of an arange, which arg describes. Integers wrap, because the
 * step after the last element may overflow. */
static void run_steps(int64_t begin, int64_t end, void *arg)
{
    const steps *s = arg;
    hd_tensor *y = s->y;
    if (y->dtype != HD_INT64) {
        hdk_copy()->arange[y->dtype](hd__tensor_ptr(y), hd__tensor_scalar_double(s->start),
                                     hd__tensor_scalar_double(s->step), y->numel, begin, end);
        return;
    }
    int64_t *to = hd__tensor_ptr(y);
    uint64_t at = (uint64_t)s->start.v.i + (uint64_t)begin * (uint64_t)s->step.v.i;
    for (int64_t i = begin; i < end; i++, at += (uint64_t)s->step.v.i) {
        to[i] = (int64_t)at;
    }
}

hd_tensor *(hd_arange_as)(hd_dtype d, hd_scalar start, hd_scalar end, hd_scalar step)
{
    HD__CALL("hd_arange_as");
    if (!hd__tensor_number_dtype(d) ||
        (d == HD_INT64 && !(to_whole(&start) && to_whole(&end) && to_whole(&step)))) {
        return NULL;
    }
    int64_t n = arange_len(d, start, end, step);
    hd_tensor *y = n < 0 ? NULL : hd__tensor_empty(d, 1, &n);
    if (!y) {
        return NULL;
    }
    hd__parallel_for(n, FILL_GRAIN, run_steps, &(steps){y, start, step});
    return y;
}

hd_tensor *(hd_arange)(hd_scalar start, hd_scalar end, hd_scalar step)
{
    HD__CALL("hd_arange");
    bool integers = start.is_int && end.is_int && step.is_int;
    hd_dtype d = integers ? HD_INT64 : HD_FLOAT32;
    return (hd_arange_as)(d, start, end, step);
}

/* A linspace of n elements from a to b. Its first half counts up from a, and its second half down
 * from b, with one rounding for each element. So both ends are exact. */
typedef struct line {
    hd_dtype d;
    char *y;
    double a, b;
    int64_t n;
} line;

static void run_line(int64_t begin, int64_t end, void *arg)
{
    const line *l = arg;
    if (hd__tensor_is_float(l->d)) {
        hdk_copy()->linspace[l->d](l->y, l->a, l->b, l->n, begin, end);
        return;
    }
    double step = (l->b - l->a) / (double)(l->n - 1);
    for (int64_t i = begin; i < end; i++) {
        double v =
            i < l->n / 2 ? fma(step, (double)i, l->a) : fma(-step, (double)(l->n - 1 - i), l->b);
        hd__tensor_scalar_bytes(l->d, hd_scalar_double(v), l->y + i * hd__tensor_bytes_of(l->d));
    }
}

hd_tensor *(hd_linspace)(hd_dtype d, double start, double end, int64_t steps)
{
    HD__CALL("hd_linspace");
    bool ok = hd__tensor_number_dtype(d) &&
              (steps >= 0 || hd_fail(HD_VALUE, "%" PRId64 " steps: expected 0 or more", steps)) &&
              hd__tensor_scalar_fits(d, hd_scalar_double(start)) &&
              hd__tensor_scalar_fits(d, hd_scalar_double(end));
    hd_tensor *y = ok ? hd__tensor_empty(d, 1, &steps) : NULL;
    if (y && steps == 1) {
        hd__tensor_fill(y, hd_scalar_double(start));
    } else if (y) {
        bool whole = d == HD_INT64;
        line l = {d, hd__tensor_ptr(y), whole ? trunc(start) : start, whole ? trunc(end) : end,
                  steps};
        hd__parallel_for(steps, FILL_GRAIN, run_line, &l);
    }
    return y;
}

hd_tensor *(hd_eye)(hd_dtype d, int64_t n, int64_t m)
{
    HD__CALL("hd_eye");
    hd_tensor *y = hd_full_n(d, 0, 2, (int64_t[]){n, m});
    if (y) {
        int64_t len = n < m ? n : m;
        hd_tensor diagonal = {.dtype = y->dtype, .ndim = 1, .storage = y->storage, .numel = len};
        diagonal.sizes[0] = len;
        diagonal.strides[0] = m + 1;
        hd__tensor_fill(&diagonal, hd_scalar_int(1));
    }
    return y;
}

/* ---------------------------------------------------------------- random */

typedef hd_tensor *fill_random(hd_tensor *x, double a, double b);

static hd_tensor *drawn(hd_tensor *y, fill_random *fill)
{
    return y ? fill(y, 0, 1) : NULL;
}

static hd_tensor *random_sized(hd_dtype d, int ndim, const int64_t *sizes, fill_random *fill)
{
    return hd__tensor_float_dtype(d) ? drawn(hd__tensor_empty(d, ndim, sizes), fill) : NULL;
}

/* Returns a new tensor of dtype d and x's shape, which `fill` fills with random numbers. Its dims
 * have the same order in memory as x's dims, because numbers are drawn in this order. Returns NULL
 * with an error if x or d is wrong, or if memory runs out. */
static hd_tensor *random_like(hd_dtype d, const hd_tensor *x, fill_random *fill)
{
    bool ok = hd__tensor_any_arg("x", x, false) && hd__tensor_float_dtype(d);
    return ok ? drawn(hd__tensor_laid_out_as(hd__tensor_empty_as(d, x), x), fill) : NULL;
}

hd_tensor *(hd_rand_n)(hd_dtype d, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_rand");
    return random_sized(d, ndim, sizes, hd__tensor_uniform_fill);
}

hd_tensor *(hd_randn_n)(hd_dtype d, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_randn");
    return random_sized(d, ndim, sizes, hd__tensor_normal_fill);
}

hd_tensor *(hd_rand_like)(const hd_tensor *x, hd_dtype d)
{
    HD__CALL("hd_rand_like");
    return random_like(d, x, hd__tensor_uniform_fill);
}

hd_tensor *(hd_randn_like)(const hd_tensor *x, hd_dtype d)
{
    HD__CALL("hd_randn_like");
    return random_like(d, x, hd__tensor_normal_fill);
}

/* Returns v rounded to a float of `digits` binary digits, or INT64_MIN if int64 cannot hold the
 * rounded number. */
static int64_t through_float(int64_t v, int digits)
{
    double f = digits == FLT_MANT_DIG ? (double)(float)v : (double)v;
    return f < 0x1p63 ? (int64_t)f : INT64_MIN;
}

/* Returns the distance from v to the next smaller float of `digits` binary digits. */
static int64_t gap_below(int64_t v, int digits)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    return INT64_C(1) << (64 - __builtin_clzll(size) - digits);
}

/* If d is a float dtype, shrinks [*lo, *hi) so that none of its integers leaves the range when it
 * is rounded to d, as in PyTorch. Warns if some integers of the range are never drawn. Returns
 * false with HD_VALUE if the range becomes empty. */
static bool fit_range(hd_dtype d, int64_t *lo, int64_t *hi)
{
    const int digits = d == HD_FLOAT32 ? FLT_MANT_DIG : DBL_MANT_DIG;
    int64_t from = *lo, to = *hi;
    if (!hd__tensor_is_float(d)) {
        return true;
    }
    const int64_t most = INT64_C(1) << digits;
    if (hd__error_warns() && (from < -most || to - 1 > most || from > most || to - 1 < -most)) {
        hd_warn("[%" PRId64 ", %" PRId64 ") of %s: some integers of the range are never drawn, "
                "because the dtype holds every integer only from %" PRId64 " to %" PRId64,
                from, to, hd_dtype_name(d), -most, most);
    }
    int64_t first = through_float(from + 1, digits), last = through_float(to - 1, digits);
    *lo = first < from ? first + gap_below(from + 1, digits) : from;
    *hi = last >= to ? last - gap_below(to - 1, digits) : to;
    return *lo < *hi || hd_fail(HD_VALUE,
                                "[%" PRId64 ", %" PRId64 ") of %s: expected a range that is not "
                                "empty after its bounds are rounded to the dtype",
                                from, to, hd_dtype_name(d));
}

hd_tensor *(hd_randint_n)(hd_dtype d, int64_t lo, int64_t hi, int ndim, const int64_t *sizes)
{
    HD__CALL("hd_randint");
    if (!hd__tensor_number_dtype(d)) {
        return NULL;
    }
    if (lo >= hi) {
        return hd_fail(HD_VALUE, "[%" PRId64 ", %" PRId64 "): expected lo < hi", lo, hi);
    }
    if (!fit_range(d, &lo, &hi)) {
        return NULL;
    }
    hd_tensor *y = hd__tensor_empty(d, ndim, sizes);
    hd_tensor *drawn = y && d != HD_INT64 ? hd__tensor_empty(HD_INT64, ndim, sizes) : y;
    if (!drawn) {
        return NULL;
    }
    hd__rng_randint(hd_generator_current(), hd__tensor_ptr(drawn), y->numel, lo, hi);
    if (drawn != y) {
        hd__tensor_copy(y, drawn);
        hd_release(drawn);
    }
    return y;
}

hd_tensor *hd_randperm(int64_t n)
{
    HD__CALL("hd_randperm");
    if (n < 0) {
        return hd_fail(HD_VALUE, "n %" PRId64 ": expected 0 or more", n);
    }
    hd_tensor *y = hd__tensor_empty(HD_INT64, 1, &n);
    if (y) {
        hd__rng_randperm(hd_generator_current(), hd__tensor_ptr(y), n);
    }
    return y;
}
