/* checkpoint.h - functions that checkpoint.c (loading), checkpoint_save.c (saving) and
 * checkpoint_remove.c (removing) share. */
#ifndef HEED_IO_CHECKPOINT_H
#define HEED_IO_CHECKPOINT_H

#include "base/files/hidden.h"
#include "io/safetensors.h"

/* ---------------------------------------------------------------- checkpoint.c */

#define HD__MODEL_FILE "model.safetensors"
#define HD__STATE_FILE "state.safetensors"

/* the names of a checkpoint's two files, then NULL */
extern const char *const hd__checkpoint_files[];

/* Returns a new dictionary for state.safetensors, which the caller frees with hd_dict_free. It has
 * the tensors of the state, and heed's version and CPU level. The state's numbers and strings are
 * texts that begin with their types (checkpoint.c). Returns NULL with an error if memory runs
 * out. */
hd_dict *hd__checkpoint_encode(const hd_dict *state);
/* Writes model.safetensors and state.safetensors into the empty directory `hidden`, and syncs them.
 * Returns false with an error if a file cannot be written. */
bool hd__checkpoint_fill(const char *hidden, const hd_dict *model, const hd_dict *encoded);

/* ---------------------------------------------------------------- checkpoint_remove.c */

/* Returns true if dir is a checkpoint that may be removed: it is not a symbolic link, has both
 * files, and contains no directory. Otherwise returns false with an error. */
bool hd__checkpoint_removable(const char *dir);

#endif
