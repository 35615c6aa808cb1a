/* args.c - the checks of arguments that every library of heed makes. */
#include "base/args.h"

void *hd__null_arg(const char *function, const char *arg)
{
    return hd_error_set(HD_NULL_ARG, "%s: %s is NULL", function, arg);
}

bool hd__given(const char *function, const char *arg, const void *p)
{
    return p || hd__null_arg(function, arg);
}

bool hd__size_ok(const char *function, const char *arg, size_t size, size_t expected,
                 const char *giver)
{
    return size == expected || hd_error_set(HD_VALUE, "%s: %s->size %zu: expected %zu, as %s gives",
                                            function, arg, size, expected, giver);
}
