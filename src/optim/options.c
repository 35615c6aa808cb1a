/* options.c - checks options, and saves or compares them, by the tables that describe them. */
#include "optim/optim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- fields */

static const void *field(const hd__optim_option *option, const void *options)
{
    return (const char *)options + option->offset;
}

double *hd__optim_option_double(const hd__optim_option *option, const void *options)
{
    return (double *)field(option, options);
}

static bool is_double(const hd__optim_option *option)
{
    return option->range <= HD__ANY_NUMBER;
}

/* Returns the value of an option that is not a double, from its field in a struct of options. */
static int64_t int_of(const hd__optim_option *option, const void *options)
{
    const void *at = field(option, options);
    switch (option->range) {
    case HD__FLAG: return *(const bool *)at;
    case HD__CHOICE: return (int64_t) * (const int *)at;
    default: return *(const int64_t *)at;
    }
}

static double value_of(const hd__optim_option *option, const void *options)
{
    return is_double(option) ? *hd__optim_option_double(option, options)
                             : (double)int_of(option, options);
}

bool hd__optim_uses(const hd__optim_type *type, const hd__optim_options *o, int k)
{
    const hd__optim_state_type *s = &type->states[k];
    return s->name && (!s->when || value_of(&type->options[s->when], o) != 0);
}

/* ---------------------------------------------------------------- checking */

/* True if v is in the range, which is never true of NaN. Sets *expected to the range in words. */
static bool option_in_range(hd__optim_range range, double v, const char **expected)
{
    switch (range) {
    case HD__NOT_NEGATIVE:
    case HD__COUNT: *expected = "0 or more"; return v >= 0;
    case HD__POSITIVE: *expected = "above 0"; return v > 0;
    case HD__POSITIVE_COUNT: *expected = "1 or more"; return v >= 1;
    case HD__BELOW_ONE: *expected = "0 or more, below 1"; return v >= 0 && v < 1;
    case HD__FROM_0_TO_1: *expected = "0 to 1"; return v >= 0 && v <= 1;
    case HD__ABOVE_0_TO_1: *expected = "above 0, at most 1"; return v > 0 && v <= 1;
    case HD__ANY_NUMBER: *expected = "a number"; return !isnan(v);
    default: *expected = "0 or 1"; return v == 0 || v == 1;
    }
}

static bool option_ok(const hd__optim_option *option, const void *options)
{
    const char *expected;
    double v = value_of(option, options);
    return option_in_range(option->range, v, &expected) ||
           (is_double(option) ? hd_fail(HD_VALUE, "%s %g: expected %s", option->name, v, expected)
                              : hd_fail(HD_VALUE, "%s %" PRId64 ": expected %s", option->name,
                                        int_of(option, options), expected));
}

bool hd__optim_number_ok(const char *name, hd__optim_range range, double v)
{
    return option_ok(&(hd__optim_option){.name = name, .range = range}, &v);
}

bool hd__optim_options_ok(const hd__optim_option *table, const void *options)
{
    bool ok = true;
    for (; table->name && ok; table++) {
        ok = option_ok(table, options);
    }
    return ok;
}

/* ---------------------------------------------------------------- saved state */

bool hd__optim_saved_text(hd__optim_saved *s, const char *name, const char *want)
{
    const char *key = hd__text_key(&s->key, s->prefix, NULL, 0, name);
    if (s->to) {
        return hd_dict_set_string(s->to, key, want);
    }
    const char *text = hd_dict_get_string(s->from, key);
    return text && (strcmp(text, want) == 0 ||
                    hd_fail(HD_VALUE, "'%s' is %s: expected %s", key, text, want));
}

bool hd__optim_saved_int(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                         int64_t want)
{
    const char *key = hd__text_key(&s->key, s->prefix, list, i, name);
    int64_t v;
    return s->to ? hd_dict_set_int(s->to, key, want)
                 : hd_dict_get_int(s->from, key, &v) &&
                       (v == want ||
                        hd_fail(HD_VALUE, "'%s' is %" PRId64 ": expected %" PRId64, key, v, want));
}

static bool saved_same_double(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                              double want)
{
    const char *key = hd__text_key(&s->key, s->prefix, list, i, name);
    double v;
    return s->to ? hd_dict_set_double(s->to, key, want)
                 : hd_dict_get_double(s->from, key, &v) &&
                       (v == want || hd_fail(HD_VALUE, "'%s' is %s: expected %s", key, HD__FLOAT(v),
                                             HD__FLOAT(want)));
}

bool hd__optim_saved_number(hd__optim_saved *s, const char *list, int64_t i, const char *name,
                            hd__optim_range range, double *x)
{
    const char *key = hd__text_key(&s->key, s->prefix, list, i, name), *expected;
    return s->to ? hd_dict_set_double(s->to, key, *x)
                 : hd_dict_get_double(s->from, key, x) &&
                       (option_in_range(range, *x, &expected) ||
                        hd_fail(HD_VALUE, "'%s' is %s: expected %s", key, HD__FLOAT(*x), expected));
}

bool hd__optim_saved_options(hd__optim_saved *s, const char *list, int64_t i,
                             const hd__optim_option *table, const void *options)
{
    bool ok = true;
    for (; table->name && ok; table++) {
        ok = is_double(table)
                 ? saved_same_double(s, list, i, table->name,
                                     *hd__optim_option_double(table, options))
                 : hd__optim_saved_int(s, list, i, table->name, int_of(table, options));
    }
    return ok;
}

bool hd__optim_may_step(void)
{
    return hd_error_code() == HD_OK ||
           hd_fail(HD_STATE,
                   "an earlier error is set, so nothing is changed. Call hd_error_clear first");
}
