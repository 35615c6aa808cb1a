/* args.c - the checks of arguments that all libraries of heed share. */
#include "base/error/args.h"
#include "base/error/call.h"

#include <inttypes.h>

void *hd__arg_alloc_items(int64_t n, size_t size)
{
    size_t bytes;
    if (hd__arg_bytes(n, size, &bytes)) {
        return hd_alloc(bytes);
    }
    HD__CALL("hd_alloc");
    return hd_fail(HD_MEMORY, "%" PRId64 " times %zu bytes: the size overflows", n, size);
}

bool hd__arg_size_ok(const char *arg, size_t size, size_t expected, const char *giver)
{
    return size == expected ||
           hd_fail(HD_VALUE, "%s->size %zu: expected %zu, as %s gives", arg, size, expected, giver);
}

int64_t hd__arg_index(int64_t i, int64_t n, const char *things)
{
    if (i < -n || i >= n) {
        hd_fail(HD_INDEX, "index %" PRId64 " of %" PRId64 " %s: expected %" PRId64 " to %" PRId64,
                i, n, things, -n, n - 1);
        return -1;
    }
    return i < 0 ? i + n : i;
}
