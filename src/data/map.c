/* map.c - files mapped for reading. */
#include <errno.h>

#include "base/system/system.h"
#include "base/text/whole.h"
#include "data/data_internal.h"

bool hd__file_map(const char *path, const unsigned char **bytes, size_t *size)
{
    int64_t n;
    int fd = hd__regular_open(hd__call, path, &n);
    if (fd < 0) {
        return false;
    }
    void *p = n > 0 ? hd__sys_map(fd, n, false) : NULL;
    bool ok = p || n == 0 || hd__io_fail(hd__call, path, "map", errno);
    hd__sys_drop(fd);
    *bytes = p ? p : (const unsigned char *)"";
    *size = (size_t)n;
    return ok;
}

void hd__file_unmap(const unsigned char *bytes, size_t size)
{
    if (size > 0) {
        void *p;
        memcpy(&p, &bytes, sizeof p);
        hd__sys_unmap(p, size);
    }
}
