/* file_elements.h - reads and writes the elements of a tensor in a file, and converts their types
 * (file_elements.c). */
#ifndef HEED_IO_FILE_ELEMENTS_H
#define HEED_IO_FILE_ELEMENTS_H

#include "base/files/file.h"
#include "io/read_file.h"

/* A type of number in a file, and the dtype that it becomes. */
typedef struct hd__io_element {
    const char *safetensors; /* the type's name in safetensors, such as "F16" */
    char npy[3];             /* the type's name in .npy, such as "f2"; "" if .npy lacks it */
    uint8_t bytes;
    hd_dtype dtype;
    /* Converts n elements. Returns n, or the index of the first one that does not fit the dtype.
     * NULL: the bytes need no conversion. */
    int64_t (*convert)(const unsigned char *from, void *to, int64_t n);
} hd__io_element;

/* The first five rows are heed's dtypes, in the order of hd_dtype. A second row for BF16 converts
 * it to float32. */
extern const hd__io_element hd__io_elements[];
extern const int hd__io_elements_len;

/* Returns the number of bytes that an array of these sizes has in the file, or -1 if the number
 * overflows. In this check a size of 0 counts as 1, as in hd_empty. So the result for an array
 * without elements is -1, too, if its other sizes are too large for a tensor. */
int64_t hd__io_element_bytes(const hd__io_element *e, int ndim, const int64_t *sizes);

/* Reads the elements of x from offset `at` of the file, where they have type e. x is contiguous and
 * has e's dtype. swap is true if the file's byte order is not this machine's. Returns false with an
 * error if the read fails, or if a value does not fit the dtype. `what` names the array in
 * messages. */
bool hd__io_in_elements(const hd__io_in *in, const char *what, int64_t at, const hd__io_element *e,
                        bool swap, hd_tensor *x);
/* Writes the elements of x in row-major order. If swap is true, their byte order is the opposite of
 * this machine's. Returns false if memory runs out or a write has failed. */
bool hd__io_write_elements(hd__file_whole *file, bool swap, hd_tensor *x);

extern const bool hd__io_big_endian; /* true if this machine is big-endian */

#endif
