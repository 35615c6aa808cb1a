/* checkpoint.h - functions of checkpoints that loading (checkpoint.c), saving (checkpoint_save.c)
 * and removing (checkpoint_remove.c) share. */
#ifndef HEED_IO_CHECKPOINT_H
#define HEED_IO_CHECKPOINT_H

#include "base/files/hidden.h"
#include "io/safetensors.h"

/* ---------------------------------------------------------------- checkpoint.c */

#define HD__MODEL_FILE "model.safetensors"
#define HD__STATE_FILE "state.safetensors"

extern const char *const hd__checkpoint_files[]; /* both names, then NULL */

/* The state with its numbers as strings. The caller frees it by hd_dict_free. */
hd_dict *hd__checkpoint_encode(const hd_dict *state);
/* Writes both files into the empty directory `hidden`, and syncs them. */
bool hd__checkpoint_fill(const char *hidden, const hd_dict *model, const hd_dict *encoded);

/* ---------------------------------------------------------------- checkpoint_remove.c */

/* True if dir may be removed: no link, with both files, and without directories. Else fails. */
bool hd__checkpoint_removable(const char *dir);

#endif
