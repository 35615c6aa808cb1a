/* fuzz.h - declarations that the fuzz targets share.
 *
 * A target is one program that takes any bytes. It is built twice: with libFuzzer, which invents
 * inputs (tools/runs/fuzz), and with replay.c, which runs the inputs of corpus/TARGET.txt again
 * (meson test). A target defines fuzz_setup and fuzz_one. fuzz.c runs fuzz_one in a scope, and
 * aborts if afterwards a tensor or a byte is left, or if more memory was used than fuzz_bound
 * allows. */
#ifndef HEED_TESTS_FUZZ_H
#define HEED_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/heed.h"

/* ---------------------------------------------------------------- a target */

void fuzz_setup(void); /* once, before the first input */
void fuzz_one(const uint8_t *data, size_t size);

/* The most bytes of heed's that an input of `size` bytes may need; fuzz_setup may set another
 * function. Unless it does, the bound is 64 (size + 1024). */
extern int64_t (*fuzz_bound)(size_t size);

/* ---------------------------------------------------------------- checks */

/* Says what is wrong with this input and aborts, which libFuzzer reports as a crash. */
#define fuzz_check(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fuzz_fail(__FILE__, __LINE__, __VA_ARGS__);                                            \
        }                                                                                          \
    } while (0)

_Noreturn void fuzz_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* If ok is false, an error with a message must stand, and its code must be one of those that an
 * input can cause (FORMAT, DTYPE, VALUE, SHAPE, INDEX). The error is cleared. Returns ok. */
bool fuzz_verdict(bool ok, const char *what);

/* Are the bytes, the shapes and the dtypes the same? */
bool fuzz_same_tensor(const hd_tensor *a, const hd_tensor *b);
/* Have both the same entries, in the same order? Doubles are compared by their bits. */
bool fuzz_same_dict(const hd_dict *a, const hd_dict *b);
/* Reads every element of every tensor, so that the sanitizer sees each byte it claims to have. */
void fuzz_read_all(const hd_dict *d);

/* ---------------------------------------------------------------- files without a disk */

/* Puts these bytes into file number i (0 to 3), which is in memory, and returns its path. */
const char *fuzz_file(int i, const void *data, size_t size);
/* A path in a folder in memory (/dev/shm), where heed can save. The folder is removed at exit. */
const char *fuzz_path(const char *name);
/* The whole file, ended by a zero; free(). */
char *fuzz_read(const char *path, size_t *size);

/* ---------------------------------------------------------------- bytes as choices */

/* What is left of an input that is read as a list of choices. After its end all bytes are 0. */
typedef struct fuzz_input {
    const uint8_t *at, *end;
} fuzz_input;

static inline uint8_t fuzz_byte(fuzz_input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static inline bool fuzz_more(const fuzz_input *in)
{
    return in->at < in->end;
}

/* The part of an input up to the next byte `mark`, or up to the end; *size gets its length. */
const uint8_t *fuzz_part(fuzz_input *in, uint8_t mark, size_t *size);

#endif
