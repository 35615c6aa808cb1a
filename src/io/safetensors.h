/* safetensors.h - a file of safetensors: safetensors.c opens and reads it, safetensors_header.c its
 * header, safetensors_index.c an index of several, and safetensors_save.c writes one. */
#ifndef HEED_IO_SAFETENSORS_H
#define HEED_IO_SAFETENSORS_H

#include "base/error/call.h"
#include "io/file_elements.h"

typedef struct hd__io_entry {
    const char *name;           /* belongs to `names` of the file */
    const hd_safetensors *file; /* which has its bytes */
    const hd__io_element *type;
    int ndim;
    int64_t sizes[HD_MAX_DIMS];
    int64_t begin, end; /* counted from where the data begins */
} hd__io_entry;

typedef struct hd__io_mapping hd__io_mapping;

struct hd_safetensors {
    hd__io_in in;
    char *path;
    hd_dict *names;    /* maps each name to its place in entries; same order */
    hd_dict *metadata; /* holds strings */
    hd__io_entry *entries;
    int64_t n, room;
    int64_t data; /* where the data begins */
    hd_safetensors_options o;
    hd__io_mapping *mapping; /* NULL: the caller did not ask for one */
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

/* Writes the file (safetensors_save.c). */
bool hd__safetensors_save(const char *path, const hd_dict *d);
/* Loads the open file fd, which it closes; path is for messages. */
hd_dict *hd__safetensors_load_fd(const char *path, int fd);

#endif
