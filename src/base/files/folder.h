/* folder.h - folders that appear whole or not at all, and the hidden directories in which they are
 * filled, or which they become before they are removed.
 *
 * A hidden directory lies beside the folder. Its name is made from the folder's name, and it is
 * locked while its process uses it. If that process is killed, or cannot remove it, the directory
 * is left over without a lock. The next call that writes or removes the same folder removes it.
 *
 * The libraries in libs/ may include it (base/sibling.h); hidden.h has the rest for libheed. */
#ifndef HEED_BASE_FOLDER_H
#define HEED_BASE_FOLDER_H

#include "base/files/whole_file.h"

/* Room for the path of a directory that the system opens, and a name in it */
enum { HD__HIDDEN_PATH = HD__LONGEST_PATH + 260 };

typedef struct hd__folder {
    const char *path;          /* the caller's: the folder's own name */
    const char *what, *advice; /* "checkpoint"; NULL, or what is added if there is one already */
    const char *const *names;  /* of all files in it, and NULL */
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

/* Writes the folder, which begins without the last three fields. */
HD__SIBLING bool hd__folder_write(hd__folder *f);

#endif
