/* whole.h - files: opened, read as a whole, and written so that a reader finds the old bytes or the
 * new ones, after a crash too. It uses nothing of heed but heed/base.h and text.h, so that a
 * library beside libheed may compile it in. */
#ifndef HEED_BASE_WHOLE_H
#define HEED_BASE_WHOLE_H

#include "base/text.h"

/* ---------------------------------------------------------------- messages */

/* HD_IO: "hd_load_npy: 'x.npy': cannot open: Permission denied"; cause: an errno. Returns NULL. */
void *hd__io_fail(const char *function, const char *path, const char *what, int cause);

/* ---------------------------------------------------------------- reading */

/* A regular file and its size; -1 with HD_IO for what cannot be opened or is none. */
int hd__regular_open(const char *function, const char *path, int64_t *size);

/* The bytes of a regular file, ended by a zero besides; hd_free. Longer than `most`: HD_FORMAT. */
char *hd__whole_read(const char *function, const char *path, size_t most, size_t *n);

/* ---------------------------------------------------------------- names */

enum { HD__TEMPORARY = 48 };

/* The next name for something temporary: short, however long the name is that it will get. */
void hd__temporary_name(char name[HD__TEMPORARY]);

/* The length of the directory in path: 1 of "a/b", "/b" and "a/b/", 0 of "b", which is in ".". */
size_t hd__parent_length(const char *path);
/* That directory, for hd__sync_close; -1 with errno. Opened before anything changes in it, as there
 * is no way back from a rename that cannot be synced. */
int hd__parent_open(const char *path);
/* Makes durable what was renamed in it: 0, or an errno. */
int hd__sync_close(int parent);

/* ---------------------------------------------------------------- writing */

/* A file that appears under its path only when it is whole: a new one beside it, synced, then
 * renamed; the directory is synced. When something fails before the rename, path is as it was and
 * the new file is gone. What is there and no regular file is not replaced. */
typedef struct hd__whole {
    const char *function, *path; /* the caller's */
    char name[HD__TEMPORARY];
    int parent, fd; /* where both names are; the file while it is `name` */
    bool failed;    /* nothing is written any more */
} hd__whole;

bool hd__whole_begin(hd__whole *w, const char *function, const char *path);
void hd__whole_add(hd__whole *w, const void *bytes, size_t n);
/* After a begin that failed too. ok false: gives the file up. */
bool hd__whole_end(hd__whole *w, bool ok);

bool hd__whole_write(const char *function, const char *path, const void *bytes, size_t n);

#endif
