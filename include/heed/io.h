/* io.h - tensors in files: safetensors, .npy, checkpoints.
 *
 * Reading is strict. A file that breaks its format in any way is refused with HD_FORMAT; the
 * message names the file, the tensor and what was expected. HD_IO: the system refuses to open or
 * read the file. Only regular files are read. A loaded tensor is a copy, unless the options ask for
 * a mapping.
 *
 * Writing is atomic. A temporary file (.heed-*.tmp) in the same directory is written, synced and
 * renamed; then the directory is synced. A save that fails leaves the old file and removes the
 * temporary file. There is one exception: if only the last step fails, the sync of the directory,
 * the new file is already in place. If a process was killed in a save, the next save of the same
 * path removes its temporary file. While an error is set, saving changes nothing and returns false.
 * The same dictionary always gives the same bytes.
 *
 * The types of a file become heed's dtypes:
 *   F32, F64, I64, BOOL     float32, float64, int64, bool
 *   F16, BF16               float32, exactly; BF16 stays bfloat16 in a checkpoint, and where
 *                           hd_safetensors_options asks for it
 *   U8 I8 U16 I16 U32 I32   int64
 *   U64                     int64; a value that does not fit is HD_VALUE
 * Other types (F8_*, F4, C64, ...) are HD_DTYPE. */
#ifndef HEED_IO_H
#define HEED_IO_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- safetensors */

typedef struct hd_safetensors_options {
    size_t size;
    bool map;           /* false; if true, maps the file (hd_load_safetensors) */
    bool keep_bfloat16; /* false: BF16 becomes float32; true: it stays HD_BFLOAT16 */
} hd_safetensors_options;

HD_API hd_safetensors_options hd_safetensors_defaults(void);

/* Loads the whole file: its tensors by name, in the order of the header, and the texts of its
 * __metadata__ as strings. Free with hd_dict_free, which also frees the tensors unless something
 * else holds them (hd_retain, hd_assign). o NULL: defaults. The path may be that of an index, as
 * for hd_safetensors_open.
 *
 * With `map`, tensors of heed's own types share a private mapping of the file and are not copied.
 * Nothing is read before it is used. Writing to such a tensor changes neither the file nor other
 * loads of it. Tensors that are not aligned in the file, and tensors that are converted, are still
 * copies. On a big-endian machine all tensors are copies, because the file's elements are
 * little-endian. A machine of 32 bits cannot map a file of 2 GB or more (HD_IO); without `map`,
 * hd_safetensors_read reads such a file tensor by tensor.
 *
 * The mapping lives until its last tensor is gone. If another program makes the file shorter
 * meanwhile, reading it raises SIGBUS, because heed installs no handler; if it changes the file's
 * content, tensors may change, too. Saving with heed is safe: it replaces the file.
 *
 * Some files are refused although Python's safetensors 0.8 takes them. They have: a name or a
 * metadata key that comes twice, is empty or holds U+0000; fields other than dtype, shape and
 * data_offsets; entries written as arrays; "__metadata__": null; rank above 8; a size 0 and other
 * sizes whose product overflows; or a metadata text under a tensor's name (only this function
 * refuses it, because it puts both into one dictionary; hd_safetensors_open does not). */
HD_API hd_dict *hd_load_safetensors(const char *path, const hd_safetensors_options *o);

/* Writes the tensors of d, row-major, in the order and with the padding of Python's safetensors.
 * The strings of d become __metadata__, in the order of d. HD_VALUE: d has a number, or a name that
 * is not UTF-8. Tensors that share memory are each written in full. */
HD_API bool hd_save_safetensors(const char *path, const hd_dict *d);

/* An open file, to read tensor by tensor. Opening reads and checks only the header, all of it.
 * Tensors are numbered in the order of the header; a number out of range is HD_INDEX. Names and
 * sizes live as long as the file is open; tensors may live longer. Any number of threads may
 * read. */
typedef struct hd_safetensors hd_safetensors;
/* Opens the file at path; o NULL: defaults.
 *
 * A path that ends in ".index.json" is that of an index, JSON that transformers writes for a model
 * in several files (shards). Its "weight_map" maps each tensor's name to the name of a file in the
 * same directory. All these files are opened, and together they behave like one file. Its tensors
 * are those of weight_map, in its order; as in transformers, a tensor that only its file names is
 * skipped. The metadata are those of all files; if several have a key, the file that weight_map
 * names first counts. The other members of the index, such as its own metadata with the size of all
 * tensors, are skipped.
 *
 * HD_FORMAT: there is no weight_map; a tensor comes twice, or its file lacks it; or the name of a
 * file is no string, is empty, "." or "..", or has a slash or a backslash. HD_IO: a file cannot be
 * opened. */
HD_API hd_safetensors *hd_safetensors_open(const char *path, const hd_safetensors_options *o);
HD_API void hd_safetensors_close(hd_safetensors *f); /* closes f; takes NULL */
/* the number of tensors; -1 on error */
HD_API int64_t hd_safetensors_len(const hd_safetensors *f);
/* the number of the tensor with this name; -1 if there is none */
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
/* reads tensor i into the innermost scope */
HD_API hd_tensor *hd_safetensors_read(const hd_safetensors *f, int64_t i);
/* the strings of __metadata__; of an index, as hd_safetensors_open says */
HD_API const hd_dict *hd_safetensors_metadata(const hd_safetensors *f);

/* ---------------------------------------------------------------- NumPy */

/* Loads the array of an .npy file, row-major. The file has version 1 to 3, C or Fortran order,
 * either byte order, and bool, integers, float16, float32 or float64. HD_DTYPE: objects, texts,
 * records, complex numbers. This function is stricter than numpy.load: nothing may follow the data,
 * and the header must be as NumPy writes it, except for white space, the order of its fields and
 * the kind of quotes. */
HD_API hd_tensor *hd_load_npy(const char *path);

/* Writes the bytes that numpy.save writes: version 1.0, C order, little-endian. */
HD_API bool hd_save_npy(const char *path, const hd_tensor *x);

/* ---------------------------------------------------------------- checkpoints */

/* Writes a checkpoint, a directory with two files. It is written under a temporary name, synced,
 * then renamed to dir, so that after a crash there is the whole checkpoint or none. dir must not
 * exist; its parent must.
 *   model.safetensors  model: tensors only, a state_dict; PyTorch can load it
 *   state.safetensors  state: tensors, strings (UTF-8) and numbers, all of them exact: optimizer,
 *                      generators, loader, and everything else that resuming the run needs
 * The version of heed and the CPU level are added to the state as the strings "heed.version" and
 * "heed.cpu_level".
 *
 * A failure leaves no directory, with two exceptions. If the parent cannot be synced and dir cannot
 * be renamed back, the whole checkpoint is at dir, and the message says so. If the unfinished
 * directory cannot be removed, a warning names it.
 *
 * A crash may leave an unfinished directory beside dir, with a name that begins with ".heed-" and
 * ends in ".tmp". The next call that saves, replaces or removes a checkpoint at dir removes it,
 * unless another process is writing it. heed does not see the processes of another machine, so two
 * machines must not write the same checkpoint at the same time. */
HD_API bool hd_checkpoint_save(const char *dir, const hd_dict *model, const hd_dict *state);

/* Writes a checkpoint as hd_checkpoint_save does, but dir may name a checkpoint already. Then the
 * new one takes its place in one step, and the old one is removed, with any other files in its
 * directory. A program that loads dir finds the whole old checkpoint or the whole new one at any
 * time, even after a crash. The new directory and its two files have the permissions of the old
 * ones.
 *
 * If the last step fails, the sync of dir's parent, the old one is at dir again, or the message
 * says that dir is replaced. HD_VALUE: dir ends in "." or "..". HD_FORMAT: there is something else
 * than a checkpoint at dir, as in hd_checkpoint_remove. HD_IO, with nothing changed: the system or
 * the file system cannot exchange two names (those of Linux and macOS can, NFS cannot).
 *
 * A crash may leave the unfinished new one, or the old one, beside dir, under a name as with
 * hd_checkpoint_save.
 *
 * Windows has no such step, and needs three renames. A crash after the first one leaves the old
 * checkpoint at dir with ".heed-old" after it, and the next call of heed that looks for dir gives
 * its name back. While a program has a file of the old one open or mapped, the call fails with
 * HD_IO, and nothing is changed. The new directory has the permissions that its parent gives. */
HD_API bool hd_checkpoint_replace(const char *dir, const hd_dict *model, const hd_dict *state);

/* Loads both dictionaries; free them with hd_dict_free. Pass NULL for one that you do not need. On
 * failure both are set to NULL. Both come from the same checkpoint, even if another program
 * replaces dir during the call. */
HD_API bool hd_checkpoint_load(const char *dir, hd_dict **model, hd_dict **state);

/* Removes a checkpoint, with any other files in its directory. The directory first gets another
 * name, so that no program finds half a checkpoint. A directory that its owner made read-only is
 * removed, too. HD_FORMAT: dir holds no checkpoint, holds a directory, or is a symbolic link; then
 * nothing is removed. HD_IO: the checkpoint is still at dir, or the message says where the rest of
 * it lies; then the next call removes that. */
HD_API bool hd_checkpoint_remove(const char *dir);

#ifdef __cplusplus
}
#endif
#endif
