/* whole_file.h - reads whole files, and writes a file so that a reader finds either the old bytes
 * or the new ones, even after a crash. file.h has the single steps.
 *
 * The libraries in libs/ may include this header (base/sibling.h). */
#ifndef HEED_BASE_WHOLE_FILE_H
#define HEED_BASE_WHOLE_FILE_H

#include "base/sibling.h"

enum { HD__LONGEST_PATH = 4096 }; /* the system cannot open a path of this length or more */

/* Fails with HD_IO, for example with "hd_load_npy: 'x.npy': cannot open: Permission denied". Here
 * `what` is "open", and `cause` is an errno. Returns NULL. */
HD__SIBLING void *hd__file_fail(const char *path, const char *what, int cause);

/* Returns the bytes of a regular file, with a zero after them, and sets *n to their number. The
 * caller frees them with hd_free. Returns NULL with HD_FORMAT if the file has more than `most`
 * bytes or is a Git LFS pointer, and with HD_IO if it cannot be read. */
HD__SIBLING char *hd__file_whole_read(const char *path, size_t most, size_t *n);

/* Writes a file that appears at its path only when it is complete. Returns false with an error if
 * that fails. */
HD__SIBLING bool hd__file_whole_write(const char *path, const void *bytes, size_t n);

#endif
