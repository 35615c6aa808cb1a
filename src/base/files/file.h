/* file.h - opens regular files, takes paths apart, and writes a file piece by piece. */
#ifndef HEED_BASE_FILE_H
#define HEED_BASE_FILE_H

#include "base/files/whole_file.h"
#include "base/system/system.h"
#include "base/text/text.h"

/* From now on, messages of this thread name files below the directory `hidden` as if they lay below
 * path. NULL for both ends this. */
void hd__file_names_below(const char *hidden, const char *path);

/* Fails because a new file or directory at path cannot be created. `what` is "a file" or "a
 * directory", and `cause` an errno. Names the folder in which it would lie. */
void *hd__file_create_fail(const char *path, const char *what, int cause);

/* ---------------------------------------------------------------- reading */

/* Opens a regular file for reading, and sets *size. Returns -1 with HD_IO if it cannot be opened or
 * is not a regular file. */
int hd__file_regular_open(const char *path, int64_t *size);
/* True if the open file fd is a regular one; sets *size. Otherwise fails with HD_IO, and leaves fd
 * open. */
bool hd__file_regular_ok(const char *path, int fd, int64_t *size);

/* False with HD_FORMAT if a file's first n bytes are those of a Git LFS pointer. */
bool hd__file_lfs_ok(const char *path, const void *bytes, size_t n);

/* ---------------------------------------------------------------- names */

/* The length of the directory part of path: 1 for "a/b", "/b" and "a/b/"; 0 for "b", whose
 * directory is ".". */
size_t hd__file_parent_length(const char *path);
/* The part of path after its directory: "b" or "b/". */
const char *hd__file_last_part(const char *path);
/* Opens the directory of path for hd__file_sync_close; returns -1 with errno on failure. Open it
 * before anything in it changes, because a rename that cannot be synced cannot be undone. */
int hd__file_parent_open(const char *path);
/* Makes the renames in the directory durable, and closes it. Returns 0 or an errno. */
int hd__file_sync_close(int parent);

/* ---------------------------------------------------------------- writing */

/* A file that appears under its path only when it is whole: a new file is written beside it under a
 * hidden name, synced and renamed, and then the directory is synced. If anything fails before the
 * rename, the path is unchanged and the new file is removed. Only a regular file is replaced. The
 * new file is locked until its end. One without a lock is left of a killed process; the next write
 * to the path removes it. */
enum { HD__PREFIX = 24, HD__TEMPORARY = 64 };

/* The beginning of the hidden names beside path: ".heed-" and a hash of the path's last part, which
 * may be too long to be extended. */
void hd__file_hidden_prefix(const char *path, char prefix[HD__PREFIX]);

typedef struct hd__file_whole {
    const char *path; /* the caller's */
    char name[HD__TEMPORARY];
    int parent, fd; /* the directory of both names; the new file */
    int lock;       /* the new file, opened again and locked; -1: it cannot be locked */
    bool failed;    /* nothing more is written */
} hd__file_whole;

/* After a failure, additions change nothing, and end returns false. The error stays set. */
void hd__file_whole_begin(hd__file_whole *w, const char *path);
void hd__file_whole_add(hd__file_whole *w, const void *bytes, size_t n);
/* Ends the file. If ok is false, removes the new file. */
bool hd__file_whole_end(hd__file_whole *w, bool ok);

#endif
