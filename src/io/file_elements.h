/* file_elements.h - reads and writes the elements of a tensor in a file (file_elements.c). */
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
    /* Converts n elements. Returns n, or the index of the first one that does not fit the dtype.
     * NULL: the bytes need no conversion. */
    int64_t (*convert)(const unsigned char *from, void *to, int64_t n);
} hd__io_element;

/* The first five are heed's dtypes in the order of hd_dtype. A second BF16 becomes float32. */
extern const hd__io_element hd__io_elements[];
extern const int hd__io_elements_len;

/* The number of bytes of an array of these sizes in the file. -1 if it overflows or, for an array
 * without elements, if no tensor can have these sizes. For the overflow, a size of 0 counts as 1,
 * as in hd_empty. */
int64_t hd__io_element_bytes(const hd__io_element *e, int ndim, const int64_t *sizes);

/* Reads the elements of x from offset `at`; x is contiguous and has e's dtype. swap: the file's
 * byte order is not this machine's. `what` names the array in messages. */
bool hd__io_in_elements(const hd__io_in *in, const char *what, int64_t at, const hd__io_element *e,
                        bool swap, hd_tensor *x);
/* Writes the elements of x in row-major order. swap: in the other byte order than this machine's.
 * Returns false after a failure. */
bool hd__io_write_elements(hd__file_whole *file, bool swap, hd_tensor *x);

extern const bool hd__io_big_endian; /* this machine's byte order */

#endif
