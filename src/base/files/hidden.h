/* hidden.h - the steps of writing and of removing a folder by way of a hidden directory
 * (folder.h). */
#ifndef HEED_BASE_HIDDEN_H
#define HEED_BASE_HIDDEN_H

#include "base/files/file.h"
#include "base/files/folder.h"

/* ---------------------------------------------------------------- writing */

/* True if nothing is at the folder's path, or something that may be replaced; otherwise fails. A
 * new folder must not replace even an empty directory, as rename would. */
bool hd__folder_place_ok(const hd__folder *f);
/* Exchanges the names of the new and the old directory, so that the new one has this path. Returns
 * 0 or an errno. */
int hd__folder_exchange_to(const hd__folder *f, const char *path);

/* ---------------------------------------------------------------- removing */

/* Sets f->hidden to a path where nothing is yet. */
void hd__folder_hidden_name(hd__folder *f);
/* Removes the hidden directory and its files. Returns 0, or the errno of the first removal that
 * fails. */
int hd__folder_hidden_clear(hd__folder *f);
/* Removes all files of the open directory fd, or only the named ones if memory runs out; closes fd
 * and removes its path. Returns 0, or the errno of the first removal that fails. A file that
 * another process removes meanwhile is no failure. Allocates nothing through heed, because it also
 * cleans up after memory has run out. */
int hd__folder_directory_clear(int fd, const char *path, const char *const *names);

/* Removes the hidden directories that are left of processes that were killed or failed. What cannot
 * be removed stays. *left begins as {0}. */
typedef struct hd__file_left_overs {
    int found, cause;           /* cause: the errno of the first failed removal, or 0 */
    int unread;                 /* the errno if they cannot be looked for, or 0 */
    char path[HD__HIDDEN_PATH]; /* the path that could not be removed */
} hd__file_left_overs;

void hd__folder_left_overs_clear(const hd__folder *f, hd__file_left_overs *left);

/* ---------------------------------------------------------------- looking */

/* Returns 0 if there is something at path, even a broken link; otherwise the errno of looking. */
int hd__folder_stat_cause(const char *path);
/* True if the open directory fd is still the one at path. If not `follow`, a link to it does not
 * count. *cause: the errno if that is unknown, or 0. */
bool hd__folder_still_at(int fd, const char *path, bool follow, int *cause);

#endif
