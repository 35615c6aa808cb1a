/* safetensors.h - safetensors files. safetensors.c opens and reads files, safetensors_header.c
 * reads a header, safetensors_index.c reads an index of several files, and safetensors_save.c
 * writes a file. */
#ifndef HEED_IO_SAFETENSORS_H
#define HEED_IO_SAFETENSORS_H

#include "base/error/call.h"
#include "io/file_elements.h"

typedef struct hd__io_entry {
    /* the tensor's name, which the `names` of its hd_safetensors owns */
    const char *name;
    const hd_safetensors *file; /* the file that has the tensor's bytes */
    const hd__io_element *type;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    int64_t begin, end; /* the tensor's bytes are [begin, end) of the file's data */
} hd__io_entry;

typedef struct hd__io_mapping hd__io_mapping;

struct hd_safetensors {
    hd__io_in in;
    char *path;
    /* maps each tensor's name to its index in entries, in the order of entries */
    hd_dict *names;
    hd_dict *metadata; /* the strings of __metadata__ */
    hd__io_entry *entries;
    int64_t n, room;
    int64_t data; /* the offset of the data in the file */
    hd_safetensors_options o;
    hd__io_mapping *mapping; /* the mapping of the file; NULL: it is not mapped */
    hd_safetensors **shards; /* the open files of an index; NULL for a single file */
    int64_t n_shards, shards_room;
};

/* Opens the file at path, or uses the open file fd if it is not -1, and reads its header. The
 * result owns fd; the caller frees the result with hd_safetensors_close. o NULL: the defaults. If
 * the call fails, it closes fd and returns NULL with an error. */
hd_safetensors *hd__safetensors_open(const char *path, int fd, const hd_safetensors_options *o);
/* Reads and checks the header: fills f's names, metadata, entries and data. Returns false with an
 * error if the header is wrong or cannot be read. */
bool hd__safetensors_header(hd_safetensors *f);
/* Reads the index at f->path and opens its shards: fills f's shards, names, metadata and entries.
 * Returns false with an error if the index is wrong, or if a shard cannot be opened. */
bool hd__safetensors_index(hd_safetensors *f);

/* Writes d as the file at path (safetensors_save.c). Returns false with an error if d has a wrong
 * entry, or if the write fails. */
bool hd__safetensors_save(const char *path, const hd_dict *d);
/* Loads the open file fd into a new dictionary, which the caller frees, and closes fd. path is for
 * messages. Returns NULL with an error if loading fails. */
hd_dict *hd__safetensors_load_fd(const char *path, int fd);

#endif
