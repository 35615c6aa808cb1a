/* io_internal.h - what the files of the io layer offer to each other. */
#ifndef HEED_IO_INTERNAL_H
#define HEED_IO_INTERNAL_H

#include "base/whole.h"
#include "heed/io.h"
#include "tensor/tensor_internal.h"

/* ---------------------------------------------------------------- files (file.c) */

/* A regular file that is read at places of the caller's. */
typedef struct hd__in {
    const char *path; /* the caller's */
    int fd;
    int64_t size; /* when it was opened */
} hd__in;

bool hd__in_open(hd__in *in, const char *function, const char *path);
void hd__in_close(hd__in *in);
/* n bytes from `at` on; HD_IO also when the file ends before. */
bool hd__in_read(const hd__in *in, const char *function, int64_t at, void *bytes, size_t n);

/* ---------------------------------------------------------------- elements (elements.c) */

/* A type of number in a file and the dtype that it becomes. */
typedef struct hd__element {
    const char *safetensors; /* "F16" */
    char npy[3];             /* "f2"; "" for none */
    uint8_t bytes;
    hd_dtype dtype;
    /* n elements; returns how many fit: n, or the place of the first that does not. NULL: the bytes
     * are the same. */
    int64_t (*convert)(const unsigned char *from, void *to, int64_t n);
} hd__element;

/* The first four are the dtypes' own, in their order. */
extern const hd__element hd__elements[];
extern const int hd__elements_len;

/* Reads x's elements, which stand in the file from `at` on; x is contiguous and of e's dtype. swap:
 * their bytes stand in the order that is not this machine's. what: for messages. */
bool hd__in_elements(const hd__in *in, const char *function, const char *what, int64_t at,
                     const hd__element *e, bool swap, hd_tensor *x);
/* Writes x's elements, row-major and little-endian. */
void hd__write_elements(hd__whole *file, const hd_tensor *x);

extern const bool hd__big_endian; /* this machine */

/* ---------------------------------------------------------------- safetensors */

typedef struct hd__entry {
    const char *name; /* of `names` */
    const hd__element *type;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    int64_t begin, end; /* in the data */
} hd__entry;

typedef struct hd__mapping hd__mapping;

struct hd_safetensors {
    hd__in in;
    char *path;
    hd_dict *names;    /* to the position in entries, in the same order */
    hd_dict *metadata; /* strings */
    hd__entry *entries;
    int64_t n, room;
    int64_t data;         /* where the data begins */
    hd__mapping *mapping; /* NULL: none was asked for */
};

/* Reads and checks the header: fills names, metadata, entries and data. */
bool hd__safetensors_header(hd_safetensors *f, const char *function);

bool hd__safetensors_save(const char *function, const char *path, const hd_dict *d);
hd_dict *hd__safetensors_load(const char *function, const char *path,
                              const hd_safetensors_options *o);

#endif
