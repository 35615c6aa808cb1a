/* options.c - options, as their tables describe them: checked, written to a dictionary, compared
 * with one. */
#include "optim/optim_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- fields */

static const void *field(const hd__option *option, const void *options)
{
    return (const char *)options + option->offset;
}

double *hd__option_double(const hd__option *option, const void *options)
{
    return (double *)field(option, options);
}

static bool is_double(const hd__option *option)
{
    return option->range <= HD__NUMBER;
}

/* The value of a field that is not a double. */
static int64_t int_of(const hd__option *option, const void *options)
{
    const void *at = field(option, options);
    switch (option->range) {
    case HD__FLAG: return *(const bool *)at;
    case HD__CHOICE: return (int64_t) * (const int *)at;
    default: return *(const int64_t *)at;
    }
}

bool hd__uses(const hd__optim_type *type, const hd__optim_options *o, int k)
{
    const hd__state_type *s = &type->states[k];
    return s->name && (!s->when || (is_double(s->when) ? *hd__option_double(s->when, o) != 0
                                                       : int_of(s->when, o) != 0));
}

/* ---------------------------------------------------------------- checking */

/* Is v in the range? NaN never is. *expected: the range in words. */
static bool double_ok(hd__range range, double v, const char **expected)
{
    switch (range) {
    case HD__NOT_NEGATIVE: *expected = "0 or more"; return v >= 0;
    case HD__POSITIVE: *expected = "above 0"; return v > 0;
    case HD__BELOW_ONE: *expected = "0 or more, below 1"; return v >= 0 && v < 1;
    case HD__FROM_0_TO_1: *expected = "0 to 1"; return v >= 0 && v <= 1;
    case HD__ABOVE_0_TO_1: *expected = "above 0, at most 1"; return v > 0 && v <= 1;
    default: *expected = "a number"; return !isnan(v);
    }
}

static bool int_ok(hd__range range, int64_t v, const char **expected)
{
    switch (range) {
    case HD__POSITIVE_COUNT: *expected = "1 or more"; return v >= 1;
    case HD__COUNT: *expected = "0 or more"; return v >= 0;
    default: *expected = "0 or 1"; return v == 0 || v == 1;
    }
}

bool hd__option_ok(const hd__option *option, const void *options)
{
    const char *expected;
    if (is_double(option)) {
        double v = *hd__option_double(option, options);
        if (!double_ok(option->range, v, &expected)) {
            return hd__fail(HD_VALUE, "%s %g: expected %s", option->name, v, expected);
        }
        return true;
    }
    int64_t v = int_of(option, options);
    if (!int_ok(option->range, v, &expected)) {
        return hd__fail(HD_VALUE, "%s %" PRId64 ": expected %s", option->name, v, expected);
    }
    return true;
}

bool hd__options_ok(const hd__option *table, const void *options)
{
    bool ok = true;
    for (; table->name && ok; table++) {
        ok = hd__option_ok(table, options);
    }
    return ok;
}

/* ---------------------------------------------------------------- dictionaries */

bool hd__int_equal(const hd_dict *d, const char *key, int64_t want)
{
    int64_t v;
    return hd_dict_get_int(d, key, &v) &&
           (v == want ||
            hd__fail(HD_VALUE, "'%s' is %" PRId64 ": expected %" PRId64, key, v, want));
}

static bool double_equal(const hd_dict *d, const char *key, double want)
{
    double v;
    return hd_dict_get_double(d, key, &v) &&
           (v == want ||
            hd__fail(HD_VALUE, "'%s' is %s: expected %s", key, HD__FLOAT(v), HD__FLOAT(want)));
}

bool hd__string_equal(const hd_dict *d, const char *key, const char *want)
{
    const char *s = hd_dict_get_string(d, key);
    return s &&
           (strcmp(s, want) == 0 || hd__fail(HD_VALUE, "'%s' is %s: expected %s", key, s, want));
}

/* Writes an option to `to`, or compares it with the one in `from` if `to` is NULL. */
static bool visit_option(hd_dict *to, const hd_dict *from, const char *key,
                         const hd__option *option, const void *options)
{
    if (is_double(option)) {
        double v = *hd__option_double(option, options);
        return to ? hd_dict_set_double(to, key, v) : double_equal(from, key, v);
    }
    int64_t v = int_of(option, options);
    return to ? hd_dict_set_int(to, key, v) : hd__int_equal(from, key, v);
}

bool hd__options_visit(hd_dict *to, const hd_dict *from, const char *prefix, const char *list,
                       int64_t i, const hd__option *table, const void *options)
{
    hd__text t = {0};
    bool ok = true;
    for (; table->name && ok; table++) {
        const char *key = hd__key(&t, prefix, list, i, table->name);
        ok = visit_option(to, from, key, table, options);
    }
    hd_free(t.s);
    return ok;
}

bool hd__may_step(void)
{
    return hd_error_code() == HD_OK || hd__fail(HD_STATE, "an error stands: nothing is changed");
}
