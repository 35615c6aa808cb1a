/* folder.h - writes a folder that appears whole or not at all.
 *
 * A new folder is filled as a hidden directory beside its path, and then renamed. An old folder
 * gets a hidden name before it is removed. The hidden name is made from the folder's name, and a
 * process locks the hidden directory while it uses it. If the process is killed, or cannot remove
 * the directory, the directory stays without a lock. The next call that writes or removes the same
 * folder removes this directory.
 *
 * The libraries in libs/ may include this header (base/sibling.h); hidden.h has the single steps,
 * for libheed. */
#ifndef HEED_BASE_FOLDER_H
#define HEED_BASE_FOLDER_H

#include "base/files/whole_file.h"

/* the bytes for the path of a directory and a name in it */
enum { HD__HIDDEN_PATH = HD__LONGEST_PATH + 260 };

typedef struct hd__folder {
    const char *path; /* where the folder appears; belongs to the caller */
    /* for messages. what: the kind of folder, such as "checkpoint". advice: the end of the message
     * that path exists already, or NULL */
    const char *what, *advice;
    const char *const *names; /* the names of all files in the folder, and NULL at the end */
    /* Writes the files into the hidden directory, and syncs them. Returns false with an error if
     * that fails. */
    bool (*fill)(struct hd__folder *f);
    /* replaceable and show are NULL for a folder that must be new. replaceable returns false with
     * an error if the thing at path must not be replaced. show renames the hidden directory to
     * path, or exchanges the two and sets `old`. It returns false with an error if that fails. */
    bool (*replaceable)(const char *path);
    bool (*show)(struct hd__folder *f);
    void *user;
    char hidden[HD__HIDDEN_PATH]; /* the hidden path; after an exchange, the old folder has it */
    int lock;                     /* the new directory, open and locked; -1: there is none */
    bool old;                     /* show has exchanged the new folder and an old one */
} hd__folder;

/* Writes the folder. Returns false with an error if that fails. The caller sets all fields but the
 * last three. */
HD__SIBLING bool hd__folder_write(hd__folder *f);

#endif
