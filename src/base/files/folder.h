/* folder.h - folders that appear whole or not at all, and the hidden directories in which they are
 * filled, or which they become before they are removed.
 *
 * A hidden directory lies beside the folder. Its name is made from the folder's name, and it is
 * locked while its process uses it. If that process is killed, or cannot remove it, the directory
 * is left over without a lock. The next call that writes or removes the same folder removes it.
 *
 * It uses nothing of heed but heed/base.h, text.h and whole.h, so a library beside libheed may
 * compile folder.c in. */
#ifndef HEED_BASE_FOLDER_H
#define HEED_BASE_FOLDER_H

#include "base/files/whole.h"

/* Room for the path of a directory that the system opens, and a name in it */
enum { HD__HIDDEN_PATH = HD__LONGEST_PATH + 260 };

typedef struct hd__folder {
    const char *function, *path; /* the caller's: who speaks, and the folder's own name */
    const char *what, *advice;   /* "checkpoint"; NULL, or what is added if there is one already */
    const char *const *names;    /* of all files in it, and NULL */
    /* Fills the hidden directory with files, which it syncs. */
    bool (*fill)(struct hd__folder *f);
    /* NULL, both, for a folder that must be new. May what is at the path be replaced? Gives the
     * hidden directory the folder's name. */
    bool (*replaceable)(const char *path);
    bool (*show)(struct hd__folder *f);
    void *user;
    char hidden[HD__HIDDEN_PATH]; /* its path, which after an exchange is that of the old one */
    int lock;                     /* the directory, open and locked; -1: there is none */
    bool old;                     /* show has exchanged the new one and an old one */
} hd__folder;

/* ---------------------------------------------------------------- writing */

/* Is there nothing at the folder's path, or what may be replaced? A new name must not even be that
 * of an empty directory, which rename would replace. */
bool hd__folder_place_ok(const hd__folder *f);
/* Writes the folder, which begins without the last three fields. */
bool hd__folder_write(hd__folder *f);
/* Exchanges the two names, so that the new directory has this path. Returns 0 or an errno. */
int hd__folder_exchange_to(const hd__folder *f, const char *path);

/* ---------------------------------------------------------------- removing */

/* Sets f->hidden to a new path, at which there is nothing yet. */
void hd__hidden_name(hd__folder *f);
/* Removes the hidden directory with its files. Returns 0 or the errno of the first removal that
 * fails. */
int hd__hidden_clear(hd__folder *f);
/* Removes the named files, or all, of the open directory fd, closes it and removes its path.
 * Returns 0, or the errno of the first removal that fails. What another process removes meanwhile
 * is no failure. It allocates nothing through heed, because it also cleans up after memory has run
 * out. */
int hd__directory_clear(int fd, const char *path, const char *const *names);

/* Removes the hidden directories that processes which were killed, or failed, have left. What
 * cannot be removed stays. left begins as {0}. */
typedef struct hd__left_overs {
    int found, cause; /* cause: the errno of the first one that could not be removed, or 0 */
    int unread;       /* why they cannot be looked for: an errno, or 0 */
    char path[HD__HIDDEN_PATH]; /* of that first one */
} hd__left_overs;

void hd__left_overs_clear(const hd__folder *f, hd__left_overs *left);

/* ---------------------------------------------------------------- looking */

/* Returns 0 if there is something at path, also a link, and otherwise the errno of looking. */
int hd__stat_cause(const char *path);
/* Is the open directory fd still the one at path? If not `follow`, path is no link to it. *cause:
 * why that cannot be told, or 0. */
bool hd__still_at(int fd, const char *path, bool follow, int *cause);

#endif
