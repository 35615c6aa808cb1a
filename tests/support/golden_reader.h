/* golden_reader.h - reads the golden files, whose format tests/golden/README.md describes.
 *
 * A file is a list of cases, and a case is a list of records with distinct field names. This is
 * plain C, which depends neither on heed nor on the locale. A malformed file is reported on stderr,
 * with the number of the line. */
#ifndef GOLDEN_READER_H
#define GOLDEN_READER_H

#include <stdint.h>

#define GOLDEN_MAX_DIMS 8

/* The largest allowed difference of draws of doubles from PyTorch's, absolute and relative. On
 * 32-bit x86, glibc computes log, sin and cos of doubles with the x87 unit, which rounds the last
 * digit differently. Other C libraries round differently, too. */
#if defined(__i386__) || !defined(__GLIBC__)
#define GOLDEN_DOUBLE_ERROR 1e-15
#else
#define GOLDEN_DOUBLE_ERROR 0.0
#endif

typedef enum golden_type {
    GOLDEN_F32,
    GOLDEN_F64,
    GOLDEN_I64,
    GOLDEN_BOOL,
    GOLDEN_TEXT
} golden_type;

typedef struct golden_record {
    char *field; /* the name after the first '/' */
    golden_type type;
    int ndim;
    int64_t sizes[GOLDEN_MAX_DIMS];
    int64_t numel; /* of a text record: 0 */
    double *d;     /* numel values, of every type but text; exact for f32 and f64 */
    int64_t *i;    /* numel values of i64 and bool, exact; NULL for the others */
    char *text;    /* of a text record, unescaped; NULL for the others */
} golden_record;

typedef struct golden_case {
    char *name; /* the name before the first '/' */
    int count;
    golden_record *records; /* in the file's order */
} golden_case;

typedef struct golden_file {
    char header[2][256]; /* the first two lines: version and stream, command */
    int count;
    golden_case *cases; /* in the file's order */
} golden_file;

/* NULL, with a line on stderr, when the file cannot be read or is malformed. */
golden_file *golden_read(const char *path);
void golden_free(golden_file *f); /* takes NULL */

/* NULL when there is no such case or record. The name is a format as printf has: golden_get(c,
 * "in%d", k). */
const golden_case *golden_find(const golden_file *f, const char *name);
const golden_record *golden_get(const golden_case *c, const char *field, ...)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The record's only value, or `otherwise` when there is no such record. */
int64_t golden_int(const golden_case *c, const char *field, int64_t otherwise);
double golden_double(const golden_case *c, const char *field, double otherwise);
const char *golden_text(const golden_case *c, const char *field, const char *otherwise);

/* FNV-1a, 64 bits, as the *.fnv records hold it: over the little-endian bytes of elements that have
 * `width` bytes each. */
int64_t golden_fnv(const void *data, uint64_t bytes, int width);

#endif
