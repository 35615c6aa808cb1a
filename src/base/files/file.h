/* file.h - files that are opened, looked at, and written piece by piece; the parts of a path. */
#ifndef HEED_BASE_FILE_H
#define HEED_BASE_FILE_H

#include "base/files/whole_file.h"
#include "base/system/system.h"
#include "base/text/text.h"

/* From now on, the messages of this thread name what lies below the directory `hidden` as if it lay
 * below path, which the directory will get; NULL, both: no longer. */
void hd__file_names_below(const char *hidden, const char *path);

/* As hd__file_fail for something new at path, "a file" or "a directory", which cannot be created:
 * names the folder that it would lie in. */
void *hd__file_create_fail(const char *path, const char *what, int cause);

/* ---------------------------------------------------------------- reading */

/* Opens a regular file and gives its size. Returns -1 with HD_IO if it cannot be opened or is not a
 * regular file. */
int hd__file_regular_open(const char *path, int64_t *size);
/* Is the open file fd a regular one? Gives its size. The caller closes it. */
bool hd__file_regular_ok(const char *path, int fd, int64_t *size);

/* Are these the first n bytes of a file itself, and not of a pointer that Git LFS has left in its
 * place? HD_FORMAT. */
bool hd__file_lfs_ok(const char *path, const void *bytes, size_t n);

/* ---------------------------------------------------------------- names */

/* The length of the directory's part of path: 1 for "a/b", "/b" and "a/b/"; 0 for "b", which is in
 * ".". */
size_t hd__file_parent_length(const char *path);
/* What follows it: "b" or "b/". */
const char *hd__file_last_part(const char *path);
/* Opens that directory for hd__file_sync_close; returns -1 with errno on failure. It is opened
 * before anything in it changes, because a rename that cannot be synced cannot be undone. */
int hd__file_parent_open(const char *path);
/* Makes the renames in that directory durable and closes it. Returns 0 or an errno. */
int hd__file_sync_close(int parent);

/* ---------------------------------------------------------------- writing */

/* A file that appears under its path only when it is whole: a new file is written beside it, synced
 * and renamed, and the directory is synced. If anything fails before the rename, path is as it was
 * and the new file is gone. Only a regular file is replaced. The new file is locked until then; one
 * without a lock is that of a process that was killed, and the next write to path removes it. */
enum { HD__PREFIX = 24, HD__TEMPORARY = 64 };

/* What the hidden names beside path begin with: ".heed-", and a hash of the path's last part, which
 * may be too long to add to. */
void hd__file_hidden_prefix(const char *path, char prefix[HD__PREFIX]);

typedef struct hd__file_whole {
    const char *path; /* the caller's */
    char name[HD__TEMPORARY];
    int parent, fd; /* the directory of both names; the file while it is called `name` */
    int lock;       /* the file once more, locked; -1: it cannot be locked */
    bool failed;    /* nothing more is written */
} hd__file_whole;

/* After a failure, additions change nothing; the error then stands, and end returns false. */
void hd__file_whole_begin(hd__file_whole *w, const char *path);
void hd__file_whole_add(hd__file_whole *w, const void *bytes, size_t n);
/* If ok is false, the new file is given up. */
bool hd__file_whole_end(hd__file_whole *w, bool ok);

#endif
