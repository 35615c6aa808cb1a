/* map.c - files mapped for reading. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/data_internal.h"

/* HD_IO: "hd_tokens_open: 'x.bin': cannot open: No such file or directory". Returns false. */
static bool fail(const char *function, const char *path, const char *what)
{
    char cause[128] = "unknown error";
    strerror_r(errno, cause, sizeof cause);
    return hd_error_set(HD_IO, "%s: '%.*s': cannot %s: %s", function,
                        HD__CLIP(path, (int64_t)strlen(path)), what, cause);
}

static bool map_open(const char *function, const char *path, int fd, const unsigned char **bytes,
                     size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return fail(function, path, "stat");
    }
    if (!S_ISREG(st.st_mode)) {
        return hd_error_set(HD_IO, "%s: '%.*s': expected a regular file", function,
                            HD__CLIP(path, (int64_t)strlen(path)));
    }
    *size = (size_t)st.st_size;
    if (*size == 0) {
        *bytes = (const unsigned char *)"";
        return true;
    }
    void *p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
        return fail(function, path, "map");
    }
    *bytes = p;
    return true;
}

bool hd__file_map(const char *function, const char *path, const unsigned char **bytes, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block */
    if (fd < 0) {
        return fail(function, path, "open");
    }
    bool ok = map_open(function, path, fd, bytes, size);
    close(fd);
    return ok;
}

void hd__file_unmap(const unsigned char *bytes, size_t size)
{
    if (size > 0) {
        void *p;
        memcpy(&p, &bytes, sizeof p);
        munmap(p, size);
    }
}
