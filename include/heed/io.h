/* io.h - tensors in files: safetensors, .npy, checkpoints.
 *
 * Reading is strict: a file that breaks its format in any way is refused with HD_FORMAT and a
 * message that names the file, the tensor and what was expected; a file that the system does not
 * give is HD_IO. Only regular files are read. What is loaded is a copy, unless a mapping is asked
 * for.
 *
 * Writing is atomic: a temporary file (.heed-*.tmp) in the same directory is written, synced and
 * renamed, then the directory is synced. A save that fails leaves the old file as it was and no
 * temporary one (only when the very last step fails, the sync of the directory, the new file is
 * there already); while an error stands, saving changes nothing and returns false. The same
 * dictionary always gives the same bytes.
 *
 * Files' types become heed's four:
 *   F32, F64, I64, BOOL     float32, float64, int64, bool
 *   F16, BF16               float32, exactly
 *   U8 I8 U16 I16 U32 I32   int64
 *   U64                     int64; HD_VALUE for a value beyond it
 * Others (F8_*, F4, C64, ...) are HD_DTYPE. */
#ifndef HEED_IO_H
#define HEED_IO_H

#include "heed/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- safetensors */

typedef struct hd_safetensors_options {
    size_t size;
    bool map; /* false; true: see below */
} hd_safetensors_options;

HD_API hd_safetensors_options hd_safetensors_defaults(void);

/* All of a file: its tensors by name, in the header's order, and the texts of its __metadata__ as
 * strings. Free with hd_dict_free. o NULL: defaults.
 *
 * map: tensors of heed's own types share a private mapping of the file instead of a copy: nothing
 * is read before it is used, and writing to them changes neither the file nor other loads. Those
 * that are not aligned in the file, and those that are converted, are copies all the same. The
 * mapping goes with its last tensor. Whoever makes the file shorter meanwhile raises SIGBUS in the
 * reader: heed installs no handler. (Saving with heed is safe: it replaces the file.)
 *
 * Refused, though Python's safetensors 0.8 takes them: a name or a metadata key that comes twice,
 * is empty or holds U+0000; fields other than dtype, shape and data_offsets; entries written as
 * arrays; "__metadata__": null; rank above 8; sizes whose product overflows beside a 0; a text of
 * the metadata under a tensor's name (here only: hd_safetensors_open takes it). */
HD_API hd_dict *hd_load_safetensors(const char *path, const hd_safetensors_options *o);

/* The tensors of d, row-major, in the order and with the padding of Python's safetensors, and its
 * strings as __metadata__, in d's order. Numbers, and names that are not UTF-8: HD_VALUE. Tensors
 * that share memory are written each by itself. */
HD_API bool hd_save_safetensors(const char *path, const hd_dict *d);

/* A file, tensor by tensor, with nothing read but the header, which has been checked whole. Tensors
 * are numbered in the header's order; an index that is none is HD_INDEX. Names and sizes live as
 * long as the file is open; tensors longer. Any number of threads may read. */
typedef struct hd_safetensors hd_safetensors;

HD_API hd_safetensors *hd_safetensors_open(const char *path, const hd_safetensors_options *o);
HD_API void hd_safetensors_close(hd_safetensors *f);                           /* takes NULL */
HD_API int64_t hd_safetensors_len(const hd_safetensors *f);                    /* -1 on error */
HD_API int64_t hd_safetensors_find(const hd_safetensors *f, const char *name); /* -1: none */
HD_API const char *hd_safetensors_name(const hd_safetensors *f, int64_t i);
HD_API const char *hd_safetensors_type(const hd_safetensors *f, int64_t i); /* in the file: "F16" */
HD_API int hd_safetensors_ndim(const hd_safetensors *f, int64_t i);         /* -1 on error */
HD_API const int64_t *hd_safetensors_sizes(const hd_safetensors *f, int64_t i); /* ndim entries */
HD_API int64_t hd_safetensors_bytes(const hd_safetensors *f, int64_t i);   /* in the file; -1 */
HD_API hd_tensor *hd_safetensors_read(const hd_safetensors *f, int64_t i); /* in a scope */
HD_API const hd_dict *hd_safetensors_metadata(const hd_safetensors *f);    /* strings */

/* ---------------------------------------------------------------- NumPy */

/* The array of an .npy file (versions 1 to 3, C or Fortran order, either byte order; bool,
 * integers, float16, 32 and 64), row-major. HD_DTYPE: objects, texts, records, complex numbers.
 * Stricter than numpy.load: nothing may follow the data, and the header is as NumPy writes it but
 * for white space, the order of its fields and the kind of quotes. */
HD_API hd_tensor *hd_load_npy(const char *path);

/* Version 1.0, C order, little-endian: the bytes of numpy.save. */
HD_API bool hd_save_npy(const char *path, const hd_tensor *x);

/* ---------------------------------------------------------------- checkpoints */

/* A directory with two files, made at once: written under a temporary name, synced, then renamed to
 * dir, which must not exist; its parent must. After a crash there is the whole checkpoint or none.
 *   model.safetensors  model: tensors only, a state_dict; what PyTorch loads
 *   state.safetensors  state: tensors, strings (UTF-8) and numbers, each exactly: optimizer,
 *                      generators, loader, and whatever else resumes the run
 * heed's version and the CPU level are added to the state as the strings "heed.version" and
 * "heed.cpu_level". A failure leaves no directory. */
HD_API bool hd_checkpoint_save(const char *dir, const hd_dict *model, const hd_dict *state);

/* Both dictionaries, to be freed; NULL for one that is not wanted. On failure neither is set. */
HD_API bool hd_checkpoint_load(const char *dir, hd_dict **model, hd_dict **state);

/* Removes a checkpoint and whatever files lie beside its own: first under another name, so that no
 * half of it is ever found. HD_FORMAT, and nothing is removed: dir holds no checkpoint, or holds a
 * directory, or is a symbolic link. */
HD_API bool hd_checkpoint_remove(const char *dir);

#ifdef __cplusplus
}
#endif
#endif
