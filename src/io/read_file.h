/* read_file.h - files that are read from any place, and names beside them (read_file.c). */
#ifndef HEED_IO_READ_FILE_H
#define HEED_IO_READ_FILE_H

#include "heed/io.h"

/* A regular file. The caller says from where each read starts. */
typedef struct hd__io_in {
    const char *path; /* the caller's */
    int fd;
    int64_t size; /* when it was opened */
} hd__io_in;

/* Opens the file at path, or takes fd, which is open already; -1: it is not. The caller closes
 * in->fd, also after a failure, by hd__sys_drop. */
bool hd__io_in_open(hd__io_in *in, const char *path, int fd);
/* Reads n bytes from `at` on. A file that ends before them is HD_IO, too. */
bool hd__io_in_read(const hd__io_in *in, int64_t at, void *bytes, size_t n);

/* "dir/name", of the first n bytes of dir, and the same in the directory of `path`. They live in
 * the innermost scope. */
const char *hd__io_path_in(const char *dir, size_t n, const char *name);
const char *hd__io_path_beside(const char *path, const char *name);

#endif
