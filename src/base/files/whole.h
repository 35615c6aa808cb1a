/* whole.h - files that are opened, read as a whole, and written so that a reader finds either the
 * old bytes or the new ones, also after a crash.
 *
 * It uses nothing of heed but heed/base.h and text.h, so a library beside libheed may compile
 * whole.c in. */
#ifndef HEED_BASE_WHOLE_H
#define HEED_BASE_WHOLE_H

#include "base/system/system.h"
#include "base/text/text.h"

/* ---------------------------------------------------------------- messages */

/* Sets HD_IO: "hd_load_npy: 'x.npy': cannot open: Permission denied". cause is an errno. Returns
 * NULL. */
void *hd__io_fail(const char *function, const char *path, const char *what, int cause);

/* The same for something new at path, "a file" or "a directory", which cannot be created: names the
 * folder that it would lie in. */
void *hd__create_fail(const char *function, const char *path, const char *what, int cause);

/* ---------------------------------------------------------------- reading */

/* Opens a regular file and gives its size. Returns -1 with HD_IO if it cannot be opened or is not a
 * regular file. */
int hd__regular_open(const char *function, const char *path, int64_t *size);
/* Is the open file fd a regular one? Gives its size. The caller closes it. */
bool hd__regular_ok(const char *function, const char *path, int fd, int64_t *size);

/* Are these the first n bytes of a file itself, and not of a pointer that Git LFS has left in its
 * place? HD_FORMAT. */
bool hd__lfs_ok(const char *function, const char *path, const void *bytes, size_t n);

/* The bytes of a regular file with a zero after them, for hd_free. If there are more than `most`,
 * or it is a pointer of Git LFS, fails with HD_FORMAT. */
char *hd__whole_read(const char *function, const char *path, size_t most, size_t *n);

/* ---------------------------------------------------------------- names */

enum { HD__LONGEST_PATH = 4096 }; /* the system cannot open a longer one */

/* The length of the directory's part of path: 1 for "a/b", "/b" and "a/b/"; 0 for "b", which is in
 * ".". */
size_t hd__parent_length(const char *path);
/* What follows it: "b" or "b/". */
const char *hd__last_part(const char *path);
/* Opens that directory for hd__sync_close; returns -1 with errno on failure. It is opened before
 * anything in it changes, because a rename that cannot be synced cannot be undone. */
int hd__parent_open(const char *path);
/* Makes the renames in that directory durable and closes it. Returns 0 or an errno. */
int hd__sync_close(int parent);

/* ---------------------------------------------------------------- writing */

/* A file that appears under its path only when it is whole: a new file is written beside it, synced
 * and renamed, and the directory is synced. If anything fails before the rename, path is as it was
 * and the new file is gone. Only a regular file is replaced. The new file is locked until then; one
 * without a lock is that of a process that was killed, and the next write to path removes it. */
enum { HD__PREFIX = 24, HD__TEMPORARY = 64 };

/* What the hidden names beside path begin with: ".heed-", and a hash of the path's last part, which
 * may be too long to add to. */
void hd__hidden_prefix(const char *path, char prefix[HD__PREFIX]);

typedef struct hd__whole {
    const char *function, *path; /* the caller's */
    const char *shown;           /* path, or what messages say for it */
    char name[HD__TEMPORARY];
    int parent, fd; /* the directory of both names; the file while it is called `name` */
    int lock;       /* the file once more, locked; -1: it cannot be locked */
    bool failed;    /* nothing more is written */
} hd__whole;

/* shown: the path that messages name, if the file gets to it later; otherwise NULL. After a
 * failure, additions change nothing; the error then stands, and end returns false. */
void hd__whole_begin(hd__whole *w, const char *function, const char *path, const char *shown);
void hd__whole_add(hd__whole *w, const void *bytes, size_t n);
/* If ok is false, the new file is given up. */
bool hd__whole_end(hd__whole *w, bool ok);

bool hd__whole_write(const char *function, const char *path, const void *bytes, size_t n);

#endif
