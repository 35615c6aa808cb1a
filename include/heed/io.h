/* io.h - tensors in files: safetensors, .npy, checkpoints.
 *
 * Reading is strict. If a file violates its format in any way, the call fails with HD_FORMAT, and
 * the message names the file, the tensor, and the content that the format requires. HD_IO: the
 * system cannot open or read the file, or it is not a regular file. A loaded tensor is a copy,
 * unless the options ask for a mapping.
 *
 * Writing is atomic. A save writes and syncs a temporary file (.heed-*.tmp) in the same directory,
 * renames it, and then syncs the directory. A save that fails leaves the old file and removes the
 * temporary file. There is one exception: if only the sync of the directory fails, the new file is
 * already in place. If a process was killed during a save, the next save to the same path removes
 * its temporary file. While an error is set, saving changes nothing and returns false. The same
 * dictionary always gives the same bytes.
 *
 * The types of a file become heed's dtypes:
 *   F32, F64, I64, BOOL     float32, float64, int64, bool
 *   F16, BF16               float32, exactly; BF16 stays bfloat16 in a checkpoint, and if
 *                           hd_safetensors_options asks for it
 *   U8 I8 U16 I16 U32 I32   int64
 *   U64                     int64; HD_VALUE if a value does not fit
 * Other types (F8_*, F4, C64, ...) fail with HD_DTYPE. */
#ifndef HEED_IO_H
#define HEED_IO_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- safetensors */

typedef struct hd_safetensors_options {
    size_t size;
    bool map;           /* default false; if true, the file is mapped (see hd_load_safetensors) */
    bool keep_bfloat16; /* default false: BF16 becomes float32; true: it stays HD_BFLOAT16 */
} hd_safetensors_options;

HD_API hd_safetensors_options hd_safetensors_defaults(void);

/* Loads the whole file. The dictionary has the tensors under their names, in the order of the
 * header, and the texts of __metadata__ as strings. Free it with hd_dict_free, which also frees the
 * tensors unless the program retains them (hd_retain, hd_assign). path may be that of an index, as
 * for hd_safetensors_open. o NULL: the defaults.
 *
 * With `map`, tensors of heed's own types are not copied: they share a private mapping of the file,
 * which the system reads when it is used. Writing to such a tensor changes neither the file nor
 * tensors of another load. Tensors that are not aligned in the file, and tensors that are
 * converted, are copies nevertheless. On a big-endian machine all tensors are copies, because the
 * elements in the file are little-endian. A 32-bit machine cannot map a file of 2 GB or more
 * (HD_IO). Without `map`, hd_safetensors_read can read such a file tensor by tensor.
 *
 * The file stays mapped until the last of these tensors is freed. If another program makes the file
 * shorter meanwhile, reading the missing part raises SIGBUS, and heed installs no handler. If
 * another program changes the content of the file, tensors may change, too. Saving with heed is
 * safe, because it replaces the file.
 *
 * heed refuses some files that Python's safetensors 0.8 accepts:
 *   a name or a metadata key occurs twice, is empty or contains U+0000
 *   an entry has fields other than dtype, shape and data_offsets, or is an array
 *   "__metadata__" is null
 *   a tensor has more than 8 dims, or a size 0 and other sizes whose product overflows
 *   a metadata key is also the name of a tensor. Only this function refuses this, because it puts
 *   both into one dictionary; hd_safetensors_open accepts it. */
HD_API hd_dict *hd_load_safetensors(const char *path, const hd_safetensors_options *o);

/* Writes the tensors of d, row-major, in the order and with the padding of Python's safetensors.
 * The strings of d become __metadata__, in the order of d. Each tensor is written in full, even if
 * tensors share memory. HD_VALUE: d has a number, or a name that is not UTF-8. */
HD_API bool hd_save_safetensors(const char *path, const hd_dict *d);

/* An open safetensors file, for reading tensor by tensor. Opening it reads and checks the header
 * only. Tensors are numbered from 0, in the order of the header; for other numbers the functions
 * fail with HD_INDEX. Names and sizes are valid while the file is open; a tensor that was read may
 * outlive the file. Any number of threads may read at the same time. */
typedef struct hd_safetensors hd_safetensors;
/* Opens the file at path. o NULL: the defaults.
 *
 * If path ends in ".index.json", it is that of an index: a JSON file that transformers writes for a
 * model in several files (shards). Its "weight_map" maps each tensor's name to the name of a file
 * in the same directory. heed opens all these files, and together they behave like one file. Its
 * tensors are those of weight_map, in the order of weight_map. As in transformers, tensors that
 * weight_map lacks are ignored. The metadata are those of all files; if several files have the same
 * key, the file that weight_map names first counts. heed ignores the other members of the index,
 * such as "metadata".
 *
 * HD_FORMAT: there is no weight_map; a tensor occurs twice in it, or is not in its file; or the
 * name of a file is not a string, is empty, "." or "..", or contains a slash or a backslash. HD_IO:
 * a file cannot be opened. */
HD_API hd_safetensors *hd_safetensors_open(const char *path, const hd_safetensors_options *o);
HD_API void hd_safetensors_close(hd_safetensors *f); /* closes f; takes NULL */
/* the number of tensors; -1 on error */
HD_API int64_t hd_safetensors_len(const hd_safetensors *f);
/* the number of the tensor with this name; -1, without an error, if there is none */
HD_API int64_t hd_safetensors_find(const hd_safetensors *f, const char *name);
/* the name of tensor i */
HD_API const char *hd_safetensors_name(const hd_safetensors *f, int64_t i);
/* the type of tensor i in the file, such as "F16" */
HD_API const char *hd_safetensors_type(const hd_safetensors *f, int64_t i);
/* the number of dims of tensor i; -1 on error */
HD_API int hd_safetensors_ndim(const hd_safetensors *f, int64_t i);
/* the sizes of tensor i, one for each dim */
HD_API const int64_t *hd_safetensors_sizes(const hd_safetensors *f, int64_t i);
/* the number of bytes of tensor i in the file; -1 on error */
HD_API int64_t hd_safetensors_bytes(const hd_safetensors *f, int64_t i);
/* reads tensor i and returns it; the innermost scope owns the result */
HD_API hd_tensor *hd_safetensors_read(const hd_safetensors *f, int64_t i);
/* the strings of __metadata__; f owns the dictionary */
HD_API const hd_dict *hd_safetensors_metadata(const hd_safetensors *f);

/* ---------------------------------------------------------------- NumPy */

/* Loads the array of an .npy file as a row-major tensor. The file may have version 1 to 3, C or
 * Fortran order, and either byte order. Its elements are bool, integers, float16, float32 or
 * float64. HD_DTYPE: the elements are objects, texts, records or complex numbers. This function is
 * stricter than numpy.load: nothing may follow the data, and the header must be as NumPy writes it,
 * except for white space, the order of its fields and the kind of quotes. */
HD_API hd_tensor *hd_load_npy(const char *path);

/* Writes x as numpy.save does, byte for byte: version 1.0, C order, little-endian. Replaces a file
 * that is there. */
HD_API bool hd_save_npy(const char *path, const hd_tensor *x);

/* ---------------------------------------------------------------- checkpoints */

/* Writes a checkpoint, which is a directory with two files. heed writes it under a temporary name,
 * syncs it, and then renames it to dir, so after a crash there is the whole checkpoint or none. dir
 * must not exist; its parent must exist.
 *   model.safetensors  model: tensors only, a state_dict; PyTorch can load it
 *   state.safetensors  state: tensors, strings (UTF-8) and numbers, which are saved exactly: the
 *                      optimizer, generators, the loader, and all else that resuming needs
 * heed adds its version and the CPU level to the state, as the strings "heed.version" and
 * "heed.cpu_level".
 *
 * A call that fails leaves no directory, with two exceptions. If the parent cannot be synced, and
 * dir cannot be renamed back, the whole checkpoint is at dir, and the message says so. If the
 * unfinished directory cannot be removed, a warning names it.
 *
 * A crash may leave an unfinished directory in dir's parent. Its name begins with ".heed-" and ends
 * in ".tmp". The next call that saves, replaces or removes a checkpoint at dir removes it, unless
 * another process is writing it. heed cannot see the processes of another machine, so two machines
 * must not write the same checkpoint at the same time. */
HD_API bool hd_checkpoint_save(const char *dir, const hd_dict *model, const hd_dict *state);

/* Writes a checkpoint as hd_checkpoint_save does, but dir may already be a checkpoint. Then the new
 * checkpoint takes its place in one step, and the old one is removed, with any other files in its
 * directory. At any time, even after a crash, a program that loads dir finds the whole old
 * checkpoint or the whole new one. The new directory and its two files get the permissions of the
 * old ones.
 *
 * If only the sync of dir's parent fails, either the old checkpoint is at dir again, or the message
 * says that dir has been replaced. HD_VALUE: dir ends in "." or "..". HD_FORMAT: dir is not a
 * checkpoint, as defined at hd_checkpoint_remove. HD_IO, with nothing changed: the system or the
 * file system cannot exchange two names. The file systems of Linux and macOS can, NFS cannot.
 *
 * A crash may leave the unfinished new checkpoint, or the old one, in dir's parent, under a name
 * that begins with ".heed-" and ends in ".tmp".
 *
 * Windows cannot exchange two names in one step, so heed renames three times. A crash after the
 * first rename leaves the old checkpoint under dir's name with ".heed-old" at its end, and the next
 * call of heed that looks for dir renames it to dir. A crash after the second rename leaves the old
 * checkpoint under that name, and the new one at dir. Then remove the old checkpoint before you
 * remove dir, or it gets dir's name. While a program has a file of the old checkpoint open or
 * mapped, the call fails with HD_IO, and nothing is changed. The new directory has the permissions
 * that its parent gives. */
HD_API bool hd_checkpoint_replace(const char *dir, const hd_dict *model, const hd_dict *state);

/* Loads the two dictionaries of a checkpoint. Free them with hd_dict_free. Pass NULL for a
 * dictionary that you do not need. On failure *model and *state are NULL. Both dictionaries come
 * from the same checkpoint, even if another program replaces dir during the call. */
HD_API bool hd_checkpoint_load(const char *dir, hd_dict **model, hd_dict **state);

/* Removes a checkpoint, with any other files in its directory. heed first renames the directory, so
 * no program finds half a checkpoint. It also removes a directory that its owner made read-only.
 * HD_FORMAT: dir has no checkpoint, contains a directory, or is a symbolic link; then nothing is
 * removed. HD_IO: the system cannot remove the checkpoint. It is still at dir, or the message says
 * where the rest of it is, and the next call removes this rest. */
HD_API bool hd_checkpoint_remove(const char *dir);

#ifdef __cplusplus
}
#endif
#endif
