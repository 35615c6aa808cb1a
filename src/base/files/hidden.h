/* hidden.h - the steps of writing and of removing a folder (folder.h), by way of a hidden directory
 * beside it. */
#ifndef HEED_BASE_HIDDEN_H
#define HEED_BASE_HIDDEN_H

#include "base/files/file.h"
#include "base/files/folder.h"

/* ---------------------------------------------------------------- writing */

/* Is there nothing at the folder's path, or what may be replaced? A new name must not even be that
 * of an empty directory, which rename would replace. */
bool hd__folder_place_ok(const hd__folder *f);
/* Exchanges the two names, so that the new directory has this path. Returns 0 or an errno. */
int hd__folder_exchange_to(const hd__folder *f, const char *path);

/* ---------------------------------------------------------------- removing */

/* Sets f->hidden to a new path, at which there is nothing yet. */
void hd__folder_hidden_name(hd__folder *f);
/* Removes the hidden directory with its files. Returns 0 or the errno of the first removal that
 * fails. */
int hd__folder_hidden_clear(hd__folder *f);
/* Removes the named files, or all, of the open directory fd, closes it and removes its path.
 * Returns 0, or the errno of the first removal that fails. What another process removes meanwhile
 * is no failure. It allocates nothing through heed, because it also cleans up after memory has run
 * out. */
int hd__folder_directory_clear(int fd, const char *path, const char *const *names);

/* Removes the hidden directories that processes which were killed, or failed, have left. What
 * cannot be removed stays. left begins as {0}. */
typedef struct hd__file_left_overs {
    int found, cause; /* cause: the errno of the first one that could not be removed, or 0 */
    int unread;       /* why they cannot be looked for: an errno, or 0 */
    char path[HD__HIDDEN_PATH]; /* of that first one */
} hd__file_left_overs;

void hd__folder_left_overs_clear(const hd__folder *f, hd__file_left_overs *left);

/* ---------------------------------------------------------------- looking */

/* Returns 0 if there is something at path, also a link, and otherwise the errno of looking. */
int hd__folder_stat_cause(const char *path);
/* Is the open directory fd still the one at path? If not `follow`, path is no link to it. *cause:
 * why that cannot be told, or 0. */
bool hd__folder_still_at(int fd, const char *path, bool follow, int *cause);

#endif
