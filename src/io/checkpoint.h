/* checkpoint.h - what loading a checkpoint (checkpoint.c), saving one (save.c) and removing one
 * (remove.c) share. */
#ifndef HEED_IO_CHECKPOINT_H
#define HEED_IO_CHECKPOINT_H

#include "base/system/system.h"
#include "io/io_internal.h"

/* ---------------------------------------------------------------- checkpoint.c */

#define HD__MODEL_FILE "model.safetensors"
#define HD__STATE_FILE "state.safetensors"

/* The state as tensors and strings; hd_dict_free. */
hd_dict *hd__checkpoint_encode(const hd_dict *state);
/* Writes both files into an empty directory, which gets the name dir later, and syncs them. */
bool hd__checkpoint_fill(const char *hidden, const char *dir, const hd_dict *model,
                         const hd_dict *encoded);

/* ---------------------------------------------------------------- remove.c */

/* Is dir a checkpoint that may be removed: no link, with both files and without directories? */
bool hd__checkpoint_removable(const char *dir);

/* ---------------------------------------------------------------- hidden.c */

/* A directory beside dir that is filled and then gets dir's name. It begins as {.lock = -1} and
 * ends with hd__sys_drop(h.lock). Its path, as all of hidden.c, lives in the innermost scope. */
typedef struct hd__hidden {
    const char *path;
    int lock; /* the directory, open and locked; -1: there is none */
} hd__hidden;

bool hd__hidden_make(const char *dir, hd__hidden *h);
/* Removes it with its files. Returns 0 or the errno of the first removal that fails. */
int hd__hidden_clear(hd__hidden *h);
/* The same; a warning tells of a failure. */
void hd__hidden_drop(const char *dir, hd__hidden *h);
/* Warns that a checkpoint of dir, an "old" or "unfinished" one, is left at path. */
void hd__hidden_left(const char *what, const char *dir, const char *path, int cause);

/* A new path for such a directory, of which there is none yet; NULL if memory runs out. */
const char *hd__hidden_path(const char *dir);
/* "dir/name", of the first n bytes of dir. */
const char *hd__path_in(const char *dir, size_t n, const char *name);
/* Returns 0 if there is something at path, also a link, and otherwise the errno of looking. */
int hd__stat_cause(const char *path);

/* Removes the hidden directories of dir that processes which were killed, or failed, have left.
 * What cannot be removed stays. left begins as {0}. False: memory ran out. */
typedef struct hd__left_overs {
    int found, cause; /* cause: the errno of the first one that could not be removed, or 0 */
    const char *path; /* of that one */
    int unread;       /* why they cannot be looked for: an errno, or 0 */
} hd__left_overs;

bool hd__left_overs_clear(const char *dir, hd__left_overs *left);

/* Removes the files of the open directory fd, closes it and removes its path. Returns 0, or the
 * errno of the first removal that fails. What another process removes meanwhile is no failure. It
 * allocates nothing through heed, because it also cleans up after memory has run out. */
int hd__directory_clear(int fd, const char *path);
/* Is the open directory fd still the one at path? If not `follow`, path is no link to it. *cause:
 * why that cannot be told, or 0. */
bool hd__still_at(int fd, const char *path, bool follow, int *cause);

#endif
