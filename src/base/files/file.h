/* file.h - opens regular files, takes paths apart, and writes a file piece by piece. */
#ifndef HEED_BASE_FILE_H
#define HEED_BASE_FILE_H

#include "base/files/whole_file.h"
#include "base/system/system.h"
#include "base/text/text.h"

/* From now on, messages of this thread name files below the directory `hidden` as if they lay below
 * path. NULL for both ends this; until then both texts must stay valid. */
void hd__file_names_below(const char *hidden, const char *path);

/* Fails with HD_IO because a file or directory cannot be created at path. `what` is "a file" or "a
 * directory", and `cause` is an errno. The message names the folder that path lies in. Returns
 * NULL. */
void *hd__file_create_fail(const char *path, const char *what, int cause);

/* ---------------------------------------------------------------- reading */

/* Opens a regular file for reading, sets *size, and returns the open file. Returns -1 with HD_IO if
 * it cannot be opened or is not a regular file. */
int hd__file_regular_open(const char *path, int64_t *size);
/* Checks that the open file fd is a regular one, and sets *size. Otherwise returns false with
 * HD_IO, and leaves fd open. */
bool hd__file_regular_ok(const char *path, int fd, int64_t *size);

/* Checks that a file, whose first n bytes are `bytes`, is not a Git LFS pointer. Otherwise returns
 * false with HD_FORMAT. */
bool hd__file_lfs_ok(const char *path, const void *bytes, size_t n);

/* ---------------------------------------------------------------- names */

/* Returns the length of the directory part of path: 1 for "a/b", "/b" and "a/b/"; 0 for "b", whose
 * directory is ".". On Windows 3 for "C:\b", and 2 for "C:b", whose directory is "C:.". */
size_t hd__file_parent_length(const char *path);
/* Returns the text to append to the directory part of path, so that the two together are a path of
 * that directory: "." for "b" and "C:b", and "" for others. */
const char *hd__file_parent_end(const char *path);
/* Returns the part of path after its directory: "b" of "a/b", and "b/" of "a/b/". */
const char *hd__file_last_part(const char *path);
/* Opens the directory that path lies in, and returns it; hd__file_sync_close closes it. Returns -1
 * with errno on failure. Call it before you change anything in the directory, so that a failure
 * leaves everything unchanged. */
int hd__file_parent_open(const char *path);
/* Syncs the open directory, which makes renames in it durable, and closes it. Returns 0, or the
 * errno of the first failure. */
int hd__file_sync_close(int parent);

/* ---------------------------------------------------------------- writing */

/* Writes a file that appears at its path only when it is complete. A new file is written beside the
 * path under a hidden name, synced, and renamed to the path; then the directory is synced. If
 * anything fails before the rename, the path is unchanged, and the new file is removed. Only a
 * regular file is replaced; anything else at the path is an error. The new file stays locked until
 * hd__file_whole_end. A hidden file without a lock was left by a killed process; the next write to
 * the same path removes it. HD__PREFIX is the size of a hidden name's beginning, HD__TEMPORARY that
 * of the whole name. */
enum { HD__PREFIX = 24, HD__TEMPORARY = 64 };

/* Writes the beginning of all hidden names beside path: ".heed-", a hash of the path's last part,
 * and "-". The hash stands for the last part, which may be too long to be extended. */
void hd__file_hidden_prefix(const char *path, char prefix[HD__PREFIX]);

typedef struct hd__file_whole {
    const char *path; /* the file's path; belongs to the caller */
    char name[HD__TEMPORARY];
    int parent, fd; /* the open directory of path and name, and the new file; -1: not open */
    int lock;       /* the new file, opened again and locked; -1: it cannot be locked */
    bool failed;    /* an error is set, and nothing more is written */
} hd__file_whole;

/* hd__file_whole_begin creates the new file, and hd__file_whole_add appends n bytes to it. A
 * failure sets an error and w->failed. After a failure hd__file_whole_add does nothing, and
 * hd__file_whole_end returns false. */
void hd__file_whole_begin(hd__file_whole *w, const char *path);
void hd__file_whole_add(hd__file_whole *w, const void *bytes, size_t n);
/* Closes the new file and renames it to the path. Returns false with an error if that fails. If ok
 * is false or w->failed is set, removes the new file instead and returns false. */
bool hd__file_whole_end(hd__file_whole *w, bool ok);

#endif
