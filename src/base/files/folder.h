/* folder.h - writes a folder that appears whole or not at all.
 *
 * A new folder is filled as a hidden directory beside its path; an old folder becomes one before it
 * is removed. The hidden name is made from the folder's name, and the directory is locked while its
 * process uses it. If the process is killed, or cannot remove the directory, it stays without a
 * lock. The next call that writes or removes the same folder removes it.
 *
 * The libraries in libs/ may include it (base/sibling.h); hidden.h has the rest for libheed. */
#ifndef HEED_BASE_FOLDER_H
#define HEED_BASE_FOLDER_H

#include "base/files/whole_file.h"

/* Room for the path of a directory that the system opens, and a name in it */
enum { HD__HIDDEN_PATH = HD__LONGEST_PATH + 260 };

typedef struct hd__folder {
    const char *path;          /* the caller's: where the folder appears */
    const char *what, *advice; /* "checkpoint"; NULL, or advice for the case that path exists */
    const char *const *names;  /* of all files in it, with NULL at the end */
    /* Writes the files into the hidden directory, and syncs them. */
    bool (*fill)(struct hd__folder *f);
    /* Both are NULL for a folder that must be new. replaceable returns true if the thing at path
     * may be replaced. show gives the hidden directory the folder's name. */
    bool (*replaceable)(const char *path);
    bool (*show)(struct hd__folder *f);
    void *user;
    char hidden[HD__HIDDEN_PATH]; /* its path; after an exchange, that of the old folder */
    int lock;                     /* the new directory, open and locked; -1: there is none */
    bool old;                     /* show has exchanged the new folder and an old one */
} hd__folder;

/* Writes the folder. The caller sets all fields but the last three. */
HD__SIBLING bool hd__folder_write(hd__folder *f);

#endif
