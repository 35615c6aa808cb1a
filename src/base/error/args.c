/* args.c - the checks of arguments that every library of heed makes. */
#include "base/error/args.h"

#include <inttypes.h>

void *hd__null_arg_to(const char *function, const char *arg)
{
    return hd_error_set(HD_NULL_ARG, "%s: %s is NULL", function, arg);
}

bool hd__given_to(const char *function, const char *arg, const void *p)
{
    return p || hd__null_arg_to(function, arg);
}

void *hd__alloc_items(int64_t n, size_t size)
{
    size_t bytes;
    return hd__bytes(n, size, &bytes)
               ? hd_alloc(bytes)
               : hd_error_set(HD_MEMORY,
                              "hd_alloc: %" PRId64 " times %zu bytes: the size overflows", n, size);
}

bool hd__may_save(const char *function)
{
    return hd_error_code() == HD_OK ||
           hd_error_set(HD_STATE, "%s: an error stands: nothing is written", function);
}

bool hd__size_ok_to(const char *function, const char *arg, size_t size, size_t expected,
                    const char *giver)
{
    return size == expected || hd_error_set(HD_VALUE, "%s: %s->size %zu: expected %zu, as %s gives",
                                            function, arg, size, expected, giver);
}

int64_t hd__index(const char *function, int64_t i, int64_t n, const char *things)
{
    if (i < -n || i >= n) {
        hd_error_set(HD_INDEX,
                     "%s: index %" PRId64 " of %" PRId64 " %s: expected %" PRId64 " to %" PRId64,
                     function, i, n, things, -n, n - 1);
        return -1;
    }
    return i < 0 ? i + n : i;
}
