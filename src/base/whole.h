/* whole.h - files as a whole: read into memory, and written so that a reader finds the old bytes or
 * the new ones, after a crash too. Uses nothing of heed but heed/base.h, so that a library beside
 * libheed may compile it in. */
#ifndef HEED_BASE_WHOLE_H
#define HEED_BASE_WHOLE_H

#include "heed/base.h"

/* The bytes of a regular file, ended by a zero besides; hd_free. Longer than `most`: HD_FORMAT. */
char *hd__whole_read(const char *function, const char *path, size_t most, size_t *n);

/* Into a new file beside path, synced, then renamed over it; the folder is synced. On failure path
 * is as it was, and the new file is gone. What is there and no regular file is not replaced. */
bool hd__whole_write(const char *function, const char *path, const void *bytes, size_t n);

#endif
