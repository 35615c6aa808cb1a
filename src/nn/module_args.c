/* module_args.c - the checks of arguments that every file of nn needs. */
#include "nn/module_args.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- arguments */

bool hd__nn_tensor_given(const char *arg, const hd_tensor *x)
{
    return hd__tensor_given(arg, x, false);
}

bool hd__nn_size_arg(const char *arg, int64_t value, int64_t least)
{
    return value >= least ||
           hd_fail(HD_VALUE, "%s %" PRId64 ": expected %" PRId64 " or more", arg, value, least);
}

bool hd__nn_probability_arg(const char *arg, double p)
{
    return (p >= 0 && p <= 1) || /* false for NaN */
           hd_fail(HD_VALUE, "%s %g: expected a number from 0 to 1", arg, p);
}

bool hd__nn_heads_arg(const char *arg, int64_t width, int64_t num_heads)
{
    return width % num_heads == 0 ||
           hd_fail(HD_VALUE,
                   "%s %" PRId64 ", num_heads %" PRId64 ": %s must be divisible by num_heads", arg,
                   width, num_heads, arg);
}

bool hd__nn_type_arg(const char *arg, const hd_module *m, const hd_module_type *type)
{
    return hd__object(arg, m) && (m->type == type || hd_fail(HD_VALUE, "%s is a %s: expected a %s",
                                                             arg, m->type->name, type->name));
}

bool hd__nn_sizes_are(const hd_tensor *x, int n, const int64_t *sizes)
{
    return hd_ndim(x) == n && memcmp(hd_sizes(x), sizes, (size_t)n * sizeof *sizes) == 0;
}
