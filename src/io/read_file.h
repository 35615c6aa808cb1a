/* read_file.h - reads regular files from any offset, and makes paths (read_file.c). */
#ifndef HEED_IO_READ_FILE_H
#define HEED_IO_READ_FILE_H

#include "heed/io.h"

/* A regular file that is open for reading. */
typedef struct hd__io_in {
    const char *path; /* the file's path, for messages; the caller owns it */
    int fd;
    int64_t size; /* the number of bytes that the file had when it was opened */
} hd__io_in;

/* Opens the file at path and sets *in to it. If fd is not -1, uses fd, which is already open.
 * Returns false with an error if the file cannot be opened or is not a regular file. The caller
 * closes in->fd with hd__sys_drop, even after a failure. */
bool hd__io_in_open(hd__io_in *in, const char *path, int fd);
/* Reads n bytes from offset `at` into `bytes`. Returns false with HD_IO if the read fails or the
 * file is too short. */
bool hd__io_in_read(const hd__io_in *in, int64_t at, void *bytes, size_t n);

/* Returns the path "dir/name", where dir is the first n bytes of `dir`. The innermost scope owns
 * the text. Returns NULL with an error if memory runs out. */
const char *hd__io_path_in(const char *dir, size_t n, const char *name);
/* Returns the path of `name` in the directory that contains `path`. The innermost scope owns the
 * text. Returns NULL with an error if memory runs out. */
const char *hd__io_path_beside(const char *path, const char *name);

#endif
