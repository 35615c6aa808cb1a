/* file_elements.h - the elements of a tensor in a file (file_elements.c). */
#ifndef HEED_IO_FILE_ELEMENTS_H
#define HEED_IO_FILE_ELEMENTS_H

#include "base/files/file.h"
#include "io/read_file.h"

/* A type of number in a file, and the dtype that it becomes. */
typedef struct hd__io_element {
    const char *safetensors; /* "F16" */
    char npy[3];             /* "f2"; "" if npy has no such type */
    uint8_t bytes;
    hd_dtype dtype;
    /* Converts n elements; returns n, or the place of the first that does not fit the dtype. NULL:
     * the bytes stay as they are. */
    int64_t (*convert)(const unsigned char *from, void *to, int64_t n);
} hd__io_element;

/* The first five are those that hd_dtype has, in its order; another BF16 becomes float32. */
extern const hd__io_element hd__io_elements[];
extern const int hd__io_elements_len;

/* How many bytes e's elements take in an array of these sizes; -1 on overflow, also if a tensor of
 * no elements could not have these sizes. For the overflow a size of 0 counts as 1, as in
 * hd_empty. */
int64_t hd__io_element_bytes(const hd__io_element *e, int ndim, const int64_t *sizes);

/* Reads the elements of x from `at` on; x is contiguous and has e's dtype. swap: the file's byte
 * order is not this machine's. what: names the array in messages. */
bool hd__io_in_elements(const hd__io_in *in, const char *what, int64_t at, const hd__io_element *e,
                        bool swap, hd_tensor *x);
/* Writes the elements of x in row-major order. swap: not in this machine's byte order. Returns
 * false after a failure. */
bool hd__io_write_elements(hd__file_whole *file, bool swap, hd_tensor *x);

extern const bool hd__io_big_endian; /* of this machine */

#endif
