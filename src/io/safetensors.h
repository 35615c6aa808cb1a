/* safetensors.h - safetensors files. safetensors.c opens and reads files, safetensors_header.c
 * reads a header, safetensors_index.c reads an index of several files, and safetensors_save.c
 * writes a file. */
#ifndef HEED_IO_SAFETENSORS_H
#define HEED_IO_SAFETENSORS_H

#include "base/error/call.h"
#include "io/file_elements.h"

typedef struct hd__io_entry {
    const char *name;           /* the file's `names` owns it */
    const hd_safetensors *file; /* the file that has the tensor's bytes */
    const hd__io_element *type;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    int64_t begin, end; /* range of its bytes, counted from the start of the data */
} hd__io_entry;

typedef struct hd__io_mapping hd__io_mapping;

struct hd_safetensors {
    hd__io_in in;
    char *path;
    hd_dict *names;    /* maps each name to its index in entries; in the same order */
    hd_dict *metadata; /* the strings of __metadata__ */
    hd__io_entry *entries;
    int64_t n, room;
    int64_t data; /* offset of the data in the file */
    hd_safetensors_options o;
    hd__io_mapping *mapping; /* NULL: the file is not mapped */
    hd_safetensors **shards; /* the files of an index; NULL in a single file */
    int64_t n_shards, shards_room;
};

/* Opens the file at path, or uses the open file fd if it is not -1. fd belongs to the result from
 * then on, and is closed if the call fails. o NULL: the defaults. */
hd_safetensors *hd__safetensors_open(const char *path, int fd, const hd_safetensors_options *o);
/* Reads and checks the header: fills names, metadata, entries and data. */
bool hd__safetensors_header(hd_safetensors *f);
/* Reads the index at f->path and opens its shards: fills shards, names, metadata and entries. */
bool hd__safetensors_index(hd_safetensors *f);

/* Writes d as the file at path (safetensors_save.c). */
bool hd__safetensors_save(const char *path, const hd_dict *d);
/* Loads the open file fd, and closes fd. path is for messages. */
hd_dict *hd__safetensors_load_fd(const char *path, int fd);

#endif
