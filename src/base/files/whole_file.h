/* whole_file.h - files that are read as a whole, and written so that a reader finds either the old
 * bytes or the new ones, also after a crash. file.h has the steps of both.
 *
 * The libraries in libs/ may include it (base/sibling.h). */
#ifndef HEED_BASE_WHOLE_FILE_H
#define HEED_BASE_WHOLE_FILE_H

#include "base/sibling.h"

enum { HD__LONGEST_PATH = 4096 }; /* the system cannot open a longer one */

/* Sets HD_IO: "hd_load_npy: 'x.npy': cannot open: Permission denied". cause is an errno. Returns
 * NULL. */
HD__SIBLING void *hd__io_fail(const char *path, const char *what, int cause);

/* The bytes of a regular file with a zero after them, for hd_free. If there are more than `most`,
 * or it is a pointer of Git LFS, fails with HD_FORMAT. */
HD__SIBLING char *hd__whole_read(const char *path, size_t most, size_t *n);

/* Writes a file that appears under its path only when it is whole. */
HD__SIBLING bool hd__whole_write(const char *path, const void *bytes, size_t n);

#endif
