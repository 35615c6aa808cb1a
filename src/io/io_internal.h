/* io_internal.h - what the files of the io layer offer to each other. */
#ifndef HEED_IO_INTERNAL_H
#define HEED_IO_INTERNAL_H

#include "base/error/call.h"
#include "base/files/file.h"
#include "heed/io.h"

/* ---------------------------------------------------------------- files (read_file.c) */

/* A regular file. The caller says from where each read starts. */
typedef struct hd__in {
    const char *path; /* the caller's */
    int fd;
    int64_t size; /* when it was opened */
} hd__in;

/* Opens the file at path, or takes fd, which is open already; -1: it is not. The caller closes
 * in->fd, also after a failure, by hd__sys_drop. */
bool hd__in_open(hd__in *in, const char *path, int fd);
/* Reads n bytes from `at` on. A file that ends before them is HD_IO, too. */
bool hd__in_read(const hd__in *in, int64_t at, void *bytes, size_t n);

/* "dir/name", of the first n bytes of dir, and the same in the directory of `path`. They live in
 * the innermost scope. */
const char *hd__path_in(const char *dir, size_t n, const char *name);
const char *hd__path_beside(const char *path, const char *name);

/* ---------------------------------------------------------------- elements (file_elements.c) */

/* A type of number in a file, and the dtype that it becomes. */
typedef struct hd__element {
    const char *safetensors; /* "F16" */
    char npy[3];             /* "f2"; "" if npy has no such type */
    uint8_t bytes;
    hd_dtype dtype;
    /* Converts n elements; returns n, or the place of the first that does not fit the dtype. NULL:
     * the bytes stay as they are. */
    int64_t (*convert)(const unsigned char *from, void *to, int64_t n);
} hd__element;

/* The first five are those that hd_dtype has, in its order; another BF16 becomes float32. */
extern const hd__element hd__elements[];
extern const int hd__elements_len;

/* How many bytes e's elements take in an array of these sizes; -1 on overflow, also if a tensor of
 * no elements could not have these sizes. For the overflow a size of 0 counts as 1, as in
 * hd_empty. */
int64_t hd__element_bytes(const hd__element *e, int ndim, const int64_t *sizes);

/* Reads the elements of x from `at` on; x is contiguous and has e's dtype. swap: the file's byte
 * order is not this machine's. what: names the array in messages. */
bool hd__in_elements(const hd__in *in, const char *what, int64_t at, const hd__element *e,
                     bool swap, hd_tensor *x);
/* Writes the elements of x in row-major order. swap: not in this machine's byte order. Returns
 * false after a failure. */
bool hd__write_elements(hd__whole *file, bool swap, hd_tensor *x);

extern const bool hd__big_endian; /* of this machine */

/* ---------------------------------------------------------------- safetensors */

typedef struct hd__entry {
    const char *name;           /* belongs to `names` of the file */
    const hd_safetensors *file; /* which has its bytes */
    const hd__element *type;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    int64_t begin, end; /* counted from where the data begins */
} hd__entry;

typedef struct hd__mapping hd__mapping;

struct hd_safetensors {
    hd__in in;
    char *path;
    hd_dict *names;    /* maps each name to its place in entries; same order */
    hd_dict *metadata; /* holds strings */
    hd__entry *entries;
    int64_t n, room;
    int64_t data; /* where the data begins */
    hd_safetensors_options o;
    hd__mapping *mapping;    /* NULL: the caller did not ask for one */
    hd_safetensors **shards; /* of an index */
    int64_t n_shards, shards_room;
};

/* Opens the file at path, or takes fd, which is open already, and which is closed with it. o NULL:
 * defaults. */
hd_safetensors *hd__safetensors_open(const char *path, int fd, const hd_safetensors_options *o);
/* Reads and checks the header: fills names, metadata, entries and data. */
bool hd__safetensors_header(hd_safetensors *f);
/* Reads the index at f->path and opens its shards: fills shards, names, metadata and entries. */
bool hd__safetensors_index(hd_safetensors *f);

/* Writes the file. */
bool hd__safetensors_save(const char *path, const hd_dict *d);
/* Loads the open file fd, which it closes; path is for messages. */
hd_dict *hd__safetensors_load_fd(const char *path, int fd);

#endif
