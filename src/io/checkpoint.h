/* checkpoint.h - what loading a checkpoint (checkpoint.c), saving one (checkpoint_save.c) and
 * removing one (checkpoint_remove.c) share. */
#ifndef HEED_IO_CHECKPOINT_H
#define HEED_IO_CHECKPOINT_H

#include "base/files/hidden.h"
#include "io/safetensors.h"

/* ---------------------------------------------------------------- checkpoint.c */

#define HD__MODEL_FILE "model.safetensors"
#define HD__STATE_FILE "state.safetensors"

extern const char *const hd__checkpoint_files[]; /* these two, and NULL */

/* The state as tensors and strings; hd_dict_free. */
hd_dict *hd__checkpoint_encode(const hd_dict *state);
/* Writes both files into an empty directory, and syncs them. */
bool hd__checkpoint_fill(const char *hidden, const hd_dict *model, const hd_dict *encoded);

/* ---------------------------------------------------------------- checkpoint_remove.c */

/* Is dir a checkpoint that may be removed: no link, with both files and without directories? */
bool hd__checkpoint_removable(const char *dir);

#endif
