/* read_file.h - reads regular files from any offset, and makes paths (read_file.c). */
#ifndef HEED_IO_READ_FILE_H
#define HEED_IO_READ_FILE_H

#include "heed/io.h"

/* A regular file that is open for reading */
typedef struct hd__io_in {
    const char *path; /* owned by the caller */
    int fd;
    int64_t size; /* when it was opened */
} hd__io_in;

/* Opens the file at path or, unless fd is -1, takes the open fd. The caller closes in->fd by
 * hd__sys_drop, also after a failure. */
bool hd__io_in_open(hd__io_in *in, const char *path, int fd);
/* Reads n bytes from offset `at`. A file that ends before them is HD_IO, too. */
bool hd__io_in_read(const hd__io_in *in, int64_t at, void *bytes, size_t n);

/* "dir/name" with the first n bytes of dir, in the innermost scope */
const char *hd__io_path_in(const char *dir, size_t n, const char *name);
/* The path of `name` in the directory of `path`, in the innermost scope */
const char *hd__io_path_beside(const char *path, const char *name);

#endif
