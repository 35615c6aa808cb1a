/* checkpoint.h - what saving a checkpoint (checkpoint.c) and replacing one (replace.c) share. */
#ifndef HEED_IO_CHECKPOINT_H
#define HEED_IO_CHECKPOINT_H

#include "base/platform.h"
#include "io/io_internal.h"

/* ---------------------------------------------------------------- checkpoint.c */

#define HD__MODEL_FILE "model.safetensors"
#define HD__STATE_FILE "state.safetensors"

/* Are the arguments of a save given and right? */
bool hd__checkpoint_args(const char *function, const char *dir, const hd_dict *model,
                         const hd_dict *state);
/* The state as tensors and strings; hd_dict_free. */
hd_dict *hd__checkpoint_encode(const hd_dict *state);
/* Writes both files into an empty directory and syncs them. */
bool hd__checkpoint_fill(const char *function, const char *dir, const hd_dict *model,
                         const hd_dict *encoded);
/* Is dir a checkpoint that may be removed: no link, with both files and without directories? */
bool hd__checkpoint_removable(const char *function, const char *dir);

/* Removes the files of the open directory fd, closes it and removes its path. Returns 0, or the
 * errno of the first removal that fails. What another process removes meanwhile is no failure. It
 * allocates nothing through heed, because it also cleans up after memory has run out. */
int hd__directory_clear(int fd, const char *path);

#endif
