/* little_endian.h - reads and writes numbers in the byte order of the files, on every machine. */
#ifndef LITTLE_ENDIAN_H
#define LITTLE_ENDIAN_H

#include <stddef.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { BIG_ENDIAN_MACHINE = 1 };
#else
enum { BIG_ENDIAN_MACHINE = 0 };
#endif

/* Brings elements of `width` bytes from the machine's order of bytes to the little-endian one, or
 * back. */
static inline void little_endian(void *data, size_t bytes, size_t width)
{
    unsigned char *p = data;
    for (; BIG_ENDIAN_MACHINE && bytes > 0; bytes -= width, p += width) {
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char c = p[k];
            p[k] = p[width - 1 - k];
            p[width - 1 - k] = c;
        }
    }
}

#endif
