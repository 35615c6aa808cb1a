/* checkpoint.h - functions that loading (checkpoint.c), saving (checkpoint_save.c) and removing
 * checkpoints (checkpoint_remove.c) share. */
#ifndef HEED_IO_CHECKPOINT_H
#define HEED_IO_CHECKPOINT_H

#include "base/files/hidden.h"
#include "io/safetensors.h"

/* ---------------------------------------------------------------- checkpoint.c */

#define HD__MODEL_FILE "model.safetensors"
#define HD__STATE_FILE "state.safetensors"

extern const char *const hd__checkpoint_files[]; /* the names of its two files, then NULL */

/* Returns the state with its numbers written as strings. The caller frees it with hd_dict_free. */
hd_dict *hd__checkpoint_encode(const hd_dict *state);
/* Writes model.safetensors and state.safetensors into the empty directory `hidden`, and syncs
 * them. */
bool hd__checkpoint_fill(const char *hidden, const hd_dict *model, const hd_dict *encoded);

/* ---------------------------------------------------------------- checkpoint_remove.c */

/* True if dir is a checkpoint that may be removed: it is not a symbolic link, has both files, and
 * contains no directory. Otherwise fails. */
bool hd__checkpoint_removable(const char *dir);

#endif
