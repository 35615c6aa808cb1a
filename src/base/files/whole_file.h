/* whole_file.h - reads whole files, and writes a file so that a reader finds either the old bytes
 * or the new ones, also after a crash. file.h has the steps of both.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_WHOLE_FILE_H
#define HEED_BASE_WHOLE_FILE_H

#include "base/sibling.h"

enum { HD__LONGEST_PATH = 4096 }; /* the system cannot open a longer one */

/* Fails with HD_IO: "hd_load_npy: 'x.npy': cannot open: Permission denied". `what` is "open", and
 * cause an errno. Returns NULL. */
HD__SIBLING void *hd__file_fail(const char *path, const char *what, int cause);

/* Reads a regular file, and adds a zero after its *n bytes; the caller calls hd_free. Fails with
 * HD_FORMAT if it has more than `most` bytes or is a pointer of Git LFS. */
HD__SIBLING char *hd__file_whole_read(const char *path, size_t most, size_t *n);

/* Writes a file that appears under its path only when it is whole. */
HD__SIBLING bool hd__file_whole_write(const char *path, const void *bytes, size_t n);

#endif
