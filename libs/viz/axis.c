/* axis.c - chooses the range of an axis, and ticks at round values.
 *
 * A tick's value is digits * 10^e, where digits is an integer, so its label is exact. A log axis
 * has ticks at powers of ten. Over a short range it also has ticks at 2 and 5 times these powers,
 * and over a very short range only the ticks that a linear axis has. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "viz/viz_internal.h"

bool hd__viz_axis_takes(bool log, double v)
{
    return isfinite(v) && fabs(v) <= 1e300 && (!log || v > 0);
}

hd__viz_axis hd__viz_axis_of(bool log, double lo, double hi, double pad)
{
    hd__viz_axis a = {.log = log, .lo = 0, .hi = 1};
    if (lo > hi) {
        return a;
    }
    a.lo = log ? log10(lo) : lo;
    a.hi = log ? log10(hi) : hi;
    double length = a.hi - a.lo, size = fmax(fabs(a.lo), fabs(a.hi));
    if (length < 1e-9 * size || length < 1e-290) { /* puts a single value in the middle */
        length = log ? 0.5 : size > 1e-280 ? 0.1 * size : 1;
        pad = 0.5;
    }
    a.lo -= pad * length;
    a.hi += pad * length;
    return a;
}

double hd__viz_axis_at(const hd__viz_axis *a, double v)
{
    return ((a->log ? log10(v) : v) - a->lo) / (a->hi - a->lo);
}

/* ---------------------------------------------------------------- labels */

/* Adds a tick at digits * 10^e, unless a is full, or e is negative and a->whole is true. The tick's
 * label has the form "1.5e-7" if scientific is true, and "0.00000015" otherwise; 0 has "0". */
static void add_tick(hd__viz_axis *a, int64_t digits, int e, bool scientific)
{
    double power = pow(10, abs(e)), v = e < 0 ? (double)digits / power : (double)digits * power;
    if (a->n == HD__MAX_TICKS || (a->whole && e < 0)) {
        return;
    }
    a->at[a->n] = hd__viz_axis_at(a, v);
    char *text = a->label[a->n++], all[24];
    if (!scientific || digits == 0) {
        snprintf(text, HD__TICK_TEXT, "%.*f", digits && e < 0 ? -e : 0, v);
        return;
    }
    for (; digits % 10 == 0; digits /= 10) {
        e++;
    }
    int n = snprintf(all, sizeof all, "%" PRId64, digits < 0 ? -digits : digits);
    snprintf(text, HD__TICK_TEXT, "%s%c%s%se%d", digits < 0 ? "-" : "", all[0], n > 1 ? "." : "",
             all + 1, e + n - 1);
}

/* ---------------------------------------------------------------- choosing */

/* Adds at most max ticks from lo to hi. The step from tick to tick is 1, 2 or 5 times a power of
 * ten: the smallest such step that does not give more than max ticks. */
static void linear_ticks(hd__viz_axis *a, double lo, double hi, int max)
{
    static const int64_t steps[] = {1, 2, 5, 10, 20, 50};
    int e = (int)floor(log10((hi - lo) / max));
    e = a->whole && e < 0 ? 0 : e;
    for (int i = 0; i < 6; i++) {
        double step = (double)steps[i] * pow(10, e);
        int64_t first = (int64_t)ceil(lo / step - 1e-9), last = (int64_t)floor(hi / step + 1e-9);
        if (last - first >= max) {
            continue;
        }
        int zeros = i >= 3;
        bool scientific = e + zeros < -5 || fmax(fabs(lo), fabs(hi)) >= 1e6;
        for (int64_t k = first; k <= last; k++) {
            add_tick(a, k * steps[i % 3], e + zeros, scientific);
        }
        return;
    }
}

/* Adds ticks at steps[i] * 10^e for each i below n_steps and each e that is a multiple of
 * stride. */
static void log_ticks(hd__viz_axis *a, int n_steps, int stride)
{
    static const int steps[] = {1, 2, 5};
    for (int e = (int)floor(a->lo); e <= (int)floor(a->hi); e++) {
        for (int i = 0; i < n_steps; i++) {
            double at = e + log10(steps[i]);
            if (e % stride == 0 && at >= a->lo - 1e-9 && at <= a->hi + 1e-9) {
                add_tick(a, steps[i], e, a->lo < -5 || a->hi >= 6);
            }
        }
    }
}

void hd__viz_axis_ticks(hd__viz_axis *a, int max)
{
    max = max < 2 ? 2 : max > HD__MAX_TICKS ? HD__MAX_TICKS : max;
    a->n = 0;
    if (!a->log) {
        linear_ticks(a, a->lo, a->hi, max);
        return;
    }
    int decades = (int)floor(a->hi) - (int)ceil(a->lo) + 1;
    bool powers = decades >= 3 || (decades == 2 && max < 6); /* true: ticks only at powers of ten */
    log_ticks(a, powers ? 1 : 3, powers ? (decades + max - 1) / max : 1);
    if (a->n < 3 && decades < 2) {
        a->n = 0;
        linear_ticks(a, pow(10, a->lo), pow(10, a->hi), max);
    }
}
