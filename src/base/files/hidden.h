/* hidden.h - the steps of writing and of removing a folder by way of a hidden directory
 * (folder.h). */
#ifndef HEED_BASE_HIDDEN_H
#define HEED_BASE_HIDDEN_H

#include "base/files/file.h"
#include "base/files/folder.h"

/* ---------------------------------------------------------------- writing */

/* Checks that nothing is at the folder's path, or that f->replaceable accepts the thing there.
 * Otherwise returns false with an error. Without this check, rename would replace an empty
 * directory even if the folder must be new. */
bool hd__folder_place_ok(const hd__folder *f);
/* Exchanges the names of the new and the old directory, so that the new one is at `path`: f->path,
 * or f->hidden to undo an exchange. Returns 0 or an errno. */
int hd__folder_exchange_to(const hd__folder *f, const char *path);

/* ---------------------------------------------------------------- removing */

/* Sets f->hidden to a hidden path that this process has not used yet. */
void hd__folder_hidden_name(hd__folder *f);
/* Removes the hidden directory, which f->lock holds open, and its files, and closes f->lock.
 * Returns 0, or the errno of the first removal that fails. */
int hd__folder_hidden_clear(hd__folder *f);
/* Removes all files in the open directory fd, closes fd, and removes the directory at path. If
 * memory runs out for a list of the files, removes only the files that `names` has. Returns 0, or
 * the errno of the first removal that fails. A file that another process removes meanwhile is no
 * failure. Allocates nothing through heed, because it also cleans up after memory has run out. */
int hd__folder_directory_clear(int fd, const char *path, const char *const *names);

/* hd__folder_left_overs_clear removes the hidden directories that killed or failed processes left
 * beside the folder, and reports in *left, which begins as {0}. A directory that cannot be removed
 * stays. */
typedef struct hd__file_left_overs {
    /* the number of left-over directories; the errno of the first failed removal, or 0 */
    int found, cause;
    int unread;                 /* the errno if the parent directory cannot be read; otherwise 0 */
    char path[HD__HIDDEN_PATH]; /* if cause is not 0: the directory whose removal failed */
} hd__file_left_overs;

void hd__folder_left_overs_clear(const hd__folder *f, hd__file_left_overs *left);

/* ---------------------------------------------------------------- looking at paths */

/* Returns 0 if there is something at path, even a broken link. Otherwise returns the errno of the
 * look-up, which is ENOENT if nothing is there. */
int hd__folder_stat_cause(const char *path);
/* True if the open directory fd is still the one at path. If `follow` is false, a link to it does
 * not count. If this cannot be found out, returns false with an errno in *cause, which is 0
 * otherwise. */
bool hd__folder_still_at(int fd, const char *path, bool follow, int *cause);

#endif
